"""The loops that transform all lines of an array along one dimension, block by block.

The lines of a block lie side by side as lanes, so that the loops over lanes become vectors
whatever n is. Where the machine has no vectors, or there are too few lines, a block is one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Buffer, Expr, Index
from ccodegen.ops.butterfly import Complex
from ccodegen.ops.fourier_lines import LineTransform
from ccodegen.ops.fourier_loops import Lines, LoopWorkspace, Rows
from ccodegen.ops.index import times
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.thread_parts import turns_of
from ccodegen.ops.traced import TracedValue
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_LANE_BYTES = 64  # of a row: a cache line
_APART = 2 * _LANE_BYTES  # of two threads' rows: processors may fetch lines in pairs
_FEWEST_LANES = 4
_FIRST_RADIX = 8
_NEAR = 1 << 15  # bytes of a small first-level cache
_LEAST_SHARED = 1 << 14  # elements of an array from which threads share it


@immutable
class Memory:
    """Two buffers with room for each thread's rows, `room` elements each."""

    buffers: tuple[Buffer, Buffer]
    room: int
    parts: int

    @staticmethod
    def of(scope: NestScope, part: ElementType, axes: Sequence[AxisTransform]) -> Memory:
        room = max(2 * axis.line.rows * axis.lanes for axis in axes)
        parts = max(axis.parts for axis in axes)
        if parts > 1:
            room += -room % (_APART // part.bytes)
        first, second = (scope.scratch(part, (parts * room,)) for _ in range(2))
        return Memory((first, second), room, parts)


@immutable
class AxisTransform:
    """Of `source`, into `target`, which may be the same."""

    scope: NestScope
    source: Buffer
    target: Buffer
    axis: int
    line: LineTransform

    @property
    def part(self) -> ElementType:
        """The type of real and imaginary parts."""
        own = self.source.type
        return own.component if own.is_complex else own

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.source.dimensions

    @property
    def is_last(self) -> bool:
        return self.axis == len(self.dimensions) - 1

    @property
    def beside(self) -> int | None:
        """The dimension that lanes count: the last one, whose elements are neighbours, or the
        longest one; None where there is no other."""
        last = len(self.dimensions) - 1
        if not self.is_last and self.dimensions[last] >= _FEWEST_LANES:
            return last
        others = [n for n in range(last + 1) if n != self.axis]
        return max(others, key=lambda n: (self.dimensions[n], n), default=None)

    @property
    def count(self) -> int:
        """How many lines there are beside each other."""
        return 1 if self.beside is None else self.dimensions[self.beside]

    @property
    def lanes(self) -> int:
        """As many as fill a cache line, or half of it where only then the rows stay near; one where
        a line has whole vectors of neighbouring butterflies of its own."""
        most = _LANE_BYTES // self.part.bytes
        vectors = self.scope.target.machine.vector_elements(self.part.bytes) > 1
        alone = self.is_last and self.line.length % (_FIRST_RADIX * most) == 0
        if not vectors or alone or self.count < _FEWEST_LANES:
            return 1
        row = 4 * _LANE_BYTES  # of real and imaginary parts, in both buffers
        if row * self.line.rows > _NEAR >= row // 2 * self.line.rows:
            most //= 2
        return min(most, 1 << (self.count - 1).bit_length())

    @property
    def blocks(self) -> int:
        return -(-self.count // self.lanes)

    @property
    def parts(self) -> int:
        """How many threads may share the blocks."""
        is_large = self.count * self.line.n >= _LEAST_SHARED
        return min(self.scope.target.machine.threads, self.blocks) if is_large else 1

    def emit(self, memory: Memory) -> None:
        b = self.scope.builder
        others = [d for n, d in enumerate(self.dimensions) if n not in (self.axis, self.beside)]
        with b.loops([*others, self.parts], "line") as (*outer, part):
            start = times(part, memory.room)
            rows = Rows(memory.buffers, start, self.line.rows, self.lanes)
            with turns_of(b, part, self.parts, self.blocks) as block:
                self._emit_block(tuple(outer), block, rows)

    def _emit_block(self, outer: Index, block: Expr, rows: Rows) -> None:
        b, lanes = self.scope.builder, self.lanes
        full, rest = divmod(self.count, lanes)
        lines = Lines(block, times(block, lanes), full, rest, self.is_last)

        def read(line: Any, at: Any) -> Any:
            value = b.let(b.load(self.source, self._place(outer, line.expr, at.expr)), "x")
            if not value.type.is_complex:
                return TracedValue(b, value)
            parts = (apply(name, value, type=self.part) for name in ("real", "imag"))
            return Complex(*(TracedValue(b, part) for part in parts))

        def write(line: Any, at: Any, value: Any) -> None:
            place = self._place(outer, line.expr, at.expr)
            if isinstance(value, Complex):
                both = value.re.expr, value.im.expr
                b.store(self.target, place, apply("complex", *both, type=self.target.type))
            else:
                b.store(self.target, place, value.expr)

        self.line.run(LoopWorkspace(self.scope, rows, lines), read, write)

    def _place(self, outer: Index, line: Expr, at: Expr) -> Index:
        rest = iter(outer)
        named = {self.axis: at, self.beside: line}
        return tuple(
            named[n] if n in named else next(rest) for n in range(len(self.dimensions))
        )
