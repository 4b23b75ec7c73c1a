"""The parts of expressions."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

from ccodegen.loop.ir import Apply, Expr, Load, Var


def parts(*expressions: Expr) -> Iterator[Expr]:
    """All expressions in some expressions, themselves and those in indices too; a shared one once,
    outer ones before inner ones."""
    pending, seen = list(reversed(expressions)), set(map(id, expressions))
    while pending:
        expr = pending.pop()
        yield expr
        around = operands(expr)
        if around:
            inside = [e for e in around if id(e) not in seen]
            pending += reversed(inside)
            seen.update(map(id, inside))


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The arguments of an operator, or the indices of a load."""
    if isinstance(expr, Apply):
        return expr.arguments
    return expr.indices if isinstance(expr, Load) else ()


def same(new: Sequence[Expr], old: Sequence[Expr]) -> bool:
    """Whether so many expressions are the very same objects; equal ones may differ, as 0.0 and
    -0.0 do."""
    return not any(map(operator.is_not, new, old))


def loads(*expressions: Expr) -> Iterator[Load]:
    return (e for e in parts(*expressions) if isinstance(e, Load))


def variables(*expressions: Expr) -> Iterator[Var]:
    return (e for e in parts(*expressions) if isinstance(e, Var))
