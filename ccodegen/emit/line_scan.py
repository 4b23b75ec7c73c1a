"""Writes the headers of running sums, products, maxima and minima along a line.

The name says it all: ccg_scan_add_f32_16.h has `ccg_scan_add_f32_16(results, values, offset, count,
initial)` for the sums of f32 from element `offset` on, 16 at a time, which fixes their order;
ccg_scan_back_add_f32_16 begins at the last one of the `count` elements.
"""

from __future__ import annotations

import re

from ccodegen.emit.literal import literal
from ccodegen.emit.render import render_once
from ccodegen.loop.neutral import neutral
from ccodegen.loop.operators import spell
from ccodegen.loop.spelling import c_type
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.immutable import immutable
from ccodegen.support.pattern import pattern

NAME = pattern(
    r"(ccg_scan_(back_)?(add|multiply|maximum|minimum)_([fsu](?:32|64))_(2|4|8|16))\.h"
)
_SYMBOLS = {"add": "+", "multiply": "*"}
_BETTER = {"maximum": ">", "minimum": "<"}
_ZEROS = {"maximum": "&", "minimum": "|"}  # of their bits


@immutable
class _Step:
    """Every element is joined with the one at a distance, the neutral value where there is none:
    `places` are their numbers for CCG_SHUFFLE."""

    distance: int
    places: str


@immutable
class _View:
    """`type`: C's, of the elements, each of so many bytes (`size`); `lane`: that of them in vectors
    of so many `bytes`. `symbol`: C's for the operator on vectors, if there is one; else `better` is
    the comparison that chooses, and `zeros` what joins the bits of zeros. `joined`: a and b, joined
    by C's scalars. `nones`, `starts`: lanes of the neutral value and of the first one; `lasts`: the
    number of the lane with all of a vector in it, for each lane."""

    name: str
    operator: str
    backwards: bool
    headers: tuple[str, ...]
    lanes: int
    bytes: int
    size: int
    type: str
    lane: str
    is_float: bool
    symbol: str
    better: str
    zeros: str
    joined: str
    nones: str
    starts: str
    lasts: str
    steps: tuple[_Step, ...]


def header_text(match: re.Match[str]) -> str:
    """The header whose name this is, as C99 that uses vector extensions where there are."""
    function, back, operator, kind, lanes = *match.groups()[:4], int(match[5])
    element, symbol = HLO_TYPES[kind], _SYMBOLS.get(operator, "")
    spelling = spell(operator, (element, element), element)
    none = literal(element, neutral(operator, element))
    view = _View(
        name=function,
        operator=operator,
        backwards=bool(back),
        headers=tuple(sorted(spelling.headers - {"ccg_base.h"})),
        lanes=lanes,
        bytes=lanes * element.bytes,
        size=element.bytes,
        type=c_type(element),
        lane=_lane(element, bool(symbol)),
        is_float=element.is_float,
        symbol=symbol,
        better=_BETTER.get(operator, ""),
        zeros=_ZEROS.get(operator, ""),
        joined=spelling.template.format("a", "b"),
        nones=", ".join([none] * lanes),
        starts=", ".join(["start"] * lanes),
        lasts=", ".join(["0" if back else str(lanes - 1)] * lanes),
        steps=_steps(lanes, backwards=bool(back)),
    )
    return render_once("line_scan.h.j2", view)


def _lane(element: ElementType, wraps: bool) -> str:
    """Signed integers wrap as unsigned ones."""
    return f"uint{element.bits}_t" if wraps and element.is_integer else c_type(element)


def _steps(lanes: int, backwards: bool) -> tuple[_Step, ...]:
    steps, distance = [], 1
    while distance < lanes:
        others = (n + distance if backwards else n - distance for n in range(lanes))
        places = (other if 0 <= other < lanes else lanes for other in others)
        steps.append(_Step(distance, ", ".join(map(str, places))))
        distance *= 2
    return tuple(steps)
