"""Loops are cut in pieces where a condition on their index changes, so that no piece asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.builder import apply, index
from ccodegen.loop.conditions import NEGATED
from ccodegen.loop.ir import INDEX, Apply, For, If, Load, LoopKind, Stmt, Store, Var
from ccodegen.loop.parts import parts
from ccodegen.loop.ranges import Interval, Ranges
from ccodegen.loop.rebuild import Body, expressions, statements
from ccodegen.loop.rename import renamed, stem
from ccodegen.loop.simplify_body import simplify_body
from ccodegen.loop.turns import piece

_MOST_PIECES = 64
# What a 3 x 3 x 3 division of a stencil over three dimensions takes.
_MOST_PARTS = 1000
_LONG = 16  # vectors
_INDEPENDENT = (LoopKind.PARALLEL, LoopKind.VECTOR)


def cut_loops(body: Body, fresh: Callable[[str], str], vector_bytes: int = 1) -> Body:
    """Statements of equal effect with fewer conditions on loop indices.

    Before: `for i < 9 { y[i] = select(i < 8, x[i + 1], x[0]) }`. After: `for i < 8 { y[i] =
    x[i + 1] }; y[8] = x[0]`. The pieces run in the order of the turns, each over its own range.
    A loop whose pieces would be much code is cut but where its longest piece begins and ends, and
    what lies at its edges goes on asking, before it, if no turn needs another one; or it stays
    whole, with the loops in it looked at alone.
    `fresh` gives names that the kernel does not have yet, after a hint. Long pieces of innermost
    loops over flat arrays begin where a vector begins.
    """
    return _Cutter(fresh, vector_bytes).block(body, {})


class _Cutter:
    def __init__(self, fresh: Callable[[str], str], vector_bytes: int) -> None:
        self._fresh = fresh
        self._vector_bytes = vector_bytes

    def block(self, body: Body, ranges: Ranges) -> Body:
        result: list[Stmt] = []
        for statement in body:
            match statement:
                case For():
                    result += self._loop(statement, ranges)
                case If(condition, then, orelse):
                    arms = self.block(then, ranges), self.block(orelse, ranges)
                    result.append(If(condition, *arms))
                case _:
                    result.append(statement)
        return tuple(result)

    def _loop(self, loop: For, ranges: Ranges) -> Body:
        if not isinstance(loop.extent, int):
            return (replace(loop, body=self.block(loop.body, ranges)),)
        starts = _starts(loop, ranges)
        if len(starts) > 1:
            pieces = self._pieces(loop, starts, ranges) or self._edges(loop, starts, ranges)
            if pieces:
                return pieces
        return (self._whole(loop, ranges),)

    def _aligned(self, loop: For, starts: list[int]) -> list[int]:
        """The starts, and before long pieces the first place at which a vector is stored whole."""
        assert isinstance(loop.extent, int)
        inside = tuple(statements(loop.body))
        store = next((s for s in inside if isinstance(s, Store) and len(s.indices) == 1), None)
        if store is None or any(isinstance(s, For) for s in inside):
            return starts
        vector = max(1, self._vector_bytes // store.buffer.type.bytes)
        place = affine(store.indices[0])
        steps = Affine({t: c for t, c in place.terms.items() if t != loop.var})
        if place.terms.get(loop.var) != 1 or any(c % vector for c in steps.terms.values()):
            return starts
        ends = [*starts[1:], loop.extent]
        long = [s for s, e in zip(starts, ends, strict=True) if e - s >= _LONG * vector]
        return sorted({*starts, *(s - (s + place.constant) % -vector for s in long)})

    def _pieces(self, loop: For, starts: list[int], ranges: Ranges) -> Body:
        """All pieces; nothing where they would be much code."""
        assert isinstance(loop.extent, int)
        if len(starts) > _MOST_PIECES:
            return ()
        result: list[Stmt] = []
        size, most = 0, max(_MOST_PARTS, _size((loop,)))
        for start, end in pairwise([*self._aligned(loop, starts), loop.extent]):
            part = self.block(self._piece(loop, start, end, ranges), ranges)
            size += _size(part)
            if size > most:
                return ()
            result += part
        return tuple(result)

    def _edges(self, loop: For, starts: list[int], ranges: Ranges) -> Body:
        """The longest piece, and what lies on both sides of it as one loop that asks. Nothing
        where that would be much code too, the turns depend on their order, or few are in it."""
        assert isinstance(loop.extent, int)
        if loop.kind not in _INDEPENDENT or _size((loop,)) > _MOST_PARTS:
            return ()
        pieces = pairwise([*starts, loop.extent])
        start, end = max(pieces, key=lambda piece: piece[1] - piece[0])
        at_both_ends = start > 0 and end < loop.extent
        if at_both_ends:
            start = max(start, loop.extent - end)
            end = loop.extent - start
        if end - start <= loop.extent // 2:
            return ()
        middle = self.block(self._piece(loop, start, end, ranges), ranges)
        if not at_both_ends:
            first, last = (0, start) if start else (end, loop.extent)
            edge = piece(loop, first, last, self._fresh)
            return (self._whole(edge, ranges), *middle)
        side, turn = (Var(self._fresh(stem(loop.var.name))) for _ in range(2))
        place = apply("add", turn, apply("multiply", side, index(end)))
        edge = For(turn, start, renamed(loop.body, self._fresh, {loop.var: place}))
        return (For(side, 2, (self._whole(edge, {**ranges, side: 2}),)), *middle)

    def _whole(self, loop: For, ranges: Ranges) -> For:
        """The loop with those in it cut."""
        assert isinstance(loop.extent, int)
        return replace(loop, body=self.block(loop.body, {**ranges, loop.var: loop.extent}))

    def _piece(self, loop: For, start: int, end: int, ranges: Ranges) -> Body:
        return simplify_body((piece(loop, start, end, self._fresh),), ranges)


def _size(body: Body) -> int:
    """How much code: operators and loads, without index arithmetic."""
    found = (part for e in expressions(body) for part in parts(e))
    return sum(isinstance(p, Apply | Load) and p.type is not INDEX for p in found)


def _starts(loop: For, ranges: Ranges) -> list[int]:
    """Where the pieces of a loop begin: between two of them a condition is decided in one."""
    assert isinstance(loop.extent, int)
    loops = (s for s in statements((loop,)) if isinstance(s, For))
    inside: Ranges = {**ranges, **{s.var: _reach(s) for s in loops}}
    found = {0}
    for condition in _conditions(loop.body):
        found.update(v for v in _changes(condition, loop.var, inside) if 0 < v < loop.extent)
    return sorted(found)


def _reach(loop: For) -> int | Interval:
    return loop.extent if isinstance(loop.extent, int) else Interval(low=0)


def _conditions(body: Body) -> Iterator[Apply]:
    """The comparisons of indices that decide what is evaluated or run."""
    pending = [s.condition for s in statements(body) if isinstance(s, If)]
    pending += [
        part.arguments[0]
        for expr in expressions(body)
        for part in parts(expr)
        if isinstance(part, Apply) and part.operator == "select"
    ]
    while pending:
        condition = pending.pop()
        if not isinstance(condition, Apply):
            continue
        if condition.operator in ("and", "or", "not"):
            pending += condition.arguments
        elif condition.operator in NEGATED and condition.arguments[0].type is INDEX:
            yield condition


def _changes(condition: Apply, var: Var, ranges: Ranges) -> Iterator[int]:
    """The values of a variable from which on a condition is decided, or is not any more,
    whatever the other variables are."""
    a, b = map(affine, condition.arguments)
    slope = (a - b).terms.get(var, 0)
    if not slope:
        return
    upwards = a - b if slope > 0 else b - a
    rest = (upwards - Affine({var: abs(slope)})).bounds(ranges)
    if not rest.is_finite:
        return
    if condition.operator in ("compare-eq", "compare-ne"):
        firsts = rest.high, rest.low - 1
    else:
        asks_above_zero = (condition.operator in ("compare-gt", "compare-le")) == (slope > 0)
        firsts = rest.high - asks_above_zero, rest.low - asks_above_zero
    for first in firsts:
        yield -(int(first) // abs(slope))
