"""Names of halves hold the f32 that each of them is.

    let t: f16 = x * 2; y[i] = t + t
    →   let t: f32 = convert(x * 2); y[i] = narrow(t) + narrow(t)

C computes with halves in f32: what it rounds for a name need not become an f16's bits in between.
The numbers are the same.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Apply, Expr, Let, Stmt, Var
from ccodegen.loop.parts import operands, parts
from ccodegen.loop.rebuild import Body, expressions, rebuild, statements
from ccodegen.loop.spelling import HALVES
from ccodegen.support.element_type import ElementType

_F32 = ElementType.F32
_MOVES = ("select", "bitcast-convert")  # bits as they are


def name_halves(body: Body) -> Body:
    """Statements of equal effect."""
    named = {s.var: s.value for s in statements(body) if isinstance(s, Let)}
    halves = {v for v, value in named.items() if value.type in HALVES and takes_numbers(value)}
    if not halves:
        return body
    used = (part for expr in expressions(body) for part in parts(expr))
    as_numbers = {o for part in used if takes_numbers(part) for o in operands(part)}
    wide = {v: Var(v.name, _F32) for v in halves & as_numbers}

    def on_expr(expr: Expr) -> Expr:
        if isinstance(expr, Var) and expr in wide:
            return apply("narrow", wide[expr], type=expr.type)
        return expr

    def on_statement(statement: Stmt) -> Stmt:
        if isinstance(statement, Let) and statement.var in wide:
            return Let(wide[statement.var], apply("convert", statement.value, type=_F32))
        return statement

    return rebuild(body, on_expr, on_statement)


def takes_numbers(expr: Expr) -> bool:
    return isinstance(expr, Apply) and expr.operator not in _MOVES
