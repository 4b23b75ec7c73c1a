"""Variables that get one value become names of it."""

from __future__ import annotations

from collections import Counter

from ccodegen.loop.ir import Alloc, Buffer, CallC, Expr, For, If, Let, Load, Stmt, Store, Var
from ccodegen.loop.rebuild import Body, rebuild, statements


def name_values(body: Body) -> Body:
    """Before: `local t; t = x[i]; y[i] = t + t`. After: `let t = x[i]; y[i] = t + t`.

    Only where the one store stands in the block of the declaration, not in a branch of it.
    """
    stores = Counter(s.buffer for s in statements(body) if isinstance(s, Store))
    called = {b for s in statements(body) if isinstance(s, CallC) for b in s.buffers}
    once = {b for b, count in stores.items() if count == 1 and b not in called}
    named: dict[Buffer, Var] = {}
    _collect(body, once, named)
    return _with_names(body, named) if named else body


def _collect(body: Body, once: set[Buffer], named: dict[Buffer, Var]) -> None:
    """Finds the variables of a block, and of those in it, that can be names."""
    declared = {s.buffer for s in body if isinstance(s, Alloc) and not s.buffer.dimensions}
    for statement in body:
        match statement:
            case Store(buffer) if buffer in declared & once:
                named[buffer] = Var(buffer.name, buffer.type)
            case For():
                _collect(statement.body, once, named)
            case If(_, then, orelse):
                _collect(then, once, named)
                _collect(orelse, once, named)


def _with_names(body: Body, named: dict[Buffer, Var]) -> Body:
    def on_expr(expr: Expr) -> Expr:
        return named.get(expr.buffer, expr) if isinstance(expr, Load) else expr

    def on_statement(statement: Stmt) -> Stmt | Body:
        match statement:
            case Alloc(buffer) if buffer in named:
                return ()
            case Store(buffer, _, value) if buffer in named:
                return Let(named[buffer], value)
        return statement

    return rebuild(body, on_expr, on_statement)
