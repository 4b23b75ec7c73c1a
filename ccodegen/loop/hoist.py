"""Names whose value is the same in all turns of a loop are bound before it."""

from __future__ import annotations

from ccodegen.loop.ir import Alloc, Buffer, CallC, Expr, For, Let, LoopKind, Stmt, Store
from ccodegen.loop.parts import loads, variables
from ccodegen.loop.rebuild import Body, keep_expr, rebuild, statements


def hoist(body: Body) -> Body:
    """Moves loop-invariant Lets out of loops, as far as they go.

    Before: `for i < 4 { let t = exp(s[]); x[i] = t }`. After: `let t = exp(s[]); for i < 4 …`.
    A Let with a load stays in a loop of unknown extent, where it might not run at all; any Let
    stays in a PARALLEL loop, whose body becomes a function of its own.
    """
    return rebuild(body, keep_expr, _hoisted)


def _hoisted(statement: Stmt) -> Stmt | Body:
    if not isinstance(statement, For) or statement.kind is LoopKind.PARALLEL:
        return statement
    changing = Changing(statement)
    before: list[Stmt] = []
    inside: list[Stmt] = []
    for inner in statement.body:
        if isinstance(inner, Let) and changing.is_fixed(inner.value):
            changing.names.discard(inner.var)
            before.append(inner)
        else:
            inside.append(inner)
    if not before:
        return statement
    loop = For(statement.var, statement.extent, tuple(inside), statement.kind)
    return (*before, loop)


class Changing:
    """What is bound and written in a loop."""

    def __init__(self, loop: For) -> None:
        self.names = {loop.var}
        self.buffers: set[Buffer] = set()
        self.may_not_run = not isinstance(loop.extent, int) or loop.extent == 0
        for statement in statements(loop.body):
            match statement:
                case For(var) | Let(var):
                    self.names.add(var)
                case Store(buffer) | Alloc(buffer):
                    self.buffers.add(buffer)
                case CallC():
                    self.buffers.update(statement.buffers)

    def is_fixed(self, expr: Expr) -> bool:
        read = [load.buffer for load in loads(expr)]
        if read and self.may_not_run:
            return False
        return self.buffers.isdisjoint(read) and self.names.isdisjoint(variables(expr))
