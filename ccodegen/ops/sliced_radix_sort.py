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
from collections.abc import Iterator
from contextlib import contextmanager

from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import Buffer, Expr, LoopKind
from ccodegen.ops.index import at_least, less, minus, plus, quotient, times
from ccodegen.ops.line_sorter import Read, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_buckets import Buckets, takes_buckets
from ccodegen.ops.radix_counters import Counters
from ccodegen.ops.radix_sort import BLOCK, KeyedLine, RadixSorter, Span, span_of
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32


class SlicedRadixSorter(RadixSorter):
    """Emits the sort of one line in `slices` slices, or fewer."""

    reads_on = False

    def __init__(self, scope: NestScope, line: KeyedLine, slices: int) -> None:
        self._blocks_in_all = -(-line.n // BLOCK)
        self._blocks_each = -(-self._blocks_in_all // slices)
        self._slices = -(-self._blocks_in_all // self._blocks_each)
        super().__init__(scope, line, self._slices)
        self._last = line.radix.passes - 1
        self._buckets = Buckets(scope, line) if takes_buckets(line.n, line.radix) else None
        if self._buckets:
            rows = self._slices, self._last
            self._bucket_counters = Counters(scope, rows, line.radix.counters)

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        with b.loop(self._line.n, "i", LoopKind.PARALLEL) as i:
            self._read_and_store(read, i)
        side = b.variable(index(0), "side")
        if self._buckets is None:
            with b.loop(self._radix.passes, "p") as p:
                self._pass(p, side)
            self._write_all(b.load(side), write, kept)
            return
        parted = b.variable(const(_U32, 0), "parted")
        is_whole = compare("eq", b.load(parted), const(_U32, 0))
        with b.loop(1 + self._radix.passes, "step") as step, b.when(is_whole):
            is_first = compare("eq", step, index(0))
            p = b.let(apply("select", is_first, index(self._last), minus(step, 1)), "p")
            self._pass(p, side, is_first)
            moved = compare("ne", b.load(side), index(0))
            with b.when(apply("and", is_first, moved)):
                b.store(parted, (), const(_U32, 1))
        with b.when(is_whole):
            self._write_all(b.load(side), write, kept)
        with b.otherwise():
            self._sort_buckets(self._buckets, write, kept)

    def _pass(self, p: Expr, side: Buffer, is_first: Expr | None = None) -> None:
        """By one digit, from the side where the elements lie to the other one, where it pays; the
        first time, only if buckets do."""
        b = self._builder
        source = b.let(b.load(side), "from")
        self._count_pass(p, source)
        pays = b.variable(self._place_slices(), "pays")
        if self._buckets and is_first:
            with b.when(is_first):
                b.store(pays, (), self._buckets.pay())
        with b.when(b.load(pays)):
            target = b.let(minus(index(1), source), "to")
            self._move_pass(p, source, target)
            b.store(side, (), target)

    def _write_all(self, side: Expr, write: Write, kept: int) -> None:
        end = self._builder.let(side, "end")
        with self._builder.loop(kept, "i", LoopKind.PARALLEL) as i:
            write(i, self._load(end, i))

    def _sort_buckets(self, buckets: Buckets, write: Write, kept: int) -> None:
        """A slice takes the buckets that have their middle in it."""
        b = self._builder
        with self._slice() as (part, keys, here):
            next_slice = plus(here.first, BLOCK * self._blocks_each)
            with b.loop(buckets.count, "bucket") as d:
                start, stop = buckets.bounds(d)
                middle = b.let(quotient(plus(start, stop), 2), "middle")
                is_here = apply("and", at_least(middle, here.first), less(middle, next_slice))
                with b.when(apply("and", less(start, stop), is_here)):
                    self._sort_bucket(part, start, stop, keys, write, kept)

    def _sort_bucket(
        self, part: Expr, start: Expr, stop: Expr, keys: Buffer, write: Write, kept: int
    ) -> None:
        bucket, side = span_of(start, stop), index(1)
        read = functools.partial(self._load, side)
        end = self._sort_span(self._bucket_counters, (part,), bucket, side, read, keys)
        self._write_span(bucket, end, write, kept)

    def _count_pass(self, p: Expr, source: Expr) -> None:
        with self._slice() as (part, keys, here):
            self._count_digit(self._counters, (part,), self._radix.digit(p), source, here, keys)

    def _move_pass(self, p: Expr, source: Expr, target: Expr) -> None:
        with self._slice() as (part, keys, here):
            digit = self._radix.digit(p)
            self._move_span(self._counters, (part,), digit, (source, target), here, keys)

    def _place_slices(self) -> Expr:
        """Counts become the places of the first element of each digit in each slice; whether it is
        not one digit that all elements have."""
        b, zero = self._builder, const(_U32, 0)
        total, largest = b.variable(zero, "total"), b.variable(zero, "largest")
        with b.loop(self._radix.counters, "d") as d:
            before = b.let(b.load(total), "before")
            with b.loop(self._slices, "slice") as part:
                count = b.let(self._counters.count((part,), d), "count")
                self._counters.begin((part,), d, b.load(total))
                b.store(total, (), apply("add", b.load(total), count))
            own = b.let(apply("subtract", b.load(total), before), "own")
            b.store(largest, (), apply("maximum", b.load(largest), own))
            if self._buckets:
                self._buckets.begin(d, before)
        if self._buckets:
            self._buckets.end()
        return compare("lt", b.load(largest), const(_U32, self._line.n))

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
