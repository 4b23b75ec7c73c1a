"""Index expressions as sums: Σ coefficient · term + constant."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from ccodegen.loop.ir import INDEX, Apply, Const, Expr, Load, Var
from ccodegen.loop.ranges import Interval, KnownRanges, Ranges, counted, interval, point
from ccodegen.support.immutable import immutable

# A dividend is shifted to be positive only by so much that a 32-bit index does not overflow.
_NEAR = 2**24


@immutable
class Affine:
    """Terms with their coefficients, none of them zero, and a constant.

    A term is a variable or any other INDEX expression that is not itself a sum.
    """

    terms: Mapping[Expr, int] = field(default_factory=dict)
    constant: int = 0

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        terms = dict(self.terms)
        for term, coefficient in other.terms.items():
            terms[term] = terms.get(term, 0) + coefficient
        if not all(terms.values()):
            terms = {term: c for term, c in terms.items() if c}
        return Affine(terms, self.constant + other.constant)

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other if isinstance(other, int) else other.scaled(-1))

    def scaled(self, factor: int) -> Affine:
        if factor == 1:
            return self
        if factor == 0:
            return Affine()
        terms = {term: c * factor for term, c in self.terms.items()}
        return Affine(terms, self.constant * factor)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def bounds(self, ranges: Ranges, limits: Limits | None = None) -> Interval:
        """`limits`: of the variables; by default what is known of them."""
        if limits is None:
            limits = ranges.limits if isinstance(ranges, KnownRanges) else {}
        total = point(self.constant)
        for term, coefficient in self.terms.items():
            total += interval(term, ranges).scaled(coefficient)
        for var, most in reversed(limits.items()):
            step = self.terms.get(var, 0)
            if most and step > 0:  # the last turn of that loop, wherever it ends
                before = self - Affine({var: step})
                last = (before + (end - 1).scaled(step) for end in most)
                highs = (index.bounds(ranges, limits).high for index in last)
                return Interval(total.low, min(total.high, *highs))
        return total

    @property
    def ordered(self) -> Sequence[tuple[Expr, int]]:
        """The terms in canonical order."""
        terms = list(self.terms.items())
        return sorted(terms, key=_order) if len(terms) > 1 else terms

    @functools.cached_property
    def expr(self) -> Expr:
        """As an expression in canonical order: `i * 12 + j - 1`, large strides first."""
        ordered = self.ordered
        added = [_scaled_term(t, c) for t, c in ordered if c > 0]
        subtracted = [_scaled_term(t, -c) for t, c in ordered if c < 0]
        constant = Const(INDEX, abs(self.constant))
        if self.constant > 0:
            added.append(constant)
        elif self.constant < 0:
            subtracted.append(constant)
        return _sum(added, subtracted)


Limits: TypeAlias = dict[Var, list[Affine]]
"""What the variables of loops stay below, outer ones first: each of these."""


def ends(extent: Expr) -> tuple[Expr, ...]:
    """What the extent of a loop is the least of. A remainder is what whole parts leave, too."""
    match extent:
        case Apply("minimum", arguments):
            return arguments
        case Apply("remainder", (total, part)):
            whole = Apply("multiply", (Apply("divide", (total, part), INDEX), part), INDEX)
            return extent, Apply("subtract", (total, whole), INDEX)
    return (extent,)


def count(var: Var, extent: int | Expr, ranges: KnownRanges) -> None:
    """Adds a loop's variable to what is known."""
    ranges[var] = counted(extent, ranges)
    if not isinstance(extent, int):
        ranges.limits[var] = [affine(end) for end in ends(extent)]


def is_inside(load: Load, ranges: Ranges) -> bool:
    """Whether it reads an element of its array."""
    reach = [affine(index).bounds(ranges) for index in load.indices]
    sizes = load.buffer.dimensions
    return all(0 <= r.low <= r.high < size for r, size in zip(reach, sizes, strict=True))


@functools.lru_cache(maxsize=4096)
def affine(expr: Expr) -> Affine:
    """An INDEX expression taken apart; what is no sum is one term."""
    if isinstance(expr, Const):
        return Affine({}, int(expr.value))
    if not isinstance(expr, Apply):
        return term(expr)
    match expr.operator:
        case "add":
            return affine(expr.arguments[0]) + affine(expr.arguments[1])
        case "subtract":
            return affine(expr.arguments[0]) - affine(expr.arguments[1])
        case "negate":
            return affine(expr.arguments[0]).scaled(-1)
        case "multiply":
            return _product(*map(affine, expr.arguments))
    return term(expr)


def term(expr: Expr) -> Affine:
    return Affine({expr: 1})


