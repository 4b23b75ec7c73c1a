"""Writes the headers of window tiles: sums of neighbouring places under a window, in lanes.

The name says it all: ccg_window_f32_7x16_3s1.h has `ccg_window_f32_7x16_3s1(sums, lhs, rhs,
lhs_offset, lhs_row_step, lhs_step, rhs_offset, rhs_step, rows)` for 7 places of 16 lanes, under
rows of a window of 3 taps each that moves by 1 from place to place. What neighbours read is loaded
once for a row. Operands of bf16 or f16 have f32 sums.
"""

from __future__ import annotations

import re

from ccodegen.emit.render import render_once
from ccodegen.emit.tile import TYPES
from ccodegen.support.immutable import immutable
from ccodegen.support.pattern import pattern

NAME = pattern(r"(ccg_window_(f32|f64|bf16|f16)_([1-8])x(2|4|8|16|32)_([1-8])s([1-8]))\.h")


@immutable
class _Term:
    """What is added to a sum: a column's element times a weight, by their names."""

    sum: str
    weight: str


@immutable
class _Column:
    """One that places read, and the products that it is in. `number`: from the first one's."""

    number: int
    products: tuple[_Term, ...]


@immutable
class _View:
    """`type`: C's of the sums, and `suffix`: of their vectors; `element`: C's of the operands, and
    `kind`: ours; `half`: they are halves. `vectors`: whether there are any of them, for the
    preprocessor. `bytes` of a sum, `width`: of all lanes; `starts`: where each sum's lanes
    begin."""

    name: str
    type: str
    suffix: str
    element: str
    kind: str
    half: bool
    vectors: str
    bytes: int
    width: int
    places: int
    lanes: int
    taps: int
    stride: int
    sums: tuple[str, ...]
    starts: tuple[int, ...]
    weights: tuple[str, ...]
    columns: tuple[_Column, ...]


def header_text(match: re.Match[str]) -> str:
    """The header whose name this is, as C99 that uses vector extensions where there are."""
    function, kind = match[1], match[2]
    places, lanes, taps, stride = (int(match[n]) for n in range(3, 7))
    half = kind not in TYPES
    suffix = "f32" if half else kind
    c_type, sum_bytes = TYPES[suffix]
    view = _View(
        name=function,
        type=c_type,
        suffix=suffix,
        element="uint16_t" if half else c_type,
        kind=kind,
        half=half,
        vectors="CCG_VECTORS_OF_F16" if kind == "f16" else "CCG_VECTOR_BYTES",
        bytes=sum_bytes,
        width=lanes * sum_bytes,
        places=places,
        lanes=lanes,
        taps=taps,
        stride=stride,
        sums=tuple(f"c{p}" for p in range(places)),
        starts=tuple(p * lanes for p in range(places)),
        weights=tuple(f"b{k}" for k in range(taps)),
        columns=_columns(places, taps, stride),
    )
    return render_once("window_tile.h.j2", view)


def _columns(places: int, taps: int, stride: int) -> tuple[_Column, ...]:
    """All that a row of the window reads at these places; each sum takes its taps in order."""
    products: dict[int, list[_Term]] = {}
    for p in range(places):
        for k in range(taps):
            products.setdefault(p * stride + k, []).append(_Term(f"c{p}", f"b{k}"))
    return tuple(_Column(number, tuple(products[number])) for number in sorted(products))
