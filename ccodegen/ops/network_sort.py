"""A stable sort of very short lines, many side by side, so that it becomes vectors.

Neighbours that are in the wrong order change places, those at even places and those at odd ones by
turns; as many turns as a line has elements sort it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ccodegen.loop.builder import Builder, apply, compare, in_blocks, index
from ccodegen.loop.ir import Buffer, Expr, Index, LoopKind
from ccodegen.ops.line_sorter import Key, Values
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_LANES = 64

Read: TypeAlias = Callable[[Index, Expr], Values]  # of a line and a place in it
Write: TypeAlias = Callable[[Index, Expr, Values], None]


@immutable
class NetworkSort:
    """Of lines of `n` elements, two or more, with values of these types. `key(values)`: an unsigned
    integer `word` in whose order they come."""

    builder: Builder
    n: int
    types: Sequence[ElementType]
    word: ElementType
    key: Key
    read: Read
    write: Write

    def sort(self, lines: Sequence[int]) -> None:
        """All lines; those along the last of these dimensions side by side."""
        b, (*outer, count) = self.builder, lines
        with b.loops(outer, "line", LoopKind.PARALLEL) as before:
            in_blocks(b, count, _LANES, "block", partial(self._sort, before), LoopKind.PARALLEL)

    def _sort(self, before: Index, first: Expr, count: int) -> None:
        """So many lines."""
        b, n = self.builder, self.n
        keys = b.local(self.word, (n, count), "keys")
        values = [b.local(t, (n, count), "values") for t in self.types]
        with b.loop(n, "i") as i, b.loop(count, "l", LoopKind.VECTOR) as lane:
            read = [b.let(v, "value") for v in self.read(self._line(before, first, lane), i)]
            for buffer, value in zip((keys, *values), (self.key(read), *read), strict=True):
                b.store(buffer, (i, lane), value)
        with b.loop(-(-n // 2), "turn"):
            for start in range(2):
                with b.loop((n - start) // 2, "pair") as pair:
                    place = apply("add", apply("multiply", pair, index(2)), index(start))
                    with b.loop(count, "l", LoopKind.VECTOR) as lane:
                        self._exchange(keys, values, place, lane)
        with b.loop(n, "i") as i, b.loop(count, "l", LoopKind.VECTOR) as lane:
            sorted_values = [b.load(buffer, (i, lane)) for buffer in values]
            self.write(self._line(before, first, lane), i, sorted_values)

    @staticmethod
    def _line(before: Index, first: Expr, lane: Expr) -> Index:
        return (*before, apply("add", first, lane))

    def _exchange(
        self, keys: Buffer, values: Sequence[Buffer], place: Expr, lane: Expr
    ) -> None:
        """Puts an element and the next one of a line in order."""
        b, here, there = self.builder, (place, lane), (apply("add", place, index(1)), lane)
        loaded = [
            (b.let(b.load(buffer, here), "a"), b.let(b.load(buffer, there), "b"))
            for buffer in (keys, *values)
        ]
        (first, second), *_ = loaded
        wrong = b.let(compare("lt", second, first), "wrong")
        for buffer, (one, other) in zip((keys, *values), loaded, strict=True):
            b.store(buffer, here, apply("select", wrong, other, one))
            b.store(buffer, there, apply("select", wrong, one, other))
