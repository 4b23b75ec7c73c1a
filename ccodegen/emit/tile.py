"""Writes the headers of register tiles: a function per element type, rows and columns.

The name says it all: ccg_tile_f32_8x32.h has `ccg_tile_f32_8x32(sums, lhs, rhs, lhs_offset,
row_step, depth_step, rhs_offset, depth)`, whose sums fill vector registers over the whole depth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ccodegen.emit.render import render
from ccodegen.support.errors import InternalError

_NAME = re.compile(r"(ccg_tile_(f32|f64)_([1-9]\d?)x([1-9]\d{0,2}))\.h")
_TYPES = {"f32": ("float", 4), "f64": ("double", 8)}
_WIDTHS = (64, 32, 16)  # bytes of a vector register
# With the operands these fill 32 registers; more sums than that would live in memory.
_MOST_ACCUMULATORS = 28


@dataclass(frozen=True)
class _Row:
    """`accumulators`: names of the row's vectors of sums; `places`: where each goes in `sums`."""

    number: int
    accumulators: tuple[str, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class _VectorBody:
    """The body for one width of registers. `columns`: where each vector of a row begins."""

    bytes: int
    columns: tuple[int, ...]
    rows: tuple[_Row, ...]


@dataclass(frozen=True)
class _TileView:
    name: str
    guard: str
    type: str
    suffix: str
    columns: int
    rows: int
    size: int
    vector_bodies: tuple[_VectorBody, ...]
    portable_rows: tuple[_Row, ...]


def is_tile(name: str) -> bool:
    """Whether a header of this name is one of a tile."""
    return _NAME.fullmatch(name) is not None


def header_text(name: str) -> str:
    """The header of this name, as C99 whose fast bodies use vector extensions where there are."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise InternalError(f"{name} is no header of a tile")
    function, suffix, rows, columns = match[1], match[2], int(match[3]), int(match[4])
    c_type, element_bytes = _TYPES[suffix]
    bodies = [_vector_body(rows, columns, width, element_bytes) for width in _WIDTHS]
    view = _TileView(
        name=function,
        guard=f"{function.upper()}_H",
        type=c_type,
        suffix=suffix,
        columns=columns,
        rows=rows,
        size=rows * columns,
        vector_bodies=tuple(body for body in bodies if body is not None),
        portable_rows=_rows(rows, columns, (0,)),
    )
    return render("tile.h.j2", view)


def _vector_body(rows: int, columns: int, width: int, element_bytes: int) -> _VectorBody | None:
    """The body for registers of `width` bytes; None where the tile does not fit them."""
    lanes = width // element_bytes
    if columns % lanes or rows * (columns // lanes) > _MOST_ACCUMULATORS:
        return None
    starts = tuple(range(0, columns, lanes))
    return _VectorBody(width, starts, _rows(rows, columns, starts))


def _rows(rows: int, columns: int, starts: tuple[int, ...]) -> tuple[_Row, ...]:
    return tuple(
        _Row(
            number,
            tuple(f"c{number}_{place}" for place in range(len(starts))),
            tuple(number * columns + start for start in starts),
        )
        for number in range(rows)
    )
