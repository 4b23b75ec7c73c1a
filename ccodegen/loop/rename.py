"""A copy of statements with names of its own, to stand beside the original in one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from ccodegen.loop.ir import Alloc, Buffer, CallC, Expr, For, Let, Load, Stmt, Store, Var
from ccodegen.loop.rebuild import Body, rebuild, statements


def stem(name: str) -> str:
    """The name without the numbers that make it one of several: `i` of `i_2_1`."""
    return name.rstrip("_0123456789") or name


def renamed(
    body: Body,
    fresh: Callable[[str], str],
    values: Mapping[Var, Expr],
    arrays: Mapping[Buffer, Buffer] = MappingProxyType({}),
) -> Body:
    """The statements with new names for what they bind and declare.

    `values`: what takes the place of variables that are free in the body; `arrays`: of buffers.
    `fresh` gives names that the kernel does not have yet, after a hint.
    """
    variables, declared = _new_names(body, fresh)
    buffers = {**arrays, **declared}
    new = {**values, **variables}

    def on_expr(expr: Expr) -> Expr:
        match expr:
            case Var():
                return new.get(expr, expr)
            case Load(buffer, indices) if buffer in buffers:
                return Load(buffers[buffer], indices)
        return expr

    def on_statement(statement: Stmt) -> Stmt:
        match statement:
            case For(var) | Let(var):
                return replace(statement, var=variables[var])
            case Alloc(buffer):
                return Alloc(buffers[buffer])
            case Store(buffer):
                return replace(statement, buffer=buffers.get(buffer, buffer))
            case CallC():
                own = tuple(buffers.get(b, b) for b in statement.buffers)
                return replace(statement, buffers=own)
        return statement

    return rebuild(body, on_expr, on_statement)


def _new_names(
    body: Body, fresh: Callable[[str], str]
) -> tuple[dict[Var, Var], dict[Buffer, Buffer]]:
    """For what the statements bind, and what they declare."""
    variables: dict[Var, Var] = {}
    buffers: dict[Buffer, Buffer] = {}
    for statement in statements(body):
        match statement:
            case For(var) | Let(var):
                variables[var] = Var(fresh(stem(var.name)), var.type)
            case Alloc(buffer):
                buffers[buffer] = replace(buffer, name=fresh(stem(buffer.name)))
    return variables, buffers
