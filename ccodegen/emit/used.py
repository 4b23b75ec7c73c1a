"""Which variables and buffers statements need."""

from __future__ import annotations

from collections.abc import Iterable

from ccodegen.loop.ir import Expr, For, If, Let, Stmt, Var
from ccodegen.loop.parts import variables
from ccodegen.loop.rebuild import expressions, statements


def used_variables(body: Iterable[Stmt]) -> set[Var]:
    """The variables whose value is needed: compilers warn of others."""
    used: set[Var] = set()
    for statement in reversed(list(statements(tuple(body)))):
        if not isinstance(statement, Let) or statement.var in used:
            used.update(variables(*_own_expressions(statement)))
    return used


def _own_expressions(statement: Stmt) -> list[Expr]:
    match statement:
        case For(_, extent, _, _):
            return [] if isinstance(extent, int) else [extent]
        case If(condition, _, _):
            return [condition]
    return list(expressions((statement,)))
