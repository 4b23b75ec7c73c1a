"""Truth values that are read beside doubles are widened, in a way that compilers do not undo.

    y[i] = m[i] ? x[i] : 0
    →   y[i] = -(s64) m[i] < 0 ? x[i] : 0

Where AVX-512 works on four doubles at a time (`ccg_double.h`), gcc takes 32 truth values, compares
them, and halves the mask: what it has for eight elements holds four as well, so it finds no halves
of it and gives up the vectors.
"""

from __future__ import annotations

from dataclasses import replace

from ccodegen.loop.builder import apply, compare, const
from ccodegen.loop.ir import Apply, Expr, For, If, Let, Load, LoopKind, Stmt
from ccodegen.loop.parts import parts
from ccodegen.loop.rebuild import Body, expressions, keep_expr, rebuild
from ccodegen.support.element_type import ElementType

_WIDE = ElementType.S64


def widen_masks_of_doubles(body: Body) -> Body:
    """Statements of equal effect, for gcc and AVX-512."""
    return rebuild(body, keep_expr, _in_vectors)


def _in_vectors(statement: Stmt) -> Stmt:
    if not isinstance(statement, For) or statement.kind not in (LoopKind.VECTOR, LoopKind.LANES):
        return statement
    if not any(part.type is ElementType.F64 for part in parts(*expressions(statement.body))):
        return statement
    return replace(statement, body=rebuild(statement.body, _chosen, _decided))


def _chosen(expr: Expr) -> Expr:
    match expr:
        case Apply("select", (condition, *arms), type):
            return Apply("select", (_wide(condition), *arms), type)
        case Apply("and" | "or" | "not", arguments, type):
            return Apply(expr.operator, tuple(map(_wide, arguments)), type)
    return expr


def _decided(statement: Stmt) -> Stmt:
    match statement:
        case Let(var, value):
            return Let(var, _wide(value))
        case If(condition, then, orelse):
            return If(_wide(condition), then, orelse)
    return statement


def _wide(condition: Expr) -> Expr:
    if isinstance(condition, Load) and condition.type is ElementType.PRED:
        number = apply("negate", apply("convert", condition, type=_WIDE))
        return compare("lt", number, const(_WIDE, 0))
    return condition
