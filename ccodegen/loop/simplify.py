"""Simplification of expressions; index arithmetic becomes sums of variables times constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ccodegen.loop.affine import Affine, affine, count, divmod_affine, recombined, term
from ccodegen.loop.conditions import (
    FALSE,
    NEGATED,
    PRED,
    TRUE,
    assume,
    compare,
    conjunction,
    disjunction,
    negation,
)
from ccodegen.loop.fold import folded
from ccodegen.loop.ir import INDEX, Apply, Const, Expr, Load, Var
from ccodegen.loop.neutral import neutral
from ccodegen.loop.parts import same
from ccodegen.loop.ranges import KnownRanges, Ranges, interval


def simplify(expr: Expr, ranges: Ranges) -> Expr:
    """An expression of equal value for all values of the variables in their ranges.

    Before: `(i * 12 + j * 4 + k) / 4` and `k < 4 and x[i + 0] > 0` with 0 <= k < 4.
    After: `i * 3 + j` and `x[i] > 0`.
    """
    if isinstance(expr, Const | Var):  # as most indices are
        return _point_or(expr, ranges)
    known = ranges.simple.get(expr) if isinstance(ranges, KnownRanges) else None
    return known or Simplifier(ranges)(expr)


def simplify_index(expr: Expr, ranges: Ranges) -> Expr:
    """`simplify` for an expression of type INDEX: affine wherever it can be, in canonical order."""
    assert expr.type is INDEX, expr
    return simplify(expr, ranges)


class Simplifier:
    """Simplifies expressions under one set of ranges; a shared subexpression only once.

    `values`: constants and variables that stand for a variable.
    """

    def __init__(self, ranges: Ranges, values: Mapping[Var, Expr] | None = None) -> None:
        self.ranges = ranges if isinstance(ranges, KnownRanges) else KnownRanges(ranges)
        self.values = values or {}
        self._done: dict[int, tuple[Expr, Expr]] = {}  # by id; keeps the key alive

    def __call__(self, expr: Expr) -> Expr:
        if isinstance(expr, Const):
            return expr
        if isinstance(expr, Var):
            return self.values.get(expr) or _point_or(expr, self.ranges)
        known = self._done.get(id(expr))
        if known is None:
            known = self._done[id(expr)] = expr, self._new(expr)
        return known[1]

    def _new(self, expr: Load | Apply) -> Expr:
        """Of an expression that may equal one before."""
        if self.values or isinstance(expr, Load):
            return self._simplified(expr)
        known = self.ranges.simple.get(expr)
        if known is None:
            known = self.ranges.simple[expr] = self._simplified(expr)
        return known

    def _simplified(self, expr: Load | Apply) -> Expr:
        match expr:
            case Load(buffer, indices):
                changed = tuple(map(self, indices))
                return expr if same(changed, indices) else Load(buffer, changed)
            case Apply("select", (condition, a, b)):
                return self._select(expr, condition, a, b)
            case Apply("and" | "or", (a, b)) if expr.type is PRED:
                return self._logic(expr.operator == "and", a, b)
        return self._applied(expr)

    def _sum(self, expr: Apply) -> Expr:
        """Of a sum as a whole: sums in it are parts that nobody sees."""
        total = old = affine(expr)
        for part, coefficient in old.terms.items():
            simple = self(part)
            if simple is not part:
                total += (affine(simple) - term(part)).scaled(coefficient)
        return _point_or(recombined(total, self.ranges).expr, self.ranges)

    def _applied(self, expr: Apply) -> Expr:
        if expr.type is INDEX and expr.operator in ("add", "subtract"):
            return self._sum(expr)
        arguments = tuple(map(self, expr.arguments))
        if expr.type is INDEX and expr.operator in _INDEX_RULES:
            result = _INDEX_RULES[expr.operator](arguments, self.ranges)
            return _point_or(result.expr, self.ranges)
        if expr.operator in NEGATED and arguments[0].type is INDEX:
            a, b = map(affine, arguments)
            return compare(expr.operator, recombined(a, self.ranges), b, self.ranges)
        if expr.operator == "not" and expr.type is PRED:
            return negation(arguments[0])
        if expr.operator in ("maximum", "minimum"):
            arguments = _without_neutral(expr, arguments)
            if len(arguments) == 1:
                return arguments[0]
        if expr.operator == "bitcast-convert":
            match arguments[0]:
                case Apply("bitcast-convert", (value,)) if value.type is expr.type:
                    return value
        if all(isinstance(a, Const) for a in arguments):
            return folded(Apply(expr.operator, arguments, expr.type))
        if not same(arguments, expr.arguments):
            expr = Apply(expr.operator, arguments, expr.type)
        return _point_or(expr, self.ranges)

    def _select(self, expr: Apply, condition: Expr, a: Expr, b: Expr) -> Expr:
        condition = self(condition)
        if isinstance(condition, Const):
            return self(a if condition.value else b)
        then, otherwise = self.where(condition, True)(a), self.where(condition, False)(b)
        if then is otherwise or (expr.type is INDEX and then == otherwise):
            return then
        if same((condition, then, otherwise), expr.arguments):
            return expr
        return Apply("select", (condition, then, otherwise), expr.type)

    def _logic(self, is_and: bool, a: Expr, b: Expr) -> Expr:
        """The second operand is evaluated only where the first does not decide."""
        first = self(a)
        if first == (FALSE if is_and else TRUE):
            return first
        second = self.where(first, is_and)(b)
        return (conjunction if is_and else disjunction)(first, second)

    def where(self, condition: Expr, truth: bool) -> Simplifier:
        """Simplifies where a simplified condition is known to be true, or false."""
        ranges = assume(condition, truth, self.ranges)
        return self if ranges is self.ranges else Simplifier(ranges, self.values)

    def with_loop(self, var: Var, extent: int | Expr) -> Simplifier:
        """Simplifies where a loop variable is in scope."""
        ranges = KnownRanges(self.ranges)
        count(var, extent, ranges)
        return Simplifier(ranges, self.values)

    def with_value(self, var: Var, value: Expr) -> Simplifier:
        """Simplifies where a variable has a simplified value; a trivial one takes its place."""
        if isinstance(value, Const | Var):
            return Simplifier(self.ranges, {**self.values, var: value})
        if var.type is not INDEX:
            return self
        ranges = KnownRanges(self.ranges, {var: interval(value, self.ranges)})
        return Simplifier(ranges, self.values)


def _point_or(expr: Expr, ranges: Ranges) -> Expr:
    """The only value of an INDEX expression, if it has only one."""
    if expr.type is not INDEX or isinstance(expr, Const):
        return expr
    reach = interval(expr, ranges)
    return Const(INDEX, int(reach.low)) if reach.is_point else expr


def _without_neutral(expr: Apply, arguments: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The arguments of a maximum that are not the least value."""
    value = neutral(expr.operator, expr.type)
    kept = tuple(a for a in arguments if not isinstance(a, Const) or a.value != value)
    return kept or arguments


