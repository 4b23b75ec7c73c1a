"""The parts of expressions."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from ccodegen.loop.ir import Apply, Expr, Load, Var


def parts(*expressions: Expr) -> list[Expr]:
    """All expressions in some expressions, themselves and those in indices too; a shared one once,
    outer ones before inner ones."""
    pending, seen = list(reversed(expressions)), set(map(id, expressions))
    found: list[Expr] = []
    while pending:
        expr = pending.pop()
        found.append(expr)
        # As `operands`, in fewer steps: this is called often, and most are constants or variables.
        if type(expr) is Apply:
            inner = expr.arguments
        elif type(expr) is Load:
            inner = expr.indices
        else:
            continue
        for operand in reversed(inner):
            if id(operand) not in seen:
                seen.add(id(operand))
                pending.append(operand)
    return found


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The arguments of an operator, or the indices of a load."""
    if isinstance(expr, Apply):
        return expr.arguments
    return expr.indices if isinstance(expr, Load) else ()


def same(new: Sequence[object], old: Sequence[object]) -> bool:
    """Whether so many expressions, or statements, are the very same objects; equal ones may differ,
    as 0.0 and -0.0 do."""
    return not any(map(operator.is_not, new, old))


def loads(*expressions: Expr) -> list[Load]:
    return [e for e in parts(*expressions) if isinstance(e, Load)]


def variables(*expressions: Expr) -> list[Var]:
    return [e for e in parts(*expressions) if isinstance(e, Var)]
