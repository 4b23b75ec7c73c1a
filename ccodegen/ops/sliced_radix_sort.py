"""A radix sort that threads share: each takes slices of the line.

Before a pass every slice counts its digits. An element's place follows from how many in the line
have a lesser digit, and how many in the slices before have the same one, so that the slices move
their elements independently, and to the places that one thread would find.

Long lines begin with the greatest digit. Elements that have the same one lie side by side then, and
each such bucket is sorted by the lesser digits on its own: without counting before each pass, and
by one core, where two that are far from each other take long to exchange what they have moved.
Where most are in one bucket, or buckets are small, slices go on with the least digit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, LoopKind
from ccodegen.ops.index import at_least, less, minus, plus, quotient, times
from ccodegen.ops.line_sorter import Read, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_sort import BLOCK, KeyedLine, RadixSorter, Span, span_of
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32
_ELEMENTS = 2  # of a bucket for each of its counters, that these are worth clearing
_LEAST_BUCKETS = 128  # so many of a line; floats whose sizes differ little have some more
_LARGEST = 0.6  # of a line: the largest bucket, for which threads are not idle too long


class _Digits(NamedTuple):
    """Of a line: how many elements have the most frequent one, and how many digits there are, if
    there may be buckets."""

    largest: Expr
    used: Expr


class SlicedRadixSorter(RadixSorter):
    """Emits the sort of one line in `slices` slices, or fewer."""

    def __init__(self, scope: NestScope, line: KeyedLine, slices: int) -> None:
        self._blocks_in_all = -(-line.n // BLOCK)
        self._blocks_each = -(-self._blocks_in_all // slices)
        self._slices = -(-self._blocks_in_all // self._blocks_each)
        super().__init__(scope, line, self._slices)
        counters, self._last = line.radix.counters, line.radix.passes - 1
        least = _ELEMENTS * counters * _LEAST_BUCKETS
        self._takes_buckets = self._last > 0 and line.n >= least
        if self._takes_buckets:
            self._starts = scope.scratch(_U32, (counters + 1,))
            self._bucket_counts = scope.scratch(_U32, (self._slices, self._last, counters))

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        with b.loop(self._line.n, "i", LoopKind.PARALLEL) as i:
            self._read_and_store(read, i)
        side = b.variable(index(0), "side")
        if not self._takes_buckets:
            with b.loop(self._radix.passes, "p") as p:
                self._pass(p, side, self._differ)
            self._write_all(b.load(side), write, kept)
            return
        parted = b.variable(const(_U32, 0), "parted")
        is_whole = compare("eq", b.load(parted), const(_U32, 0))
        with b.loop(1 + self._radix.passes, "step") as step, b.when(is_whole):
            is_first = compare("eq", step, index(0))
            p = b.let(apply("select", is_first, index(self._last), minus(step, 1)), "p")

            def pays(digits: _Digits) -> Expr:
                return apply("select", is_first, self._part_well(digits), self._differ(digits))

            self._pass(p, side, pays)
            moved = compare("ne", b.load(side), index(0))
            with b.when(apply("and", is_first, moved)):
                b.store(parted, (), const(_U32, 1))
        with b.when(is_whole):
            self._write_all(b.load(side), write, kept)
        with b.otherwise():
            self._sort_buckets(write, kept)

    def _pass(self, p: Expr, side: Buffer, pays: Callable[[_Digits], Expr]) -> None:
        """By one digit, from the side where the elements lie to the other one, where it pays."""
        b = self._builder
        source = b.let(b.load(side), "from")
        self._count_pass(p, source)
        with b.when(pays(self._place_slices())):
            target = b.let(minus(index(1), source), "to")
            self._move_pass(p, source, target)
            b.store(side, (), target)

    def _differ(self, digits: _Digits) -> Expr:
        return compare("lt", digits.largest, const(_U32, self._line.n))

    def _part_well(self, digits: _Digits) -> Expr:
        """Whether buckets pay."""
        n, clearing = self._line.n, _ELEMENTS * self._radix.counters
        even = compare("le", digits.largest, const(_U32, int(_LARGEST * n)))
        few = compare("le", digits.used, const(_U32, n // max(1, clearing)))
        return apply("and", even, few)

    def _write_all(self, side: Expr, write: Write, kept: int) -> None:
        end = self._builder.let(side, "end")
        with self._builder.loop(kept, "i", LoopKind.PARALLEL) as i:
            write(i, self._load(end, i))

    def _sort_buckets(self, write: Write, kept: int) -> None:
        """A slice takes the buckets that have their middle in it."""
        b = self._builder
        with self._slice() as (part, keys, here):
            next_slice = plus(here.first, BLOCK * self._blocks_each)
            with b.loop(self._radix.counters, "bucket") as d:
                start, stop = self._start(d), self._start(plus(d, 1))
                middle = b.let(quotient(plus(start, stop), 2), "middle")
                is_here = apply("and", at_least(middle, here.first), less(middle, next_slice))
                with b.when(apply("and", less(start, stop), is_here)):
                    self._sort_bucket(part, start, stop, keys, write, kept)

    def _sort_bucket(
        self, part: Expr, start: Expr, stop: Expr, keys: Buffer, write: Write, kept: int
    ) -> None:
        b, side = self._builder, index(1)
        read = functools.partial(self._load, side)
        bucket = span_of(start, stop)
        end = self._sort_span(self._bucket_counts, (part,), bucket, side, read, keys)
        with b.loop(minus(stop, start), "i") as i:
            place = plus(start, i)
            with self._if_kept(place, kept):
                write(place, self._load(end, place))

    def _if_kept(self, place: Expr, kept: int) -> AbstractContextManager[None]:
        return self._builder.when(less(place, kept)) if kept < self._line.n else nullcontext()

    def _start(self, digit: Expr) -> Expr:
        """Where elements with this digit begin, and those with a lesser one end."""
        start = self._builder.load(self._starts, (digit,))
        return self._builder.let(apply("convert", start, type=INDEX), "start")

    def _count_pass(self, p: Expr, source: Expr) -> None:
        b, read = self._builder, functools.partial(self._load, source)
        with self._slice() as (part, keys, here):
            with b.loop(self._radix.counters, "d", LoopKind.VECTOR) as d:
                b.store(self._counts, (part, d), const(_U32, 0))
            with self._blocks(here) as block:
                self._find_digits(keys, p, block, read)
                with b.loop(block[1], "k") as k:
                    self._next_place(self._counts, (part,), b.load(keys, (k,)))

    def _move_pass(self, p: Expr, source: Expr, target: Expr) -> None:
        with self._slice() as (part, keys, here), self._blocks(here) as block:
            self._find_digits(keys, p, block, functools.partial(self._load, source))
            self._move(self._counts, (part,), (source, target), keys, block)

    def _place_slices(self) -> _Digits:
        """Counts become the places of the first element of each digit in each slice."""
        b, zero = self._builder, const(_U32, 0)
        total, largest = b.variable(zero, "total"), b.variable(zero, "largest")
        used = b.variable(zero, "used") if self._takes_buckets else None
        with b.loop(self._radix.counters, "d") as d:
            before = b.let(b.load(total), "before")
            with b.loop(self._slices, "slice") as part:
                count = b.let(b.load(self._counts, (part, d)), "count")
                b.store(self._counts, (part, d), b.load(total))
                b.store(total, (), apply("add", b.load(total), count))
            own = b.let(apply("subtract", b.load(total), before), "own")
            b.store(largest, (), apply("maximum", b.load(largest), own))
            if used:
                b.store(self._starts, (d,), before)
                is_used = apply("convert", compare("ne", own, zero), type=_U32)
                b.store(used, (), apply("add", b.load(used), is_used))
        if used:
            b.store(self._starts, (index(self._radix.counters),), b.load(total))
        return _Digits(b.load(largest), b.load(used) if used else zero)

    @contextmanager
    def _slice(self) -> Iterator[tuple[Expr, Buffer, Span]]:
        """A loop over slices: the number, room for the digits of a block, and what the slice is
        of the line."""
        b = self._builder
        with b.loop(self._slices, "slice", LoopKind.APART) as part:
            keys = b.local(self._radix.word, (BLOCK,), "keys")
            left = minus(index(self._blocks_in_all), times(part, self._blocks_each))
            blocks = apply("minimum", left, index(self._blocks_each))
            first = times(part, BLOCK * self._blocks_each)
            yield part, keys, Span(first, index(self._line.n), blocks)
