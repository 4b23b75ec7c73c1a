"""Short rows of elements that take long are put side by side, so that they fill vectors.

    for i < 1000: for j < 3: y[i * 39 + j] = sin(x[i * 5 + j])

has no loop that is as long as a vector but the outer one, whose elements lie apart: to gather them
takes longer than to copy some rows into a local buffer, and the results back. Rows of few elements
near each other are left to unroll_rows.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import index
from ccodegen.loop.cost import WORD, cost
from ccodegen.loop.cse import computed
from ccodegen.loop.ir import Alloc, Buffer, Expr, For, Let, Load, LoopKind, Stmt, Store, Var
from ccodegen.loop.parts import loads, variables
from ccodegen.loop.rebuild import (
    Body,
    expressions,
    is_straight,
    keep_expr,
    rebuild,
    rebuild_expr,
    replacing,
    written_buffers,
)
from ccodegen.loop.rename import stem
from ccodegen.loop.simplify_body import simplify_body
from ccodegen.loop.turns import piece
from ccodegen.loop.unroll_rows import has_short_rows
from ccodegen.support.immutable import immutable

_BLOCK = 32  # rows: whole vectors
_MOST_BUFFERS = 8


def pack_rows(body: Body, fresh: Callable[[str], str], lanes: int) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint; `lanes`: words in a vector."""

    def packed(statement: Stmt) -> Stmt | Body:
        if isinstance(statement, For) and (found := _rows(statement, fresh)):
            return found.packed(statement) if found.wastes(lanes) and found.pay() else statement
        return statement

    return rebuild(body, keep_expr, packed)


def _rows(loop: For, fresh: Callable[[str], str]) -> _Rows | None:
    match loop:
        case For(number, int() as extent, (For(place, int() as turns, row, kind),), outer):
            unrolled = has_short_rows(loop)
            independent = outer is LoopKind.PARALLEL and kind is not LoopKind.SERIAL
            if not unrolled and is_straight(row) and independent and extent >= _BLOCK:
                return _Rows(number, extent, place, turns, row, fresh)
    return None


@immutable
class _Rows:
    """Independent rows of independent elements: the names of a row's number and of a place in it,
    how many there are, and what is done for each."""

    number: Var
    extent: int
    place: Var
    turns: int
    row: Body
    fresh: Callable[[str], str]

    @cached_property
    def _loads(self) -> list[Load]:
        """What is read for one element alone."""
        found = dict.fromkeys(loads(*expressions(self.row)))
        return [load for load in found if self._varies(*load.indices)]

    @cached_property
    def _stores(self) -> list[Store]:
        return [s for s in self.row if isinstance(s, Store)]

    @property
    def _accesses(self) -> list[Load | Store]:
        return [*self._loads, *self._stores]

    def wastes(self, lanes: int) -> bool:
        """Whether a row leaves many lanes empty in vectors of so many words. Compilers make vectors
        of what is narrowest; but bytes that words become are stored after that
        (widen_narrow_stores.py)."""
        stored = [s.buffer.type for s in self._stores]
        computed_with = [load.type for load in self._loads] + [t for t in stored if t.is_float]
        if self.turns % lanes == 0 and all(t.bytes >= WORD for t in computed_with):
            return False
        is_narrow = any(t.bytes < WORD for t in computed_with + stored)
        return self.turns < (2 * lanes if is_narrow else lanes)

    def _varies(self, *of: Expr) -> bool:
        return not {self.number, self.place}.isdisjoint(variables(*of))

    def pay(self) -> bool:
        """Whether elements take long, and depend on nothing but elements, which are read in any
        case, at places that are not looked up, from buffers that are not written."""
        if not cost(self.row).transcendental or len(self._accesses) > _MOST_BUFFERS:
            return False
        if not written_buffers(self.row).isdisjoint(load.buffer for load in self._loads):
            return False
        read = {expr for statement in self.row for expr in computed(statement)}
        named = {s.var for s in self.row if isinstance(s, Let)}
        places = [i for access in self._accesses for i in access.indices]
        if loads(*places) or not named.isdisjoint(variables(*places)):
            return False
        values = expressions(self._of_one(index(0), self._buffers(1)))
        return read.issuperset(self._loads) and not self._varies(*values)

    def _buffers(self, rows: int) -> dict[Load | Store, Buffer]:
        """For what is read and stored of so many rows."""
        size = (rows * self.turns,)
        return {a: Buffer(self.fresh("rows"), a.buffer.type, size) for a in self._accesses}

    def _of_one(self, place: Expr, own: Mapping[Load | Store, Buffer]) -> Body:
        """The row's statements for the element in this place of the buffers."""

        def on_expr(expr: Expr) -> Expr:
            return Load(own[expr], (place,)) if isinstance(expr, Load) and expr in own else expr

        result: list[Stmt] = []
        for statement in self.row:
            match statement:
                case Let(var, value):
                    result.append(Let(var, rebuild_expr(value, on_expr)))
                case Store(_, _, value):
                    result.append(Store(own[statement], (place,), rebuild_expr(value, on_expr)))
                case _:
                    result.append(statement)
        return tuple(result)

    def packed(self, loop: For) -> Body:
        """Blocks of the loop's rows, which are copied, computed and copied back, and the rows that
        are left over."""
        own, block = self._buffers(_BLOCK), Var(self.fresh(stem(self.number.name)))
        first, lane = affine(block).scaled(_BLOCK).expr, Var(self.fresh("lane"))
        body: Body = (
            *map(Alloc, own.values()),
            self._copied(first, own, self._loads),
            For(lane, _BLOCK * self.turns, self._of_one(lane, own), LoopKind.VECTOR),
            self._copied(first, own, self._stores),
        )
        whole, rest = divmod(self.extent, _BLOCK)
        blocks: Body = (For(block, whole, body, LoopKind.PARALLEL),)
        if rest:
            blocks = (*blocks, piece(loop, self.extent - rest, self.extent, self.fresh))
        return simplify_body(blocks)

    def _copied(
        self, first: Expr, own: Mapping[Load | Store, Buffer], accesses: Sequence[Load | Store]
    ) -> For:
        """Copies what the rows of a block read into the buffers, or from these what they store."""
        number, place = (Var(self.fresh(stem(v.name))) for v in (self.number, self.place))
        put = replacing({self.number: (affine(first) + affine(number)).expr, self.place: place})
        inside = ((affine(number).scaled(self.turns) + affine(place)).expr,)
        copies: list[Store] = []
        for access in accesses:
            outside = tuple(rebuild_expr(i, put) for i in access.indices)
            if isinstance(access, Load):
                copies.append(Store(own[access], inside, Load(access.buffer, outside)))
            else:
                copies.append(Store(access.buffer, outside, Load(own[access], inside)))
        loop = For(place, self.turns, tuple(copies), LoopKind.VECTOR)
        return For(number, _BLOCK, (loop,), LoopKind.PARALLEL)
