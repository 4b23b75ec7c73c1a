"""Writes the headers of matrix tiles: products of narrow elements in matrix registers.

Such a register holds up to 16 rows of 64 bytes; one instruction of AMX multiplies two of them and
adds to a third. ccg_matrix_s8_u8_32x32.h has `ccg_matrix_s8_u8_32x32(sums, lhs, rhs, sums_offset,
sums_step, tile_step, lhs_offset, row_step, rhs_offset, panel_step, panels, depth)`: a row of tiles,
of panels as those of ccg_tile_s8_u8_32x32, but with a depth that fills registers.
ccg_matrix_bf16_bf16_32x32 has f32 sums, `leasts` behind rhs, and `first_least, least` behind the
depth.
"""

from __future__ import annotations

import re

from ccodegen.emit.render import render_once
from ccodegen.emit.tile import NARROW_TYPES
from ccodegen.support.immutable import immutable
from ccodegen.support.pattern import pattern

NAME = pattern(
    r"(ccg_matrix_([su]8_[su]8|bf16_bf16)_([1-9]|[12]\d|3[0-2])x(16|32))\.h"
)
_ROWS, _ROW_BYTES = 16, 64  # of a register
_FIRST_LEFT, _FIRST_RIGHT = 4, 6  # registers: those before hold sums
_PART_BYTES = 512  # of the depth, which a first-level cache of 32 KB keeps of 32 rows and columns
_INSTRUCTIONS = {
    "s8_s8": "tdpbssd", "s8_u8": "tdpbsud", "u8_s8": "tdpbusd", "u8_u8": "tdpbuud",
    "bf16_bf16": "tdpbf16ps",
}  # fmt: skip


@immutable
class _Sums:
    """A register of sums: those of `row` and `column` on, products of two other registers."""

    register: int
    left: int
    right: int
    row: int
    column: int


@immutable
class _View:
    """`type`: of the sums; `step`: elements of the depth that a register holds, `group` side by
    side in a row of the right one; `part`: those that one tile adds before the next one does;
    `lefts`, `rights`: first row or column by register; `shapes`: what tells the processor the shape
    of each register, byte by byte, in lines."""

    name: str
    pairs: bool
    type: str
    left: str
    right: str
    rows: int
    columns: int
    step: int
    part: int
    group: int
    extension: str
    instruction: str
    sums: tuple[_Sums, ...]
    lefts: dict[int, int]
    rights: dict[int, int]
    shapes: tuple[tuple[int, ...], ...]


def header_text(match: re.Match[str]) -> str:
    """The header whose name this is, as C99 that uses AMX where the compiler does."""
    name, kind, rows, columns = match[1], match[2], int(match[3]), int(match[4])
    pairs = kind == "bf16_bf16"
    left, right = (
        ("uint16_t", 2) if pairs else NARROW_TYPES[part] for part in kind.split("_")
    )
    lefts = dict(enumerate(range(0, rows, _ROWS), _FIRST_LEFT))
    rights = dict(enumerate(range(0, columns, _ROWS), _FIRST_RIGHT))
    sums = [
        _Sums(2 * (a - _FIRST_LEFT) + b - _FIRST_RIGHT, a, b, row, column)
        for a, row in lefts.items()
        for b, column in rights.items()
    ]
    heights = {s.register: min(_ROWS, rows - s.row) for s in sums}
    heights |= {a: min(_ROWS, rows - row) for a, row in lefts.items()}
    heights |= dict.fromkeys(rights, _ROWS)
    view = _View(
        name=name,
        pairs=pairs,
        type="float" if pairs else "uint32_t",
        left=left[0],
        right=right[0],
        rows=rows,
        columns=columns,
        step=_ROW_BYTES // left[1],
        part=_PART_BYTES // left[1],
        group=4 // left[1],
        extension="BF16" if pairs else "INT8",
        instruction=_INSTRUCTIONS[kind],
        sums=tuple(sums),
        lefts=lefts,
        rights=rights,
        shapes=_shapes(heights),
    )
    return render_once("matrix_tile.h.j2", view)


def _shapes(heights: dict[int, int]) -> tuple[tuple[int, ...], ...]:
    """What ldtilecfg reads: palette 1, at 16 two bytes for the bytes of each register's rows, at 48
    a byte for the number of rows."""
    shapes = [1, *[0] * 63]
    for register, height in heights.items():
        shapes[16 + 2 * register] = _ROW_BYTES
        shapes[48 + register] = height
    return tuple(tuple(shapes[n : n + 16]) for n in range(0, 64, 16))