_Rule: TypeAlias = Callable[[tuple[Expr, ...], Ranges], Affine]


def _structural(operator: str) -> _Rule:
    return lambda arguments, _: affine(Apply(operator, arguments, INDEX))


def _quotient(arguments: tuple[Expr, ...], ranges: Ranges) -> Affine:
    dividend, divisor = arguments
    if not (isinstance(divisor, Const) and divisor.value > 0):
        return term(Apply("divide", arguments, INDEX))
    return divmod_affine(affine(dividend), divisor.value, ranges)[0]


def _remainder(arguments: tuple[Expr, ...], ranges: Ranges) -> Affine:
    dividend, divisor = arguments
    if not (isinstance(divisor, Const) and divisor.value > 0):
        return term(Apply("remainder", arguments, INDEX))
    return divmod_affine(affine(dividend), divisor.value, ranges)[1]


def _minimum(arguments: tuple[Expr, ...], ranges: Ranges) -> Affine:
    a, b = map(affine, arguments)
    reach = (a - b).bounds(ranges)
    if reach.high <= 0:
        return a
    return b if reach.low >= 0 else term(_ordered("minimum", arguments))


def _maximum(arguments: tuple[Expr, ...], ranges: Ranges) -> Affine:
    a, b = map(affine, arguments)
    reach = (a - b).bounds(ranges)
    if reach.low >= 0:
        return a
    return b if reach.high <= 0 else term(_ordered("maximum", arguments))


def _ordered(operator: str, arguments: tuple[Expr, ...]) -> Expr:
    """A constant stands second."""
    a, b = arguments
    return Apply(operator, (b, a) if isinstance(a, Const) else (a, b), INDEX)


def _clamp(arguments: tuple[Expr, ...], ranges: Ranges) -> Affine:
    """`clamp(low, x, high)` is `min(max(x, low), high)`."""
    low, value, high = arguments
    ordered = (affine(high) - affine(low)).bounds(ranges).low >= 0
    if ordered and _minimum((value, high), ranges).expr == value:
        return _maximum((value, low), ranges)
    return _minimum((_maximum((value, low), ranges).expr, high), ranges)


_INDEX_RULES: dict[str, _Rule] = {
    "negate": _structural("negate"),
    "multiply": _structural("multiply"),
    "divide": _quotient,
    "remainder": _remainder,
    "minimum": _minimum,
    "maximum": _maximum,
    "clamp": _clamp,
}
