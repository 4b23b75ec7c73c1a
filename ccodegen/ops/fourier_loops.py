"""Where a kernel transforms lines: loops over scratch memory, some lines side by side as lanes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from ccodegen.loop.builder import Builder, const
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import MOST_UNROLLED, Buffer, Expr, Index, LoopKind
from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fold import Array
from ccodegen.ops.index import less, plus, times
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.traced import TracedIndex, TracedValue
from ccodegen.ops.workspace import Sink, Source, Workspace
from ccodegen.support.immutable import immutable

_LONGEST_UNROLLED = 13
_LONGEST_UNROLLED_WITHOUT_VECTORS = 5


@immutable
class Rows:
    """Two sets of rows of `lanes` complex numbers, real and imaginary parts apart, in two buffers
    of floats from element `start` on."""

    buffers: tuple[Buffer, Buffer]
    start: Expr
    count: int
    lanes: int


@immutable
class Lines:
    """The lines that one block's lanes are for: from `first` on, as many as there are lanes; in the
    block after the last one of those, `block` = `full`, only `rest`.

    `along`: whether a line's elements are neighbours in memory, not those of a row.
    """

    block: Expr
    first: Expr
    full: int
    rest: int
    along: bool


class LoopWorkspace(Workspace):
    def __init__(self, scope: NestScope, rows: Rows, lines: Lines) -> None:
        self._scope, self._builder = scope, scope.builder
        self._rows, self._lines = rows, lines
        self._here, self._there = rows.buffers
        self._source: Source | None = None
        self._sink: Sink | None = None
        self._stages = 0
        self._lane: Expr = constant(0)
        vectors = scope.target.machine.vector_bytes > rows.buffers[0].type.bytes
        self.unrolled = _LONGEST_UNROLLED if vectors else _LONGEST_UNROLLED_WITHOUT_VECTORS

    def each(self, *extents: int) -> Iterator[tuple[Any, ...]]:
        lanes = self._rows.lanes
        with ExitStack() as stack:
            longer = [n for n, extent in enumerate(extents) if extent > 1]
            vector = longer[-1] if longer and lanes == 1 else None
            indices = []
            for n, extent in enumerate(extents):
                kind = _vector(extent) if n == vector else LoopKind.SERIAL
                var = stack.enter_context(self._builder.loop(extent, "bk"[n], kind))
                indices.append(TracedIndex(self._builder, var))
            if lanes > 1:
                lane = self._builder.loop(lanes, "lane", LoopKind.LANES)
                self._lane = stack.enter_context(lane)
            yield tuple(indices)

    def turns(self, extent: int) -> Iterator[Any]:
        with self._builder.loop(extent, "r") as turn:
            yield TracedIndex(self._builder, turn)

    def fill(self, extent: int) -> Iterator[tuple[Any, Any]]:
        """Lanes for which there is no line take the last one's elements."""
        yield from self._scan(extent, self._rows.lanes)

    def drain(self, extent: int) -> Iterator[tuple[Any, Any]]:
        yield from self._scan(extent, self._lines.rest)

    def _scan(self, extent: int, lanes_of_rest: int) -> Iterator[tuple[Any, Any]]:
        lines, lanes = self._lines, self._rows.lanes
        if not lines.rest:
            yield from self._scan_block(extent, lanes, lanes)
        elif not lines.full:
            yield from self._scan_block(extent, lanes_of_rest, lines.rest)
        else:
            with self._builder.when(less(lines.block, lines.full)):
                yield from self._scan_block(extent, lanes, lanes)
            with self._builder.otherwise():
                yield from self._scan_rows(extent, lanes_of_rest, lines.rest)

    def _scan_block(self, extent: int, lanes: int, lines: int) -> Iterator[tuple[Any, Any]]:
        """Lines along memory one after the other in the body of one loop over their elements: both
        compilers make vectors of those, and transpose them."""
        if not self._lines.along:
            yield from self._scan_rows(extent, lanes, lines)
            return
        with self._builder.loop(extent, "t", _vector(extent)) as t:
            for lane in range(lanes):
                yield self._at(t, constant(lane), constant(min(lane, lines - 1)))

    def _scan_rows(self, extent: int, lanes: int, lines: int) -> Iterator[tuple[Any, Any]]:
        builder = self._builder
        with builder.loop(extent, "t") as t:
            with builder.loop(lines, "lane", LoopKind.LANES) as var:
                yield self._at(t, var, var)
            if lanes > lines:
                with builder.loop(lanes - lines, "lane", LoopKind.LANES) as var:
                    yield self._at(t, plus(var, lines), constant(lines - 1))

    def _at(self, t: Expr, lane: Expr, line: Expr) -> tuple[TracedIndex, TracedIndex]:
        self._lane = lane
        line = plus(self._lines.first, line)
        return TracedIndex(self._builder, t), TracedIndex(self._builder, line)

    def connect(self, source: Source | None, sink: Sink, stages: int) -> bool:
        """Lines along memory want to be transposed, unless a block is one line."""
        lines = self._lines
        if not stages or lines.rest or (lines.along and self._rows.lanes > 1):
            return False
        self._source, self._sink, self._stages = source, sink, stages
        return True

    def here(self, row: Any) -> Complex:
        if self._source:
            return self._source(self._line, _traced(self._builder, row))
        return self._load(self._here, row)

    def there(self, row: Any) -> Complex:
        return self._load(self._there, row)

    def set_here(self, row: Any, value: Complex) -> None:
        self._store(self._here, row, value)

    def set_there(self, row: Any, value: Complex) -> None:
        if self._sink and self._stages == 1:
            self._sink(self._line, _traced(self._builder, row), value)
        else:
            self._store(self._there, row, value)

    def flip(self) -> None:
        self._here, self._there = self._there, self._here
        self._source = None
        self._stages -= 1

    @property
    def _line(self) -> TracedIndex:
        return TracedIndex(self._builder, plus(self._lines.first, self._lane))

    def _load(self, buffer: Buffer, row: Any) -> Complex:
        b = self._builder
        parts = (b.let(b.load(buffer, self._place(row, part)), "x") for part in range(2))
        return Complex(*(TracedValue(b, part) for part in parts))

    def _store(self, buffer: Buffer, row: Any, value: Complex) -> None:
        for part, component in enumerate((value.re, value.im)):
            self._builder.store(buffer, self._place(row, part), component.expr)

    def _place(self, row: Any, part: int) -> Index:
        rows = self._rows
        at = plus(times(_expr(row), rows.lanes), part * rows.count * rows.lanes)
        return (plus(rows.start, plus(at, self._lane)),)

    def table(self, values: Array) -> Any:
        return self._scope.table(values.astype(self._here.type.dtype))

    def entry(self, table: Any, *indices: Any) -> Complex:
        b, at = self._builder, tuple(map(_expr, indices))
        parts = (b.let(b.load(table, (constant(part), *at)), "w") for part in range(2))
        return Complex(*(TracedValue(b, part) for part in parts))

    @property
    def zero(self) -> Any:
        return TracedValue(self._builder, const(self._here.type, 0))


def _vector(extent: int) -> LoopKind:
    """A short loop over neighbours is none to be unrolled either: gcc 12 then makes vectors of the
    loop around it, and gets the last ones wrong where lines are transformed in place."""
    return LoopKind.LANES if extent <= MOST_UNROLLED else LoopKind.VECTOR


def _expr(row: Any) -> Expr:
    return row.expr if isinstance(row, TracedIndex) else constant(row)


def _traced(builder: Builder, row: Any) -> TracedIndex:
    return TracedIndex(builder, _expr(row))
