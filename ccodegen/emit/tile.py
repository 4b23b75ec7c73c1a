"""Writes the headers of register tiles: a function per element types, rows and columns.

The name says it all: ccg_tile_f32_8x32.h has `ccg_tile_f32_8x32(sums, lhs, rhs, lhs_offset,
row_step, depth_step, rhs_offset, depth)`, whose sums fill vector registers over the whole depth.
Both matrices and the sums are of the one type. ccg_tile_f32_8x32_runs has two arguments more: the
left matrix lies in runs along the depth, so long and so far apart; ccg_tile_f32_8x32_planes has two
more than that: so many runs lie in a plane, and planes so far apart. ccg_tile_f32_1x64_apart has
one more: its columns lie in two panels, so far apart. ccg_tile_s8_u8_8x32 has a left matrix of s8,
a right one of u8, and u32 sums, which take as many products at a time as such elements fill a sum;
ccg_tile_s8_u8_8x32_noted does not find out itself by how much changed signs make them too large.
ccg_tile_bf16_bf16_8x32 has f32 sums, and `least` behind the depth.
"""

from __future__ import annotations

import re

from ccodegen.emit.render import render_once
from ccodegen.support.errors import InternalError
from ccodegen.support.immutable import immutable
from ccodegen.support.pattern import pattern

_PAIRS = "bf16_bf16"
_BYTES = ("s8_s8", "s8_u8", "u8_s8", "u8_u8")
_KINDS = rf"f32|f64|u32|s16_s16|[su]8_[su]8|{_PAIRS}"
# C's name and the size in bytes.
TYPES = {"f32": ("float", 4), "f64": ("double", 8), "u32": ("uint32_t", 4)}
NARROW_TYPES = {"s8": ("int8_t", 1), "u8": ("uint8_t", 1), "s16": ("int16_t", 2)}
_OF_ONE_TYPE = tuple(TYPES)
_WITH_SUFFIX = {
    "_runs": _OF_ONE_TYPE,
    "_planes": _OF_ONE_TYPE,
    "_apart": _OF_ONE_TYPE,
    "_noted": _BYTES,
}
_SUFFIX = "|".join(_WITH_SUFFIX)
NAME = pattern(rf"(ccg_tile_({_KINDS})_([1-9]\d?)x([1-9]\d{{0,2}})({_SUFFIX})?)\.h")
_SUM_BYTES = 4  # of narrow elements
_WIDTHS = (64, 32, 16)  # bytes of a vector register
# With the operands these fill 32 registers; more sums than that would live in memory.
_MOST_ACCUMULATORS = 28
# Bytes ahead of which the right matrix is asked for: the first tile of a panel reads it from afar.
# For fewer rows it is read as fast as it comes, and to ask takes time from that.
_AHEAD = 1 << 13
_LEAST_ROWS_TO_ASK_FOR = 6


@immutable
class _Row:
    """`accumulators`: names of the row's vectors of sums; `places`: where each goes in `sums`."""

    number: int
    accumulators: tuple[str, ...]
    places: tuple[int, ...]


@immutable
class _VectorBody:
    """The body for one width of registers. `columns`: where each vector of a row begins, in a row
    of the panel; `starts`: which column that is; `excesses`: names of what is to be subtracted from
    the sums of each."""

    bytes: int
    columns: tuple[int, ...]
    rows: tuple[_Row, ...]
    starts: tuple[int, ...]
    excesses: tuple[str, ...]


@immutable
class _TileView:
    """`ahead`: elements of the right matrix between what is read and what is asked for; 0: nothing
    is asked for."""

    name: str
    ahead: int
    columns: int
    rows: int
    size: int
    vector_bodies: tuple[_VectorBody, ...]
    portable_rows: tuple[_Row, ...]


@immutable
class _PlainView(_TileView):
    """All of one type. `runs`: whether the depth of the left matrix lies in runs, `planes`: whether
    these lie in planes. `panel`: how wide panels of the right matrix are, `apart`: whether the
    second half of the columns is in another one."""

    runs: bool
    planes: bool
    apart: bool
    panel: int
    type: str
    suffix: str


