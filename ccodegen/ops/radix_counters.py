"""Counters of a radix sort: how many elements have each digit, and then where the next one goes."""

from __future__ import annotations

from functools import partial

from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import INDEX, CallC, Expr, Index, LoopKind
from ccodegen.ops.index import plus, times
from ccodegen.ops.line_sorter import line_memory
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32
_APART = 16  # counters between the digits of a row and those of the next: a cache line
_LEAST_LANES = 4


class Counters:
    """Rows of counters of so many digits each.

    A count stands one place behind its digit, so that the running sums of a row are the places
    where the elements of each digit begin. Where there are vectors, several are summed at a time.
    """

    def __init__(
        self, scope: NestScope, rows: tuple[int, ...], digits: int, of_line: bool = False
    ) -> None:
        """`of_line`: no threads share them."""
        self._builder, self.rows, self._width = scope.builder, rows, digits + _APART
        memory = partial(line_memory, scope) if of_line else scope.scratch
        self._counts = memory(_U32, (*rows, self._width))
        self._places = memory(_U32, (*rows, self._width))
        self._both = self._counts, self._places  # which are not in use while elements are counted
        self._lanes = scope.target.machine.vector_elements(_U32.bytes)

    def clear(self, row: Index, digits: Expr, turns: int = 1) -> None:
        """No element has been counted of these digits, from the least on. `turns`: whether one or
        two take turns to count."""
        with self._builder.loop(plus(digits, 1), "d", LoopKind.VECTOR) as d:
            for counts in self._both[:turns]:
                self._builder.store(counts, (*row, d), const(_U32, 0))

    def add(self, row: Index, digit: Expr, turn: int = 0) -> None:
        """One more element has the digit. Where elements are counted in turns, one does not wait
        for the counter of the one before; `join` adds those of turn 1."""
        counts, at = self._both[turn], (*row, plus(digit, 1))
        more = apply("add", self._builder.load(counts, at), const(_U32, 1))
        self._builder.store(counts, at, more)

    def join(self, row: Index, digits: Expr) -> None:
        """All elements that were counted in turns count."""
        with self._builder.loop(plus(digits, 1), "d", LoopKind.VECTOR) as d:
            both = (self._builder.load(counts, (*row, d)) for counts in self._both)
            self._builder.store(self._counts, (*row, d), apply("add", *both))

    def count(self, row: Index, digit: Expr) -> Expr:
        return self._builder.load(self._counts, (*row, plus(digit, 1)))

    def begin_all(self, row: Index, digits: Expr, first: Expr) -> None:
        """Each digit's elements begin behind those of lesser ones, the least one's at `first`."""
        if self._lanes < _LEAST_LANES:
            self._begin_one_by_one(row, digits, first)
            return
        offset: Expr = index(0)
        for extent, place in zip((*self.rows, self._width), (*row, index(0)), strict=True):
            offset = plus(times(offset, extent), place)
        function = f"ccg_scan_add_u32_{self._lanes}"
        buffers = (self._places, self._counts)
        self._builder.emit(CallC(function, f"{function}.h", buffers, (offset, digits, first)))

    def _begin_one_by_one(self, row: Index, digits: Expr, first: Expr) -> None:
        b = self._builder
        total = b.variable(first, "total")
        with b.loop(digits, "d") as d:
            b.store(total, (), apply("add", b.load(total), b.load(self._counts, (*row, d))))
            self.begin(row, d, b.load(total))

    def begin(self, row: Index, digit: Expr, place: Expr) -> None:
        """A digit's elements begin there."""
        self._builder.store(self._places, (*row, digit), place)

    def place(self, row: Index, digit: Expr) -> Expr:
        """Where the digit's next element goes."""
        return self._builder.load(self._places, (*row, digit))

    def take(self, row: Index, digit: Expr) -> Expr:
        """That place, which is taken then."""
        b = self._builder
        place = b.let(self.place(row, digit), "place")
        self.begin(row, digit, apply("add", place, const(_U32, 1)))
        return apply("convert", place, type=INDEX)
