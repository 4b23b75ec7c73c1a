"""Index arithmetic for lowerings, and start indices that are data."""

from __future__ import annotations

from operator import add, floordiv, mul, sub

import numpy as np

from ccodegen.loop.builder import apply, compare, const
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import INDEX, Const, Expr
from ccodegen.loop.scalar_numpy import Array, wide
from ccodegen.support.element_type import ElementType, Kind

PRED = ElementType.PRED
_OPERATIONS = {"add": add, "subtract": sub, "multiply": mul, "divide": floordiv}


def plus(a: Expr, b: Expr | int) -> Expr:
    return _folded("add", a, b, neutral=0)


def minus(a: Expr, b: Expr | int) -> Expr:
    return _folded("subtract", a, b, neutral=0)


def times(a: Expr, b: int) -> Expr:
    return _folded("multiply", a, b, neutral=1)


def quotient(a: Expr, b: int) -> Expr:
    """Of a number that is not negative."""
    return _folded("divide", a, b, neutral=1)


def _folded(operator: str, a: Expr, b: Expr | int, neutral: int) -> Expr:
    other = constant(b) if isinstance(b, int) else b
    if isinstance(other, Const):
        if other.value == neutral:
            return a
        if isinstance(a, Const):
            return constant(_OPERATIONS[operator](a.value, other.value))
    return apply(operator, a, other)


def less(a: Expr, b: Expr | int) -> Expr:
    return _comparison("lt", a, b)


def at_least(a: Expr, b: Expr | int) -> Expr:
    return _comparison("ge", a, b)


def divides(b: int, a: Expr) -> Expr:
    """Whether b divides a, which is not negative."""
    return _comparison("eq", apply("remainder", a, constant(b)), 0)


def _comparison(direction: str, a: Expr, b: Expr | int) -> Expr:
    return compare(direction, a, constant(b) if isinstance(b, int) else b)


def all_of(conditions: list[Expr]) -> Expr | None:
    """Their conjunction, left to right; None for none."""
    if not conditions:
        return None
    total = conditions[0]
    for condition in conditions[1:]:
        total = apply("and", total, condition)
    return total


def clamped(start: Expr, limit: int) -> Expr:
    """A start index of any integer type as an INDEX in [0, limit].

    It is clamped in its own type, because a 64-bit one may not fit into an INDEX.
    """
    if limit <= 0:
        return constant(0)
    signed, fits = start.type.kind is Kind.SIGNED, limit > _largest(start.type)
    least, most = const(start.type, 0), const(start.type, limit)
    if signed and not fits:
        start = apply("clamp", least, start, most)
    elif signed:
        start = apply("maximum", start, least)
    elif not fits:
        start = apply("minimum", start, most)
    return apply("convert", start, type=INDEX)


def within(start: Expr, limit: int) -> list[Expr]:
    """The conditions for a start index of any integer type to be in [0, limit]."""
    if limit < 0:
        return [const(PRED, False)]
    conditions: list[Expr] = []
    if start.type.kind is Kind.SIGNED:
        conditions.append(compare("ge", start, const(start.type, 0)))
    if limit < _largest(start.type):
        conditions.append(compare("le", start, const(start.type, limit)))
    return conditions


def _largest(t: ElementType) -> int:
    return int(2 ** (t.bits - (t.kind is Kind.SIGNED))) - 1


def clamped_values(starts: Array, limit: int) -> Array:
    """Start indices of any integer type, clamped to [0, limit]."""
    return np.asarray(np.clip(exact(starts), 0, max(limit, 0)))


def exact(starts: Array) -> Array:
    """Start indices as s64; what is too large for it becomes its largest value."""
    values = wide(starts)
    if values.dtype == np.uint64:
        values = np.minimum(values, np.uint64(2**63 - 1))
    return np.asarray(values).astype(np.int64)
