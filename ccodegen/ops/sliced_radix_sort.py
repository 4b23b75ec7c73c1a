"""A radix sort that threads share: each takes slices of the line.

Before a pass every slice counts its digits. An element's place follows from how many in the line
have a lesser digit, and how many in the slices before have the same one, so that the slices move
their elements independently, and to the places that one thread would find.

Long lines begin with the greatest digit. Elements that have the same one lie side by side then, and
each such bucket is sorted by the lesser digits on its own, without counting before each pass. Where
most are in one bucket, slices begin again with the least digit.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, LoopKind
from ccodegen.ops.index import at_least, less, minus, plus, quotient, times
from ccodegen.ops.line_sorter import Read, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_sort import BLOCK, KeyedLine, RadixSorter, Span, span_of
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32
_ELEMENTS = 3  # of a bucket for each of its counters, that these are worth clearing
_LARGEST = 0.6  # of a line: the largest bucket, for which threads are not idle too long


class SlicedRadixSorter(RadixSorter):
    """Emits the sort of one line in `slices` slices, or fewer."""

    def __init__(self, scope: NestScope, line: KeyedLine, slices: int) -> None:
        self._blocks_in_all = -(-line.n // BLOCK)
        self._blocks_each = -(-self._blocks_in_all // slices)
        self._slices = -(-self._blocks_in_all // self._blocks_each)
        super().__init__(scope, line, self._slices)
        counters, self._last = line.radix.counters, line.radix.passes - 1
        self._takes_buckets = self._last > 0 and line.n >= _ELEMENTS * counters * counters
        if self._takes_buckets:
            self._starts = scope.scratch(_U32, (counters + 1,))
            self._bucket_counts = scope.scratch(_U32, (self._slices, self._last, counters))

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b, greatest = self._builder, index(self._last)
        read_all = functools.partial(self._read_and_store, read)
        if not self._takes_buckets:
            self._sort_slices(read_all, write, kept)
            return
        self._count_pass(greatest, read_all)
        limit = const(_U32, int(_LARGEST * self._line.n))
        with b.when(compare("le", self._place_slices(), limit)):
            self._move_pass(greatest, index(0), index(1))
            self._sort_buckets(write, kept)
        with b.otherwise():
            self._sort_slices(functools.partial(self._load, index(0)), write, kept)

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

    def _sort_slices(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        self._count_pass(index(0), read)
        side = b.variable(index(0), "side")
        with b.loop(self._radix.passes, "p") as p:
            source = b.let(b.load(side), "from")
            with b.when(compare("lt", self._place_slices(), const(_U32, self._line.n))):
                target = b.let(minus(index(1), source), "to")
                self._move_pass(p, source, target)
                b.store(side, (), target)
            with b.when(less(p, self._last)):
                following = b.let(b.load(side), "here")
                self._count_pass(plus(p, 1), functools.partial(self._load, following))
        end = b.let(b.load(side), "end")
        with b.loop(kept, "i", LoopKind.PARALLEL) as i:
            write(i, self._load(end, i))

    def _count_pass(self, p: Expr, read: Read) -> None:
        b = self._builder
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

    def _place_slices(self) -> Expr:
        """Counts become the places of the first element of each digit in each slice; of how many
        elements the most frequent digit is."""
        b = self._builder
        total, largest = b.variable(const(_U32, 0), "total"), b.variable(const(_U32, 0), "largest")
        with b.loop(self._radix.counters, "d") as d:
            before = b.let(b.load(total), "before")
            if self._takes_buckets:
                b.store(self._starts, (d,), before)
            with b.loop(self._slices, "slice") as part:
                count = b.let(b.load(self._counts, (part, d)), "count")
                b.store(self._counts, (part, d), b.load(total))
                b.store(total, (), apply("add", b.load(total), count))
            own = apply("subtract", b.load(total), before)
            b.store(largest, (), apply("maximum", b.load(largest), own))
        if self._takes_buckets:
            b.store(self._starts, (index(self._radix.counters),), b.load(total))
        return b.load(largest)

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
