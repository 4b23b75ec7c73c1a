"""Conditions that a vector loop does not change are computed before it."""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.loop.hoist import Changing
from ccodegen.loop.ir import Apply, Const, Expr, For, Let, LoopKind, Stmt, Var
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import Body, keep_expr, rebuild


def name_conditions(body: Body, fresh: Callable[[str], str]) -> Body:
    """Binds conditions of selects that read elements at known places, for compilers that see no
    vectors in a loop which reads one element for all turns on a condition of each.

    Before: `for i < 4 vector { x[i] = i < n ? p[0] ? y[i] : 1 : 2 }`. After: `let is = p[0];
    for i < 4 vector { x[i] = i < n ? is ? y[i] : 1 : 2 }`.

    `fresh` gives names that the kernel does not have yet, after a hint.
    """
    return rebuild(body, keep_expr, lambda statement: _named(statement, fresh))


def _named(statement: Stmt, fresh: Callable[[str], str]) -> Stmt | Body:
    if not isinstance(statement, For) or statement.kind is not LoopKind.VECTOR:
        return statement
    changing, names = Changing(statement), dict[Expr, Var]()

    def named(expr: Expr) -> Expr:
        if not isinstance(expr, Apply) or expr.operator != "select":
            return expr
        condition, *arms = expr.arguments
        if not _is_readable(condition) or not changing.is_fixed(condition):
            return expr
        if condition not in names:
            names[condition] = Var(fresh("is"), condition.type)
        return Apply("select", (names[condition], *arms), expr.type)

    inside = rebuild(statement.body, named)
    lets = tuple(Let(var, condition) for condition, var in names.items())
    return (*lets, For(statement.var, statement.extent, inside, statement.kind))


def _is_readable(condition: Expr) -> bool:
    """Whether it reads elements, all of which are there whatever else holds."""
    found = tuple(loads(condition))
    return bool(found) and all(
        isinstance(at, Const) and 0 <= at.value < extent
        for load in found
        for at, extent in zip(load.indices, load.buffer.dimensions, strict=True)
    )
