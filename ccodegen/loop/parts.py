"""The parts of expressions."""

from __future__ import annotations

from collections.abc import Iterator

from ccodegen.loop.ir import Apply, Expr, Load, Var


def parts(*expressions: Expr) -> Iterator[Expr]:
    """All expressions in some expressions, themselves and those in indices too; a shared one once,
    outer ones before inner ones."""
    pending, seen = list(reversed(expressions)), set(map(id, expressions))
    while pending:
        expr = pending.pop()
        yield expr
        inside = [e for e in operands(expr) if id(e) not in seen]
        pending += reversed(inside)
        seen.update(map(id, inside))


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The arguments of an operator, or the indices of a load."""
    match expr:
        case Load():
            return expr.indices
        case Apply():
            return expr.arguments
    return ()


def loads(*expressions: Expr) -> Iterator[Load]:
    return (e for e in parts(*expressions) if isinstance(e, Load))


def variables(*expressions: Expr) -> Iterator[Var]:
    return (e for e in parts(*expressions) if isinstance(e, Var))