def divmod_affine(dividend: Affine, divisor: int, ranges: Ranges) -> tuple[Affine, Affine]:
    """Floor quotient and remainder by a positive constant.

    i*12 + j*4 + k by 4, with 0 <= k < 4  →  i*3 + j, k; by 24, with j < 3 too  →  i/2, i%2*12 +
    j*4 + k. What cannot be divided exactly is left as `divide` and `remainder` of a dividend that
    is not negative, wherever its least value is known.
    """
    terms = dividend.terms.items()
    whole = Affine({t: c // divisor for t, c in terms if c % divisor == 0})
    rest = Affine({t: c for t, c in terms if c % divisor}, dividend.constant)
    reach = rest.bounds(ranges)
    if rest.terms and reach.low < -_NEAR:
        return _divided(dividend, divisor), _remaining(dividend, divisor)
    shift = int(reach.low) // divisor
    rest -= shift * divisor
    whole += shift
    if reach.high - shift * divisor < divisor:
        return whole, rest
    steps = {math.gcd(divisor, c) for c in rest.terms.values()}
    for step in sorted({*steps, math.gcd(*steps)} - {1}, reverse=True):
        coarse, fine = _split(rest, step)
        reach = fine.bounds(ranges)
        if reach.low >= 0 and reach.high < step:
            quotient, remainder = divmod_affine(coarse, divisor // step, ranges)
            return whole + quotient, remainder.scaled(step) + fine
    return whole + _divided(rest, divisor), _remaining(rest, divisor)


def _split(total: Affine, step: int) -> tuple[Affine, Affine]:
    """A sum as coarse * step + fine."""
    terms = total.terms.items()
    coarse = {t: c // step for t, c in terms if c % step == 0}
    fine = {t: c for t, c in terms if c % step}
    return Affine(coarse, total.constant // step), Affine(fine, total.constant % step)


def recombined(total: Affine, ranges: Ranges) -> Affine:
    """x / d * d + x % d  →  x."""
    for expr, coefficient in total.terms.items():
        if not (isinstance(expr, Apply) and expr.operator == "remainder"):
            continue
        dividend, divisor = expr.arguments
        if not (isinstance(divisor, Const) and divisor.value > 0):
            continue
        parts = divmod_affine(affine(dividend), divisor.value, ranges)
        whole = parts[0].scaled(divisor.value * coefficient) + parts[1].scaled(coefficient)
        if expr in whole.terms and all(total.terms.get(t) == c for t, c in whole.terms.items()):
            return recombined(total - whole + affine(dividend).scaled(coefficient), ranges)
    return total


def _divided(dividend: Affine, divisor: int) -> Affine:
    """(x / a + y) / b  →  (x + a*y) / (a*b)."""
    for expr, coefficient in dividend.terms.items():
        if coefficient == 1 and isinstance(expr, Apply) and expr.operator == "divide":
            inner, by = expr.arguments
            if isinstance(by, Const) and by.value > 0:
                rest = (dividend - term(expr)).scaled(by.value)
                return _divided(affine(inner) + rest, by.value * divisor)
    return term(Apply("divide", (dividend.expr, Const(INDEX, divisor)), INDEX))


def _remaining(dividend: Affine, divisor: int) -> Affine:
    return term(Apply("remainder", (dividend.expr, Const(INDEX, divisor)), INDEX))


def _product(a: Affine, b: Affine) -> Affine:
    if b.is_constant:
        return a.scaled(b.constant)
    if a.is_constant:
        return b.scaled(a.constant)
    return term(Apply("multiply", (a.expr, b.expr), INDEX))


def _scaled_term(expr: Expr, coefficient: int) -> Expr:
    if coefficient == 1:
        return expr
    return Apply("multiply", (expr, Const(INDEX, coefficient)), INDEX)


def _sum(added: list[Expr], subtracted: list[Expr]) -> Expr:
    if not added and not subtracted:
        return Const(INDEX, 0)
    if added:
        total = added.pop(0)
    else:
        total = _negated(subtracted.pop())
    for operator, operands in ("add", added), ("subtract", subtracted):
        for operand in operands:
            total = Apply(operator, (total, operand), INDEX)
    return total


def _negated(expr: Expr) -> Expr:
    if isinstance(expr, Const):
        return Const(INDEX, -expr.value)
    return Apply("negate", (expr,), INDEX)


def _order(item: tuple[Expr, int]) -> tuple[int, int, list[tuple[int, str]]]:
    """Large coefficients first, then variables by name, then other terms by their text."""
    expr, coefficient = item
    return -abs(coefficient), not isinstance(expr, Var), _place(expr)


@functools.lru_cache(maxsize=4096)
def _place(expr: Expr) -> list[tuple[int, str]]:
    return _natural(_spelling(expr))


def _natural(name: str) -> list[tuple[int, str]]:
    """i_2 comes before i_10."""
    return [(int(part or 0) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


def _spelling(expr: Expr) -> str:
    match expr:
        case Const(_, value):
            return str(value)
        case Var(name):
            return name
        case Load(buffer, indices):
            return f"{buffer.name}[{','.join(map(_spelling, indices))}]"
    return f"{expr.operator}({','.join(map(_spelling, expr.arguments))})"
