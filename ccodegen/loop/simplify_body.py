"""Simplification of statements: decided branches, single turns and trivial names disappear."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.loop.conditions import negation
from ccodegen.loop.ir import (
    CallC,
    Const,
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
from ccodegen.loop.parts import same
from ccodegen.loop.ranges import Ranges
from ccodegen.loop.rebuild import Body, kept
from ccodegen.loop.simplify import Simplifier


def simplify_body(body: Body, ranges: Ranges | None = None) -> Body:
    """Statements of equal effect; the same object where nothing is simpler.

    Before: `for i < 1 { if i + 2 > i { let t = i; x[t] = 0 } }`. After: `x[0] = 0`.
    `ranges`: of the variables that are free in the body.
    """
    return _block(body, Simplifier(ranges or {}))[0]


def _block(body: Body, simple: Simplifier) -> tuple[Body, Simplifier]:
    """The statements, and what is known behind the last one."""
    result: list[Stmt] = []
    for statement in body:
        if isinstance(statement, Let):
            value = simple(statement.value)
            simple = simple.with_value(statement.var, value)
            if not isinstance(value, Const | Var):
                result.append(_let(statement, value))
        else:
            result += _statement(statement, simple)
    return kept(body, result), simple


def _let(statement: Let, value: Expr) -> Let:
    return statement if value is statement.value else Let(statement.var, value)


def _statement(statement: Stmt, simple: Simplifier) -> Body:
    """What stands for a statement that is no Let."""
    match statement:
        case For():
            return _loop(statement, simple)
        case If():
            return _branch(statement, simple)
        case Store():
            store = _store(statement, simple)
            return () if _stores_itself(store) else (store,)
        case CallC():
            return (replace(statement, scalars=tuple(map(simple, statement.scalars))),)
    return (statement,)


def _loop(loop: For, simple: Simplifier) -> Body:
    extent = loop.extent if isinstance(loop.extent, int) else simple(loop.extent)
    if isinstance(extent, Const):
        extent = int(extent.value)
    if extent == 0:
        return ()
    body, _ = _block(loop.body, simple.with_loop(loop.var, extent))
    if _is_empty(body):
        return ()
    if extent == 1:
        return body
    if extent is loop.extent and body is loop.body:
        return (loop,)
    return (replace(loop, extent=extent, body=body),)


def _branch(branch: If, simple: Simplifier) -> Body:
    condition = simple(branch.condition)
    if isinstance(condition, Const):
        return _block(branch.then if condition.value else branch.orelse, simple)[0]
    then, _ = _block(branch.then, simple.where(condition, True))
    orelse, _ = _block(branch.orelse, simple.where(condition, False))
    if _is_empty(then):
        return () if _is_empty(orelse) else (If(negation(condition), orelse),)
    if same((condition, then, orelse), (branch.condition, branch.then, branch.orelse)):
        return (branch,)
    return (If(condition, then, () if _is_empty(orelse) else orelse),)


def _store(store: Store, simple: Simplifier) -> Store:
    indices, value = tuple(map(simple, store.indices)), simple(store.value)
    unchanged = value is store.value and same(indices, store.indices)
    return store if unchanged else Store(store.buffer, indices, value)


def _stores_itself(store: Store) -> bool:
    """Whether a variable gets the value that it has."""
    return not store.buffer.dimensions and store.value == Load(store.buffer)


def _is_empty(body: Body) -> bool:
    return all(isinstance(s, Note) for s in body)
