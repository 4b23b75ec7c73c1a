"""The parts of expressions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TypeVar

from ccodegen.loop.ir import Apply, Expr, Load, Var

_Kind = TypeVar("_Kind", Apply, Load, Var)


def parts(*expressions: Expr) -> tuple[Expr, ...]:
    """All expressions in some expressions, themselves and those in indices too; a shared one once,
    outer ones before inner ones."""
    if len(expressions) != 1:
        return _found(expressions)
    (expr,) = expressions
    if type(expr) is not Apply and type(expr) is not Load:
        return expressions
    # Found once: passes keep expressions that they do not change, and ask again.
    known: tuple[Expr, ...] | None = expr.__dict__.get("_parts")
    if known is None:
        known = expr.__dict__["_parts"] = _found(expressions)
    return known


def _found(expressions: tuple[Expr, ...]) -> tuple[Expr, ...]:
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
    return tuple(found)


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The arguments of an operator, or the indices of a load."""
    if isinstance(expr, Apply):
        return expr.arguments
    return expr.indices if isinstance(expr, Load) else ()


def same(new: Sequence[object], old: Sequence[object]) -> bool:
    """Whether so many expressions, or statements, are the very same objects; equal ones may differ,
    as 0.0 and -0.0 do."""
    return not any(map(operator.is_not, new, old))


def applied(*expressions: Expr) -> tuple[Apply, ...]:
    return _of_kind(Apply, expressions)


def loads(*expressions: Expr) -> tuple[Load, ...]:
    return _of_kind(Load, expressions)


def variables(*expressions: Expr) -> tuple[Var, ...]:
    return _of_kind(Var, expressions)


def _of_kind(kind: type[_Kind], expressions: Sequence[Expr]) -> tuple[_Kind, ...]:
    """The parts of that kind. Of an expression they are found once: passes keep expressions that
    they do not change, and ask again."""
    found = [_known(kind, expr) for expr in expressions]
    if len(found) == 1:
        return found[0]
    return tuple({id(part): part for known in found for part in known}.values())


def _known(kind: type[_Kind], expr: Expr) -> tuple[_Kind, ...]:
    if type(expr) is not Apply and type(expr) is not Load:
        return (expr,) if isinstance(expr, kind) else ()
    name = kind.__name__
    known: tuple[_Kind, ...] | None = expr.__dict__.get(name)
    if known is None:
        known = tuple([part for part in parts(expr) if isinstance(part, kind)])
        expr.__dict__[name] = known
    return known
