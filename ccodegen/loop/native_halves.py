"""Loops over f16 compute in it, where the processor does so itself.

    for i < 1000 vector: y[i] = x[i] * 2 + 1
    →   for i < 1000 vector: y[i] = half-add(half-multiply(x[i], 2), 1)

Elsewhere C computes with halves in f32 and rounds each result: vectors hold half as many of them,
and most of the time goes into the rounding. Loops that convert halves, or call functions, which
take f32, stay as they are: of elements of two widths compilers make no good vectors.
"""

from __future__ import annotations

import math

from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import Apply, Const, Expr, For, Stmt, Var
from ccodegen.loop.operators import IN_HALVES, MOVES
from ccodegen.loop.parts import applied, loads, variables
from ccodegen.loop.rebuild import Body, expressions, is_straight, keep_expr, rebuild
from ccodegen.loop.turns import are_near, fills_vectors, varying
from ccodegen.support.element_type import ElementType

_F16 = ElementType.F16
_ZERO = Apply("half-same", (const(_F16, 0),), _F16)


def compute_in_halves(body: Body) -> Body:
    """Statements with the same numbers, once loops are marked."""

    def on_statement(statement: Stmt) -> Stmt | Body:
        if isinstance(statement, For) and _is_native(statement):
            return rebuild((statement,), _in_halves)
        return statement

    return rebuild(body, keep_expr, on_statement)


def _in_halves(expr: Expr) -> Expr:
    match expr:
        case Apply("convert", (condition,)) if _is_one_or_zero(expr):
            return apply("select", condition, const(_F16, 1), _ZERO)
        case Apply("select", (condition, *arms), type) if type is _F16:
            return apply("select", condition, *(_ZERO if _is_zero(a) else a for a in arms))
        case Apply(operator, arguments) if operator in IN_HALVES and _takes_halves(expr):
            return Apply(IN_HALVES[operator], arguments, expr.type)
    return expr


def _is_native(loop: For) -> bool:
    """Whether its turns are independent, and take and make halves in line and of halves alone."""
    if not fills_vectors(loop) or not is_straight(loop.body):
        return False
    everything = tuple(expressions(loop.body))
    touching = [a for a in applied(*everything) if a.type is _F16 or _takes_halves(a)]
    computed = [a for a in touching if a.operator not in MOVES]
    if not any(map(_takes_halves, computed)):
        return False
    found = varying(loop)
    if all(_divides_by_one(a, found) for a in computed):
        return False  # in f32 its reciprocal is taken once
    is_native = all(a.operator in IN_HALVES or _is_one_or_zero(a) for a in computed)
    return is_native and are_near(loads(*everything), loop)


def _takes_halves(expr: Apply) -> bool:
    return any(argument.type is _F16 for argument in expr.arguments)


def _divides_by_one(expr: Apply, varying: set[Var]) -> bool:
    """Whether all turns divide by the same number."""
    return expr.operator == "divide" and varying.isdisjoint(variables(expr.arguments[1]))


def _is_one_or_zero(expr: Apply) -> bool:
    """Whether it is a condition as a number."""
    is_f16 = expr.operator == "convert" and expr.type is _F16
    return is_f16 and expr.arguments[0].type is ElementType.PRED


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value == 0 and math.copysign(1, expr.value) > 0
