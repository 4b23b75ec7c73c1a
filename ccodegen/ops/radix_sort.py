"""A stable radix sort of lines of values by an unsigned key, from the least digit to the greatest.

One reading counts the digits of all passes. A pass moves each element to where the counts say that
its digit's next one goes, and is left out where all elements have the same digit.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple, TypeAlias

from ccodegen.loop.builder import Builder, apply, compare, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, Index, LoopKind
from ccodegen.ops.index import divides, less, minus, plus, quotient, times
from ccodegen.ops.line_sorter import Key, Read, Values, Write, key_word
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_counters import Counters
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable
from ccodegen.target import Machine

_U32 = ElementType.U32
BLOCK = 256  # elements whose digits are computed together, in a loop without dependences


def room(n: int) -> int:
    """Of a line of n elements in memory: digits are computed of whole blocks."""
    return n + BLOCK if n > BLOCK else n


def finds_places_first(machine: Machine) -> bool:
    """Whether the places of a block's elements are found before any is moved: where the load of a
    counter waits until it is known where the last element went."""
    return not machine.has_wide_vectors


Block: TypeAlias = tuple[Expr, Expr]  # its first element, and the number of them


@immutable
class Span:
    """A part of a line: so many blocks from the first element on, as far as they come before
    `end`."""

    first: Expr
    end: Expr
    blocks: Expr


def span_of(first: Expr, end: Expr) -> Span:
    return Span(first, end, quotient(plus(minus(end, first), BLOCK - 1), BLOCK))


class Digit(NamedTuple):
    """Of keys: the bits from `shift` on, in so many `values`."""

    shift: Expr
    values: Expr


@immutable
class Radix:
    """`passes` over keys of `bits` bits, of which each takes one digit of `width` bits."""

    bits: int
    passes: int

    @property
    def word(self) -> ElementType:
        """The type of keys."""
        return key_word(self.bits)

    @property
    def width(self) -> int:
        return -(-self.bits // self.passes)

    @property
    def counters(self) -> int:
        """Of one pass."""
        return 1 << self.width

    def digit(self, p: Expr) -> Digit:
        """That of a pass."""
        return Digit(times(p, self.width), index(self.counters))


@immutable
class KeyedLine:
    """A line of `n` elements to sort. `buffers`: scratch memory [2, room(n)] for each value.

    `key(values)`: of type radix.word and below 2 ** radix.bits, the same each time.
    """

    n: int
    buffers: Sequence[Buffer]
    key: Key
    radix: Radix


class RadixSorter:
    """Emits the sort of one line."""

    reads_on = True
    """Whether what lies behind a block may be read: no thread writes there."""

    def __init__(self, scope: NestScope, line: KeyedLine, rows: int = 0) -> None:
        """`rows`: of counters; one for each pass if it is not said."""
        self._builder: Builder = scope.builder
        self._line, self._radix = line, line.radix
        count = rows or line.radix.passes
        self._places_first = finds_places_first(scope.target.machine)
        self._counters = Counters(scope, (count,), line.radix.counters, self.reads_on)

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        keys = b.local(self._radix.word, (BLOCK,), "keys")
        whole = span_of(index(0), index(self._line.n))
        read_all = functools.partial(self._read_and_store, read)
        end = self._sort_span(self._counters, (), whole, index(0), read_all, keys)
        with b.loop(kept, "i") as i:
            write(i, self._load(end, i))

    def _read_and_store(self, read: Read, at: Expr) -> Values:
        """Puts what is read into the lines."""
        values = [self._builder.let(v, "value") for v in read(at)]
        self._store(index(0), at, values)
        return values

    def _sort_span(
        self, counters: Counters, rows: Index, span: Span, side: Expr, read: Read, keys: Buffer
    ) -> Expr:
        """Sorts what lies on one side of the lines when it has been read, by as many of its lesser
        digits as there are rows of counters; on which side it lies then."""
        b = self._builder
        key = self._count_digits(counters, rows, span, read, keys)
        current = b.variable(side, "side")
        with b.loop(counters.rows[-1], "p") as p:
            row, digit = (*rows, p), self._radix.digit(p)
            found = self._as_index(self._digit(key, digit))
            with b.when(self._digits_differ(counters, row, digit, found, span)):
                source = b.let(b.load(current), "from")
                target = b.let(minus(index(1), source), "to")
                self._move_span(counters, row, digit, (source, target), span, keys)
                b.store(current, (), target)
        return b.let(b.load(current), "end")

    def _write_span(self, span: Span, side: Expr, write: Write, kept: int) -> None:
        """Those of the `kept` first places that are in the span."""
        b = self._builder
        with b.loop(minus(span.end, span.first), "i") as i:
            place = plus(span.first, i)
            is_kept = b.when(less(place, kept)) if kept < self._line.n else nullcontext()
            with is_kept:
                write(place, self._load(side, place))

    def _count_digits(
        self, counters: Counters, rows: Index, span: Span, read: Read, keys: Buffer
    ) -> Expr:
        """Those of as many passes as there are rows of counters; the key of some element."""
        b, passes = self._builder, counters.rows[-1]
        with b.loop(passes, "p") as p:
            counters.clear((*rows, p), index(self._radix.counters))
        with self._blocks(span) as (start, length):
            with b.loop(length, "k", LoopKind.VECTOR) as k:
                values = [b.let(v, "value") for v in read(plus(start, k))]
                b.store(keys, (k,), self._line.key(values))
            with b.loop(length, "k") as k:
                key = b.let(b.load(keys, (k,)), "key")
                for number in map(index, range(passes)):
                    digit = self._digit(key, self._radix.digit(number))
                    counters.add((*rows, number), self._as_index(digit))
        return b.let(b.load(keys, (index(0),)), "some")

    def _count_digit(
        self,
        counters: Counters,
        row: Index,
        digit: Digit,
        source: Expr,
        span: Span,
        keys: Buffer,
    ) -> Expr:
        """That of one pass; that of some element."""
        b = self._builder
        counters.clear(row, digit.values, turns=2)

        def add(k: Expr, turn: int) -> None:
            counters.add(row, self._as_index(b.load(keys, (k,))), turn)

        with self._blocks(span) as (start, length):
            self._find_digits(keys, digit, source, (start, length))
            with b.loop(quotient(length, 2), "pair") as pair:
                add(times(pair, 2), 0)
                add(plus(times(pair, 2), 1), 1)
            with b.when(apply("not", divides(2, length))):
                add(minus(length, 1), 0)
        counters.join(row, digit.values)
        return self._as_index(b.load(keys, (index(0),)))

    def _digits_differ(
        self, counters: Counters, row: Index, digit: Digit, found: Expr, span: Span
    ) -> Expr:
        """Whether not all elements have the digit that was found; it is known now where those of
        each digit begin."""
        start, size = (
            apply("convert", e, type=_U32) for e in (span.first, minus(span.end, span.first))
        )
        counters.begin_all(row, digit.values, start)
        return compare("lt", counters.count(row, found), size)

    def _move_span(
        self,
        counters: Counters,
        row: Index,
        digit: Digit,
        sides: tuple[Expr, Expr],
        span: Span,
        keys: Buffer,
    ) -> None:
        """From one side to the other, by one digit, to the places in that row of counters."""
        b, (source, target) = self._builder, sides
        with self._blocks(span) as (start, length):
            self._find_digits(keys, digit, source, (start, length))
            if self._places_first:
                with b.loop(length, "k") as k:
                    place = counters.take(row, self._as_index(b.load(keys, (k,))))
                    b.store(keys, (k,), apply("convert", place, type=self._radix.word))
            with b.loop(length, "k") as k:
                if self._places_first:
                    place = self._as_index(b.load(keys, (k,)), "place")
                else:
                    place = counters.take(row, self._as_index(b.load(keys, (k,))))
                self._store(target, place, self._load(source, plus(start, k)))

    def _find_digits(self, keys: Buffer, digit: Digit, source: Expr, block: Block) -> None:
        """Of the elements of a block, and of what lies behind those of the last one: compilers make
        less of a loop that is as long each time."""
        b, (start, length) = self._builder, block
        extent = index(min(BLOCK, self._line.n)) if self.reads_on else length
        with b.loop(extent, "k", LoopKind.VECTOR) as k:
            values = [b.let(v, "value") for v in self._load(source, plus(start, k))]
            b.store(keys, (k,), self._digit(self._line.key(values), digit))

    @contextmanager
    def _blocks(self, span: Span) -> Iterator[Block]:
        """A loop over the blocks of a span."""
        b = self._builder
        with b.loop(span.blocks, "block") as block:
            start = b.let(plus(span.first, times(block, BLOCK)), "start")
            count = b.let(apply("minimum", minus(span.end, start), index(BLOCK)), "count")
            yield start, count

    def _digit(self, key: Expr, digit: Digit) -> Expr:
        word = self._radix.word
        shift = apply("convert", digit.shift, type=word)
        largest = apply("convert", minus(digit.values, 1), type=word)
        return apply("and", apply("shift-right-logical", key, shift), largest)

    def _as_index(self, number: Expr, name: str = "digit") -> Expr:
        """A digit, or a place, as an index."""
        return self._builder.let(apply("convert", number, type=INDEX), name)

    def _load(self, side: Expr, at: Expr) -> list[Expr]:
        return [self._builder.load(buffer, (side, at)) for buffer in self._line.buffers]

    def _store(self, side: Expr, at: Expr, values: Values) -> None:
        for buffer, value in zip(self._line.buffers, values, strict=True):
            self._builder.store(buffer, (side, at), value)
