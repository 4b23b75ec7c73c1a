"""The least and the greatest value an integer expression can have, given those of its variables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ccodegen.loop.ir import INDEX, Apply, Const, Expr, Load, Var
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.immutable import immutable

if TYPE_CHECKING:
    from ccodegen.loop.affine import Limits

Bound: TypeAlias = int | float


@immutable
class Interval:
    """All integers from `low` to `high`, both included; an infinite bound is unknown."""

    low: Bound = -math.inf
    high: Bound = math.inf

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    @property
    def is_finite(self) -> bool:
        return self.low > -math.inf and self.high < math.inf

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        corners = [_times(a, b) for a in self._ends for b in other._ends]
        return Interval(min(corners), max(corners))

    def scaled(self, factor: int) -> Interval:
        low, high = _times(self.low, factor), _times(self.high, factor)
        return Interval(low, high) if factor >= 0 else Interval(high, low)

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def intersection(self, other: Interval) -> Interval:
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def at_least(self, other: Interval) -> Interval:
        """Of the greater of two numbers."""
        return Interval(max(self.low, other.low), max(self.high, other.high))

    def at_most(self, other: Interval) -> Interval:
        """Of the less of two numbers."""
        return Interval(min(self.low, other.low), min(self.high, other.high))

    @property
    def _ends(self) -> tuple[Bound, Bound]:
        return self.low, self.high


Ranges: TypeAlias = Mapping[Expr, int | Interval]
"""What is known of variables: the extent of a loop that counts from zero, or an interval. Of a
remainder or minimum, too, where more is known than its arguments tell."""

EVERYTHING = Interval()
_KNOWN = ("remainder", "minimum")


class KnownRanges(dict[Expr, int | Interval]):
    """Ranges that stay as they are, so that what follows for an expression is found once.

    `more` come on top. A variable may be added before it stands in any expression. `found`: bounds
    of expressions; `simple`: what they are simplified.
    """

    def __init__(self, ranges: Ranges, more: Ranges | None = None) -> None:
        super().__init__(ranges)
        self.update(more or {})
        self.limits: Limits = dict(ranges.limits) if isinstance(ranges, KnownRanges) else {}
        self.found: dict[Expr, Interval] = {}
        self.simple: dict[Expr, Expr] = {}


def interval(expr: Expr, ranges: Ranges) -> Interval:
    """Bounds of the value of an expression of an integer type, PRED or INDEX.

    Exact for a sum in which each variable stands once, an upper estimate otherwise. Everything for
    other types.
    """
    match expr:
        case Const(type, value):
            return point(int(value)) if _is_integral(type) else EVERYTHING
        case Var():
            return _of_variable(expr, ranges)
        case Load():
            return of_type(expr.type)
    if not isinstance(ranges, KnownRanges):
        return _of_operator(expr, ranges)
    known = ranges.found.get(expr)
    if known is None:
        known = ranges.found[expr] = _of_operator(expr, ranges)
    return known


def _of_operator(expr: Apply, ranges: Ranges) -> Interval:
    rule = _INDEX_RULES.get(expr.operator) if expr.type is INDEX else None
    rule = rule or _INTEGER_RULES.get(expr.operator)
    if rule is None or not _is_integral(expr.type):
        return of_type(expr.type)
    reach = rule(expr.arguments, ranges)
    if expr.type is not INDEX:
        reach = reach.intersection(of_type(expr.type))
    known = ranges.get(expr) if expr.operator in _KNOWN else None
    return reach.intersection(known) if isinstance(known, Interval) else reach


def counted(extent: int | Expr, ranges: Ranges) -> int | Interval:
    """What is known of a loop's variable, for `Ranges`: the extent, or limits of what it counts."""
    if isinstance(extent, int):
        return extent
    return Interval(0, max(interval(extent, ranges).high - 1, 0))


@functools.lru_cache
def point(value: int) -> Interval:
    return Interval(value, value)


def of_type(element_type: ElementType) -> Interval:
    """All values of a type."""
    match element_type.kind:
        case Kind.PRED:
            return Interval(0, 1)
        case Kind.UNSIGNED:
            return Interval(0, 2**element_type.bits - 1)
        case Kind.SIGNED:
            return Interval(-(2 ** (element_type.bits - 1)), 2 ** (element_type.bits - 1) - 1)
    return EVERYTHING


def _of_variable(var: Var, ranges: Ranges) -> Interval:
    known = ranges.get(var)
    if known is None:
        return of_type(var.type)
    return known if isinstance(known, Interval) else _counting_to(known)


@functools.lru_cache
def _counting_to(extent: int) -> Interval:
    return Interval(0, max(extent - 1, 0))


def _is_integral(element_type: ElementType) -> bool:
    return element_type.is_integer or element_type.kind in (Kind.PRED, Kind.INDEX)


def _times(a: Bound, b: Bound) -> Bound:
    return 0 if a == 0 or b == 0 else a * b


_Arguments: TypeAlias = tuple[Expr, ...]


def _add(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    return a + b


def _subtract(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    return a + b.scaled(-1)


def _negate(arguments: _Arguments, ranges: Ranges) -> Interval:
    return interval(arguments[0], ranges).scaled(-1)


def _multiply(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    return a * b


def _divide(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    if not (b.is_point and b.low > 0):
        return EVERYTHING
    return Interval(floor_quotient(a.low, int(b.low)), floor_quotient(a.high, int(b.low)))


def floor_quotient(bound: Bound, divisor: int) -> Bound:
    return bound // divisor if isinstance(bound, int) else bound


def _remainder(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    if b.low <= 0:
        return EVERYTHING
    fits = a.low >= 0 and a.high < b.low
    return a if fits else Interval(0, b.high - 1)


def _minimum(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    return a.at_most(b)


def _maximum(arguments: _Arguments, ranges: Ranges) -> Interval:
    a, b = (interval(x, ranges) for x in arguments)
    return a.at_least(b)


def _clamp(arguments: _Arguments, ranges: Ranges) -> Interval:
    least, value, most = (interval(x, ranges) for x in arguments)
    return value.at_least(least).at_most(most)


def _select(arguments: _Arguments, ranges: Ranges) -> Interval:
    _, a, b = arguments
    return interval(a, ranges).union(interval(b, ranges))


def _convert(arguments: _Arguments, ranges: Ranges) -> Interval:
    if not _is_integral(arguments[0].type):
        return EVERYTHING
    return interval(arguments[0], ranges)


_Rule: TypeAlias = Callable[[_Arguments, Ranges], Interval]

_INDEX_RULES: dict[str, _Rule] = {
    "add": _add,
    "subtract": _subtract,
    "negate": _negate,
    "multiply": _multiply,
    "divide": _divide,
    "remainder": _remainder,
    "convert": _convert,
}
_INTEGER_RULES: dict[str, _Rule] = {
    "minimum": _minimum,
    "maximum": _maximum,
    "clamp": _clamp,
    "select": _select,
}
