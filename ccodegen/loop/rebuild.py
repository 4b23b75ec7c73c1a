"""Rebuilding statement trees: a function for expressions and one for statements, bottom up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """For `rebuild` of statements alone, which then leaves expressions as they are."""
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
    """The statements with every expression and then every statement rebuilt, inner ones first; the
    same object where none changes.

    `on_stmt` may return several statements, or none, for one.
    """
    result: list[Stmt] = []
    for statement in body:
        new = on_stmt(_rebuilt(statement, on_expr, on_stmt))
        if isinstance(new, tuple):
            result.extend(new)
        else:
            result.append(new)
    return kept(body, result)


def kept(old: Body, new: Sequence[Stmt]) -> Body:
    """The old statements, if the new ones are the very same."""
    return old if len(old) == len(new) and same(new, old) else tuple(new)


def _rebuilt(statement: Stmt, on_expr: OnExpr, on_stmt: OnStmt) -> Stmt:
    match statement:
        case For(var, extent, body, kind):
            turns = extent if isinstance(extent, int) else rebuild_expr(extent, on_expr)
            inner = rebuild(body, on_expr, on_stmt)
            same_loop = turns is extent and inner is body
            return statement if same_loop else For(var, turns, inner, kind)
        case If(condition, then, orelse):
            decision = rebuild_expr(condition, on_expr)
            arms = rebuild(then, on_expr, on_stmt), rebuild(orelse, on_expr, on_stmt)
            same_branch = decision is condition and same(arms, (then, orelse))
            return statement if same_branch else If(decision, *arms)
        case Note() | Alloc():
            return statement
    return statement if on_expr is keep_expr else _with_expressions(statement, on_expr)


def _with_expressions(statement: Let | Store | CallC, on_expr: OnExpr) -> Stmt:
    match statement:
        case Let(var, old):
            value = rebuild_expr(old, on_expr)
            return statement if value is old else Let(var, value)
        case Store(buffer, old_indices, old):
            indices = tuple([rebuild_expr(i, on_expr) for i in old_indices])
            value = rebuild_expr(old, on_expr)
            unchanged = value is old and same(indices, old_indices)
            return statement if unchanged else Store(buffer, indices, value)
    scalars = tuple([rebuild_expr(s, on_expr) for s in statement.scalars])
    return statement if same(scalars, statement.scalars) else replace(statement, scalars=scalars)


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


def is_straight(body: Iterable[Stmt]) -> bool:
    """Whether these do no more than name values and store them."""
    return all(isinstance(s, Let | Store | Note) for s in body)


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
