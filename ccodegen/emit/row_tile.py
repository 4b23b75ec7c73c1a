"""Writes the headers of row tiles: products of some rows with some rows, all read along memory.

The name says it all: ccg_rows_f32_2x4x16.h has `ccg_rows_f32_2x4x16(sums, lhs, rhs, lhs_offset,
row_step, rhs_offset, column_step, depth)` for 2 rows of the left and 4 of the right matrix, each
sum in 16 lanes: those fix its order. ccg_rows_s8_u8_2x4 has u32 sums of products of s8 and u8.
ccg_rows_f32_2x4x16_runs has two arguments more, the length of a run of the left matrix and the step
from run to run: what the left matrix has of the depth lies in such runs.
"""

from __future__ import annotations

import re

from ccodegen.emit.render import render_once
from ccodegen.emit.tile import NARROW_TYPES, TYPES
from ccodegen.support.immutable import immutable
from ccodegen.support.pattern import pattern

_FLOATS = r"f32|f64"
_INTEGERS = r"s16_s16|[su]8_[su]8"
_SIZES = r"_([1-8])x([1-8])"
NAME = pattern(
    rf"(ccg_rows_(?:({_FLOATS}){_SIZES}x(2|4|8|16)|({_INTEGERS}){_SIZES})(_runs)?)\.h"
)
_PART = 16  # bytes of lanes that are added up one after the other in the end


@immutable
class _View:
    """`lanes` of a sum, 0 where its order does not matter, in vectors of so many `bytes`; `part`:
    lanes added up last. `accumulators`: their names by row and column; `excesses`, by column, is
    what is to be subtracted from them. `dot`: the function that adds products of several narrow
    elements; `flip`: the constant that it asks for, if it does."""

    name: str
    runs: bool
    rows: int
    columns: int
    lanes: int
    part: int
    bytes: int
    type: str
    left: str
    right: str
    vector: str
    dot: str
    flip: str
    accumulators: tuple[tuple[str, ...], ...]
    loaded: tuple[str, ...]
    excesses: tuple[str, ...]


def header_text(match: re.Match[str]) -> str:
    """The header whose name this is, as C99 that uses vector extensions where there are."""
    function, kind = match[1], match[2] or match[6]
    rows, columns = (int(match[n] or match[n + 4]) for n in (3, 4))
    plain = kind in TYPES
    lanes = int(match[5] or 0)
    size = TYPES[kind][1] if plain else 1
    left, right = (kind, kind) if plain else kind.split("_")
    c_types = {**TYPES, **NARROW_TYPES}
    view = _View(
        name=function,
        runs=match[9] is not None,
        rows=rows,
        columns=columns,
        lanes=lanes,
        part=min(lanes, _PART // size),
        bytes=lanes * size,
        type=TYPES[kind][0] if plain else "uint32_t",
        left=c_types[left][0],
        right=c_types[right][0],
        vector=kind if plain else "u32",
        dot="" if plain else f"ccg_dot_{kind}",
        flip=f"CCG_FLIP_{kind}" if left in ("s8", "u8") else "",
        accumulators=tuple(tuple(f"c{i}_{j}" for j in range(columns)) for i in range(rows)),
        loaded=tuple(f"b{j}" for j in range(columns)),
        excesses=tuple(f"excess{j}" for j in range(columns)),
    )
    return render_once("row_tile.h.j2", view)
