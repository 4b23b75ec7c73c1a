"""Arrays become flat, and loops that only count together become one.

    for i < 4: for j < 12: out[i, j] = x[i, j]   →   for i < 48: out[i] = x[i]
"""

from __future__ import annotations

from dataclasses import replace

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import vector_kind
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    CallC,
    Const,
    Expr,
    For,
    Index,
    Kernel,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
    is_unrolled,
)
from ccodegen.loop.linear import linearize
from ccodegen.loop.parts import loads, operands, variables
from ccodegen.loop.rebuild import Body, expressions, keep_expr, rebuild, statements
from ccodegen.loop.simplify_body import simplify_body


def flatten(kernel: Kernel) -> Kernel:
    """The kernel over one-dimensional buffers."""
    flat = _Flat()
    body = simplify_body(rebuild(kernel.body, flat.expr, flat.statement))
    buffers = tuple(flat.buffer(b) for b in kernel.buffers)
    return Kernel(kernel.name, buffers, body, kernel.origin)


def join_loops(kernel: Kernel) -> Kernel:
    """The flat kernel with as few loops as say the same."""
    body = rebuild(kernel.body, keep_expr, _join_loops)
    return Kernel(kernel.name, kernel.buffers, body, kernel.origin)


class _Flat:
    """Old buffers to new ones, and their accesses."""

    def __init__(self) -> None:
        self._new: dict[Buffer, Buffer] = {}

    def buffer(self, old: Buffer) -> Buffer:
        is_variable = old.space is Space.LOCAL and not old.dimensions
        if is_variable or len(old.dimensions) == 1:
            return old
        return self._new.setdefault(old, replace(old, dimensions=(old.size,)))

    def indices(self, old: Buffer, indices: Index) -> Index:
        new = self.buffer(old)
        return indices if new is old else (linearize(indices, old.dimensions),)

    def expr(self, expr: Expr) -> Expr:
        if isinstance(expr, Load):
            return Load(self.buffer(expr.buffer), self.indices(expr.buffer, expr.indices))
        return expr

    def statement(self, statement: Stmt) -> Stmt:
        match statement:
            case Store(buffer, indices, value):
                return Store(self.buffer(buffer), self.indices(buffer, indices), value)
            case Alloc(buffer):
                return Alloc(self.buffer(buffer))
            case CallC():
                return replace(statement, buffers=tuple(map(self.buffer, statement.buffers)))
        return statement


def _join_loops(statement: Stmt) -> Stmt:
    """One loop for two that are nested, where every index counts them as one."""
    if not isinstance(statement, For) or len(statement.body) != 1:
        return statement
    inner = statement.body[0]
    if not isinstance(inner, For) or inner.kind is not statement.kind:
        return statement
    outer_extent, extent = statement.extent, inner.extent
    if not isinstance(outer_extent, int) or not isinstance(extent, int):
        return statement
    pair = (statement.var, inner.var)
    if not all(_counts_together(e, pair, extent) for e in expressions(inner.body)):
        return statement
    body = _with_one_index(inner.body, pair)
    return _join_loops(For(statement.var, outer_extent * extent, body, statement.kind))


def _counts_together(expr: Expr, pair: tuple[Var, Var], extent: int) -> bool:
    """Whether outer and inner appear in each index only as c * (outer * extent + inner)."""
    if expr.type is INDEX:
        total = affine(expr)
        if total.terms.get(pair[0], 0) != extent * total.terms.get(pair[1], 0):
            return False
        others = (t for t in total.terms if t not in pair)
        return not any(var in pair for var in variables(*others))
    return all(_counts_together(e, pair, extent) for e in operands(expr))


def _with_one_index(body: Body, pair: tuple[Var, Var]) -> Body:
    """c * (outer * extent + inner) becomes c * outer, where outer now counts for both."""
    outer, inner = pair

    def joined(expr: Expr) -> Expr:
        if expr == outer:
            return Const(INDEX, 0)
        if expr == inner:
            return outer
        is_sum = expr.type is INDEX and isinstance(expr, Apply)
        return affine(expr).expr if is_sum else expr

    return rebuild(body, joined)


def mark_loops(body: Body, inside: bool = False) -> Body:
    """Of independent loops the outermost may run in parallel, innermost ones as vectors."""
    return tuple(_marked(s, inside) for s in body)


def _marked(statement: Stmt, inside: bool) -> Stmt:
    if not isinstance(statement, For):
        return statement
    independent = statement.kind is not LoopKind.SERIAL
    body = mark_loops(statement.body, inside or independent)
    if not independent or statement.kind in (LoopKind.APART, LoopKind.LANES):
        return replace(statement, body=body)
    innermost = not any(isinstance(s, For | CallC) for s in statements(body))
    if innermost:
        kind = _innermost_kind(statement)
    else:
        kind = LoopKind.SERIAL if inside else LoopKind.PARALLEL
    return replace(statement, body=body, kind=kind)


def _innermost_kind(loop: For) -> LoopKind:
    """Lanes across few columns that are copied, and along a short row whose place is looked up: in
    vectors of several rows every element would be."""
    if _takes_columns(loop):
        return LoopKind.LANES
    kind = vector_kind(loop.extent) if isinstance(loop.extent, int) else LoopKind.VECTOR
    if kind is LoopKind.VECTOR:
        return kind
    stores = [s.indices for s in statements(loop.body) if isinstance(s, Store)]
    read = [load.indices for load in loads(*expressions(loop.body))]
    row = any(_is_along_row(index, loop.var) for indices in (*stores, *read) for index in indices)
    return kind if row else LoopKind.VECTOR


def _takes_columns(loop: For) -> bool:
    """Whether it copies few elements out of as many lines, of which the next turn around takes the
    next ones, into rows that have others beside them. Compilers would make vectors along the lines,
    and put these into memory element by element: in twice the time, and, of bytes, by kilobytes of
    code."""
    return is_unrolled(loop.extent) and all(_takes_column(s, loop) for s in loop.body)


def _takes_column(statement: Stmt, loop: For) -> bool:
    match statement:
        case Store(_, (put,), Load(_, (taken,))):
            row, own = _steps(put, loop.var)
            column, other = _steps(taken, loop.var)
            return row == 1 < abs(column) and 1 in other and loop.extent not in own
    return False


def _steps(place: Expr, var: Var) -> tuple[int, set[int]]:
    """How far the place moves with the variable, and with what else it depends on."""
    steps = dict(affine(place).terms)
    own = steps.pop(var, 0)
    return own, set(steps.values())


def _is_along_row(place: Expr, var: Var) -> bool:
    """Whether a place is so far behind another one that does not depend on the variable, and which
    only memory tells."""
    looked_up = loads(place)
    if not looked_up or var in variables(*looked_up):
        return False
    return affine(place).terms.get(var) == 1
