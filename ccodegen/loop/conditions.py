"""Conditions over index expressions: decided, brought to a canonical form, and taken as facts."""

from __future__ import annotations

import math

from ccodegen.loop.affine import Affine
from ccodegen.loop.ir import INDEX, Apply, Const, Expr, Var
from ccodegen.loop.parts import parts
from ccodegen.loop.ranges import Interval, KnownRanges, Ranges, interval
from ccodegen.loop.rebuild import Body, expressions
from ccodegen.support.element_type import ElementType

PRED = ElementType.PRED
TRUE = Const(PRED, True)
FALSE = Const(PRED, False)

NEGATED = {
    "compare-lt": "compare-ge",
    "compare-ge": "compare-lt",
    "compare-le": "compare-gt",
    "compare-gt": "compare-le",
    "compare-eq": "compare-ne",
    "compare-ne": "compare-eq",
}


def has_conditions(body: Body) -> bool:
    """Whether anything is read, named or computed that is a condition."""
    return any(part.type is PRED for expr in expressions(body) for part in parts(expr))


def compare(operator: str, a: Affine, b: Affine, ranges: Ranges) -> Expr:
    """`a operator b` over INDEX: a constant where it is decided, else `<`, `>=`, `==` or `!=` with
    no common factor and no term on both sides. i*4 + 3 <= 9  →  i < 2."""
    difference = a - b
    if operator in ("compare-le", "compare-gt"):  # over integers a <= b is a - 1 < b
        difference -= 1
        operator = {"compare-le": "compare-lt", "compare-gt": "compare-ge"}[operator]
    decided = _against_zero(operator, difference.bounds(ranges))
    if decided is None:
        return _canonical(operator, difference)
    return TRUE if decided else FALSE


def conjunction(a: Expr, b: Expr) -> Expr:
    """Both, of simplified conditions."""
    if FALSE in (a, b):
        return FALSE
    if a == TRUE or a is b:
        return b
    return a if b == TRUE else Apply("and", (a, b), PRED)


def disjunction(a: Expr, b: Expr) -> Expr:
    if TRUE in (a, b):
        return TRUE
    if a == FALSE or a is b:
        return b
    return a if b == FALSE else Apply("or", (a, b), PRED)


def negation(condition: Expr) -> Expr:
    match condition:
        case Const(_, value):
            return FALSE if value else TRUE
        case Apply("not", (inner,)):
            return inner
        case Apply(operator, (a, b)) if operator in NEGATED and a.type is INDEX:
            return Apply(NEGATED[operator], (a, b), PRED)
    return Apply("not", (condition,), PRED)


def assume(condition: Expr, truth: bool, ranges: Ranges) -> Ranges:
    """The ranges of variables and remainders where a simplified condition is true, or is false."""
    match condition:
        case Apply("not", (inner,)):
            return assume(inner, not truth, ranges)
        case Apply("and" | "or" as operator, (a, b)) if truth == (operator == "and"):
            return assume(b, truth, assume(a, truth, ranges))
        case Apply(name, (Var() | Apply("remainder") as part, Const(ElementType.INDEX, limit))) if (
            name in NEGATED
        ):
            cut = _cut(name if truth else NEGATED[name], limit)
            return KnownRanges(ranges, {part: interval(part, ranges).intersection(cut)})
    return ranges


def _against_zero(operator: str, reach: Interval) -> bool | None:
    """Whether every, or no, value of the interval stands so to zero."""
    if operator == "compare-lt":
        return True if reach.high < 0 else False if reach.low >= 0 else None
    if operator == "compare-ge":
        return True if reach.low >= 0 else False if reach.high < 0 else None
    never = reach.low > 0 or reach.high < 0
    if operator == "compare-eq":
        return False if never else True if reach.low == reach.high == 0 else None
    return True if never else False if reach.low == reach.high == 0 else None


def _canonical(operator: str, difference: Affine) -> Expr:
    """Σ c·t + constant against zero, with at least one term."""
    common = math.gcd(*difference.terms.values())
    terms = Affine({t: c // common for t, c in difference.terms.items()})
    if operator in ("compare-eq", "compare-ne") and difference.constant % common:
        return FALSE if operator == "compare-eq" else TRUE
    limit = -(difference.constant // common)
    left = Affine({t: c for t, c in terms.terms.items() if c > 0})
    if not left.terms:  # -i < 3 reads i >= -2
        ordered = operator in ("compare-lt", "compare-ge")
        operator = NEGATED[operator] if ordered else operator
        return _compared(operator, terms.scaled(-1), Affine({}, ordered - limit))
    right = left - terms
    if right.terms and limit < 0:
        return _compared(operator, left - limit, right)
    return _compared(operator, left, right + limit)


def _compared(operator: str, left: Affine, right: Affine) -> Expr:
    return Apply(operator, (left.expr, right.expr), PRED)


def _cut(operator: str, limit: int) -> Interval:
    """The integers that stand so to the limit."""
    match operator:
        case "compare-lt":
            return Interval(high=limit - 1)
        case "compare-le":
            return Interval(high=limit)
        case "compare-ge":
            return Interval(low=limit)
        case "compare-gt":
            return Interval(low=limit + 1)
        case "compare-eq":
            return Interval(limit, limit)
    return Interval()
