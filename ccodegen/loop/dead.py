"""Names that nobody reads and variables that nobody loads disappear."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.loop.ir import (
    Alloc,
    Buffer,
    CallC,
    Expr,
    For,
    If,
    Let,
    Note,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import loads, variables
from ccodegen.loop.rebuild import Body, expressions, statements


def remove_dead(body: Body) -> Body:
    """Without Lets that are not used, LOCAL buffers that are only written, and what is then empty.

    Before: `let t = exp(x[i]); for j < 4 { local u; u = t }`. After: nothing.
    """
    while True:
        alive = _Alive(body).block(body)
        if _count(alive) == _count(body):
            return body
        body = alive


def _count(body: Body) -> int:
    return sum(1 for _ in statements(body))


class _Alive:
    """Goes through statements backwards; knows what the ones behind use."""

    def __init__(self, body: Body) -> None:
        self._used: set[Var] = set()
        self._loaded: set[Buffer] = {load.buffer for load in loads(*expressions(body))}
        for statement in statements(body):
            if isinstance(statement, CallC):
                self._loaded.update(statement.buffers)

    def block(self, body: Body) -> Body:
        kept = [s for s in map(self._statement, reversed(body)) if s is not None]
        return tuple(reversed(kept))

    def _statement(self, statement: Stmt) -> Stmt | None:
        match statement:
            case Let(var, value):
                return self._using(statement, value) if var in self._used else None
            case Alloc(buffer):
                return statement if buffer in self._loaded else None
            case Store(buffer, indices, value):
                dead = buffer.space is Space.LOCAL and buffer not in self._loaded
                return None if dead else self._using(statement, *indices, value)
            case For(_, extent, body):
                loop = replace(statement, body=self.block(body))
                extents = () if isinstance(extent, int) else (extent,)
                return None if _empty(loop.body) else self._using(loop, *extents)
            case If(condition, then, orelse):
                branch = If(condition, self.block(then), self.block(orelse))
                empty = _empty(branch.then) and _empty(branch.orelse)
                return None if empty else self._using(branch, condition)
            case CallC():
                return self._using(statement, *statement.scalars)
        return statement

    def _using(self, statement: Stmt, *values: Expr) -> Stmt:
        self._used.update(variables(*values))
        return statement


def _empty(body: Body) -> bool:
    return all(isinstance(s, Note) for s in body)