@immutable
class _GroupView(_TileView):
    """`group` elements of the depth lie together. `panel_step`: elements of the right matrix from
    group to group; `dot`: the function that adds products of groups; `flip`: the constant that it
    asks for, if it does; `noted`: whether what that adds too much is an argument."""

    left: str
    right: str
    group: int
    panel_step: int
    dot: str
    flip: str
    noted: bool


@immutable
class _PairView(_TileView):
    """`panel_step`: elements of the right matrix from pair to pair; `places`: in a pair, by the
    names of the functions that take these out, in the order in which they are added."""

    panel_step: int
    places: tuple[str, ...] = ("second", "first")


def header_text(match: re.Match[str]) -> str:
    """The header whose name this is, as C99 that uses vector extensions where there are."""
    function, kind, rows, columns = match[1], match[2], int(match[3]), int(match[4])
    if match[5] and kind not in _WITH_SUFFIX[match[5]]:
        raise InternalError(f"{match[0]}: there are no such tiles of {kind}")
    if kind in TYPES:
        return render_once("tile.h.j2", _plain_view(function, kind, rows, columns))
    if kind == _PAIRS:
        return render_once("pair_tile.h.j2", _pair_view(function, rows, columns))
    return render_once("group_tile.h.j2", _group_view(function, kind, rows, columns))


def _plain_view(function: str, kind: str, rows: int, columns: int) -> _PlainView:
    (c_type, element_bytes), apart = TYPES[kind], function.endswith("_apart")
    panel = columns // 2 if apart else columns
    return _PlainView(
        name=function,
        ahead=_ahead(rows, element_bytes),
        runs=function.endswith(("_runs", "_planes")),
        planes=function.endswith("_planes"),
        apart=apart,
        panel=panel,
        type=c_type,
        suffix=kind,
        columns=columns,
        rows=rows,
        size=rows * columns,
        vector_bodies=_vector_bodies(rows, columns, element_bytes, group=1, panel=panel),
        portable_rows=_rows(rows, columns, (0,)),
    )


def _group_view(function: str, kind: str, rows: int, columns: int) -> _GroupView:
    (left, element_bytes), (right, _) = (NARROW_TYPES[part] for part in kind.split("_"))
    group = _SUM_BYTES // element_bytes
    return _GroupView(
        name=function,
        ahead=_ahead(rows, element_bytes),
        left=left,
        right=right,
        group=group,
        panel_step=columns * group,
        dot=f"ccg_dot_{kind}",
        flip=f"CCG_FLIP_{kind}" if kind in _BYTES else "",
        noted=function.endswith("_noted"),
        columns=columns,
        rows=rows,
        size=rows * columns,
        vector_bodies=_vector_bodies(rows, columns, _SUM_BYTES, group),
        portable_rows=_rows(rows, columns, (0,)),
    )


def _pair_view(function: str, rows: int, columns: int) -> _PairView:
    return _PairView(
        name=function,
        ahead=_ahead(rows, 2),
        panel_step=columns * 2,
        columns=columns,
        rows=rows,
        size=rows * columns,
        vector_bodies=_vector_bodies(rows, columns, _SUM_BYTES, group=2),
        portable_rows=_rows(rows, columns, (0,)),
    )


def _ahead(rows: int, element_bytes: int) -> int:
    return _AHEAD // element_bytes if rows >= _LEAST_ROWS_TO_ASK_FOR else 0


def _vector_bodies(
    rows: int, columns: int, sum_bytes: int, group: int, panel: int = 0
) -> tuple[_VectorBody, ...]:
    """A body for each width of registers that the tile fits, and so many columns of a panel, if not
    all are in it."""
    bodies = []
    for width in _WIDTHS:
        lanes = width // sum_bytes
        if (panel or columns) % lanes or rows * (columns // lanes) > _MOST_ACCUMULATORS:
            continue
        starts = tuple(range(0, columns, lanes))
        places = tuple(start * group for start in starts)
        excesses = tuple(f"excess{n}" for n in range(len(starts)))
        bodies.append(_VectorBody(width, places, _rows(rows, columns, starts), starts, excesses))
    return tuple(bodies)


def _rows(rows: int, columns: int, starts: tuple[int, ...]) -> tuple[_Row, ...]:
    return tuple(
        _Row(
            number,
            tuple(f"c{number}_{place}" for place in range(len(starts))),
            tuple(number * columns + start for start in starts),
        )
        for number in range(rows)
    )
