"""Loops that do little but divide by one number do it with its reciprocal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from ccodegen.loop.builder import apply, compare, const
from ccodegen.loop.cost import cost
from ccodegen.loop.cse import computed
from ccodegen.loop.hoist import Changing
from ccodegen.loop.ir import Apply, Const, Expr, For, If, Let, LoopKind, Stmt, Var
from ccodegen.loop.rebuild import Body, keep_expr, rebuild, statements
from ccodegen.loop.rename import renamed
from ccodegen.support.element_type import ElementType

_LEAST_TURNS = 128
# More would run while the divider is busy, and be much code to have twice.
_MOST_OPERATIONS = 8
# The powers of two between which divisors lie that `quotient` takes.
_EXPONENTS = {ElementType.F32: 64, ElementType.F64: 512}


def divide_by_reciprocals(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect: a quotient takes a product and two FMA, which for vectors are
    half the time of a division.

    Before: `for i < 1024 { y[i] = x[i] / s }`. After: `let r = 1 / s; if s >= 2^-64 && s <= 2^64
    { for i < 1024 { y[i] = quotient(x[i], s, r) } } else { for j < 1024 { y[j] = x[j] / s } }`.
    `fresh` gives names that the kernel does not have yet, after a hint.
    """
    return rebuild(body, keep_expr, lambda statement: _divided(statement, fresh))


def _divided(statement: Stmt, fresh: Callable[[str], str]) -> Stmt | Body:
    if not isinstance(statement, For) or not _is_short(statement):
        return statement
    divisors = _fixed_divisors(statement)
    if len(divisors) != 1:
        return statement
    (divisor,) = divisors
    reciprocal = Var(fresh("reciprocal"), divisor.type)
    other = renamed((statement,), fresh, {})
    return (
        Let(reciprocal, apply("divide", const(divisor.type, 1.0), divisor)),
        If(_is_in_range(divisor), (_with_reciprocal(statement, divisor, reciprocal),), other),
    )


def _is_short(loop: For) -> bool:
    """Whether it has many turns, and few operations in each."""
    if loop.kind is not LoopKind.VECTOR or not isinstance(loop.extent, int):
        return False
    if loop.extent < _LEAST_TURNS or any(isinstance(s, For) for s in statements(loop.body)):
        return False
    turn = cost(loop.body)
    return turn.operations <= _MOST_OPERATIONS and not turn.transcendental


def _fixed_divisors(loop: For) -> set[Expr]:
    """The divisors that are the same in all turns, and read in each."""
    changing = Changing(loop)
    found: set[Expr] = set()
    for part in chain.from_iterable(map(computed, loop.body)):
        if isinstance(part, Apply) and part.operator == "divide" and part.type in _EXPONENTS:
            divisor = part.arguments[1]
            if not isinstance(divisor, Const) and changing.is_fixed(divisor):
                found.add(divisor)
    return found


def _is_in_range(divisor: Expr) -> Expr:
    t, exponent = divisor.type, _EXPONENTS[divisor.type]
    low, high = const(t, 2.0**-exponent), const(t, 2.0**exponent)
    above = compare("ge", divisor, low)
    return apply("and", above, compare("le", divisor, high))


def _with_reciprocal(loop: For, divisor: Expr, reciprocal: Var) -> For:
    def on_expr(expr: Expr) -> Expr:
        match expr:
            case Apply("divide", (dividend, by)) if by == divisor:
                return apply("quotient", dividend, divisor, reciprocal)
        return expr

    return replace(loop, body=rebuild(loop.body, on_expr))
