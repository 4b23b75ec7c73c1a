"""Rebuilding statement trees: a function for expressions and one for statements, bottom up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    CallC,
    Expr,
    For,
    If,
    Let,
    Load,
    Note,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import loads, same

Body: TypeAlias = tuple[Stmt, ...]
OnExpr: TypeAlias = Callable[[Expr], Expr]
OnStmt: TypeAlias = Callable[[Stmt], Stmt | Body]


def keep_expr(expr: Expr) -> Expr:
    """For `rebuild` of statements alone, which then does not look at expressions."""
    return expr


def _keep(statement: Stmt) -> Stmt:
    return statement


def replacing(values: Mapping[Var, Expr]) -> OnExpr:
    """For `rebuild`: values take the place of variables."""
    return lambda expr: values.get(expr, expr) if isinstance(expr, Var) else expr


def rebuild_expr(expr: Expr, on_expr: OnExpr) -> Expr:
    """The expression with `on_expr` applied to every part, arguments first."""
    if isinstance(expr, Apply):
        inner = tuple([rebuild_expr(a, on_expr) for a in expr.arguments])
        expr = expr if same(inner, expr.arguments) else Apply(expr.operator, inner, expr.type)
    elif isinstance(expr, Load):
        inner = tuple([rebuild_expr(i, on_expr) for i in expr.indices])
        expr = expr if same(inner, expr.indices) else Load(expr.buffer, inner)
    return on_expr(expr)


def rebuild(body: Body, on_expr: OnExpr, on_stmt: OnStmt = _keep) -> Body:
    """The statements with every expression and then every statement rebuilt, inner ones first.

    `on_stmt` may return several statements, or none, for one.
    """
    result: list[Stmt] = []
    for statement in body:
        new = on_stmt(_rebuilt(statement, on_expr, on_stmt))
        result.extend(new if isinstance(new, tuple) else (new,))
    return tuple(result)


def _rebuilt(statement: Stmt, on_expr: OnExpr, on_stmt: OnStmt) -> Stmt:
    def expr(e: Expr) -> Expr:
        return e if on_expr is keep_expr else rebuild_expr(e, on_expr)

    def block(b: Body) -> Body:
        return rebuild(b, on_expr, on_stmt)

    match statement:
        case For(_, extent, body, _):
            new_extent = extent if isinstance(extent, int) else expr(extent)
            return replace(statement, extent=new_extent, body=block(body))
        case If(condition, then, orelse):
            return If(expr(condition), block(then), block(orelse))
        case Let(var, value):
            return Let(var, expr(value))
        case Store(buffer, indices, value):
            return Store(buffer, tuple(expr(i) for i in indices), expr(value))
        case CallC():
            return replace(statement, scalars=tuple(expr(s) for s in statement.scalars))
        case Alloc() | Note():
            return statement
    raise AssertionError(statement)


def statements(body: Body) -> list[Stmt]:
    """All statements, outer ones first."""
    pending = list(reversed(body))
    found: list[Stmt] = []
    while pending:
        statement = pending.pop()
        found.append(statement)
        if type(statement) is For:
            pending.extend(reversed(statement.body))
        elif type(statement) is If:
            pending.extend(reversed(statement.orelse))
            pending.extend(reversed(statement.then))
    return found


def expressions(body: Body) -> Iterator[Expr]:
    """The expressions of all statements, whole."""
    for statement in statements(body):
        match statement:
            case For(_, extent, _, _) if not isinstance(extent, int):
                yield extent
            case If(condition, _, _):
                yield condition
            case Let(_, value):
                yield value
            case Store(_, indices, value):
                yield from indices
                yield value
            case CallC():
                yield from statement.scalars


def used_buffers(body: Body) -> set[Buffer]:
    """The buffers that statements or expressions name, LOCAL ones included."""
    found: set[Buffer] = set()
    for statement in statements(body):
        match statement:
            case Store(buffer, _, _) | Alloc(buffer):
                found.add(buffer)
            case CallC(_, _, buffers):
                found.update(buffers)
    found.update(load.buffer for load in loads(*expressions(body)))
    return found


def written_buffers(body: Body) -> set[Buffer]:
    """The buffers that statements store into, or that functions they call write."""
    found: set[Buffer] = set()
    for statement in statements(body):
        match statement:
            case Store(buffer):
                found.add(buffer)
            case CallC(_, _, buffers):
                found.update(buffers[n] for n in statement.writes)
    return found
