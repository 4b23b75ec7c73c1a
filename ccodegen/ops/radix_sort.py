"""A stable radix sort of lines of values by an unsigned key, from the least digit to the greatest.

One reading counts the digits of all passes. A pass moves each element to where the counts say that
its digit's next one goes, and is left out where all elements have the same digit.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, LoopKind
from ccodegen.ops.index import plus, times
from ccodegen.ops.line_sorter import Key, Read, Values, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32
BLOCK = 256  # elements whose digits are computed together, in a loop without dependences


Block: TypeAlias = tuple[Expr, Expr]  # its first element, and the number of them


@dataclass(frozen=True)
class Radix:
    """`passes` over keys of `bits` bits, of which each takes one digit of `width` bits."""

    bits: int
    passes: int

    @property
    def word(self) -> ElementType:
        """The type of keys."""
        return ElementType.U32 if self.bits <= 32 else ElementType.U64

    @property
    def width(self) -> int:
        return -(-self.bits // self.passes)

    @property
    def counters(self) -> int:
        """Of one pass."""
        return 1 << self.width


@dataclass(frozen=True)
class KeyedLine:
    """A line of `n` elements to sort. `buffers`: scratch memory [2, n] for each value.

    `key(values)`: of type radix.word and below 2 ** radix.bits, the same each time.
    """

    n: int
    buffers: Sequence[Buffer]
    key: Key
    radix: Radix

    @property
    def blocks(self) -> int:
        return -(-self.n // BLOCK)


class RadixSorter:
    """Emits the sort of one line."""

    def __init__(self, scope: NestScope, line: KeyedLine, rows: int = 0) -> None:
        """`rows`: of counters; one for each pass if it is not said."""
        self._builder: Builder = scope.builder
        self._line, self._radix = line, line.radix
        self._counts = scope.scratch(_U32, (rows or line.radix.passes, line.radix.counters))

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        keys = b.local(self._radix.word, (BLOCK,), "keys")
        self._count_digits(read, keys)
        side = b.variable(index(0), "side")
        with b.loop(self._radix.passes, "p") as p, b.when(self._digits_differ(p)):
            source = b.let(b.load(side), "from")
            target = b.let(apply("subtract", index(1), source), "to")
            with self._blocks(index(0), self._line.blocks) as block:
                self._find_digits(keys, p, block, functools.partial(self._load, source))
                self._move(p, (source, target), keys, block)
            b.store(side, (), target)
        with b.loop(kept, "i") as i:
            write(i, self._load(b.load(side), i))

    def _count_digits(self, read: Read, keys: Buffer) -> None:
        """Also puts what is read into the lines."""
        b, passes = self._builder, range(self._radix.passes)
        with b.loops((self._radix.passes, self._radix.counters), "d") as at:
            b.store(self._counts, at, const(_U32, 0))
        with self._blocks(index(0), self._line.blocks) as (start, length):
            with b.loop(length, "k", LoopKind.VECTOR) as k:
                place = apply("add", start, k)
                values = [b.let(v, "value") for v in read(place)]
                self._store(index(0), place, values)
                b.store(keys, (k,), self._line.key(values))
            with b.loop(length, "k") as k:
                key = b.let(b.load(keys, (k,)), "key")
                for number in passes:
                    self._next_place(index(number), self._digit(key, index(number)))

    def _digits_differ(self, p: Expr) -> Expr:
        """Counts become the places of the first element of each digit; whether it is not one digit
        that all elements have."""
        b = self._builder
        total, largest = b.variable(const(_U32, 0), "total"), b.variable(const(_U32, 0), "largest")
        with b.loop(self._radix.counters, "d") as d:
            count = b.let(b.load(self._counts, (p, d)), "count")
            b.store(self._counts, (p, d), b.load(total))
            b.store(total, (), apply("add", b.load(total), count))
            b.store(largest, (), apply("maximum", b.load(largest), count))
        return self._is_less_than_all(b.load(largest))

    def _is_less_than_all(self, count: Expr) -> Expr:
        return compare("lt", count, const(_U32, self._line.n))

    def _find_digits(self, keys: Buffer, p: Expr, block: Block, read: Read) -> None:
        """Of the elements of a block."""
        b, (start, length) = self._builder, block
        with b.loop(length, "k", LoopKind.VECTOR) as k:
            values = [b.let(v, "value") for v in read(apply("add", start, k))]
            b.store(keys, (k,), self._digit(self._line.key(values), p))

    def _move(self, row: Expr, sides: tuple[Expr, Expr], keys: Buffer, block: Block) -> None:
        """The elements of a block with these digits, to the places in that row of counters."""
        b, (start, length), (source, target) = self._builder, block, sides
        with b.loop(length, "k") as k:
            place = self._next_place(row, b.load(keys, (k,)))
            values = self._load(source, apply("add", start, k))
            self._store(target, apply("convert", place, type=INDEX), values)

    @contextmanager
    def _blocks(self, first: Expr, count: int) -> Iterator[Block]:
        """A loop over so many blocks, the first of which has this number, as far as there are."""
        b = self._builder
        left = apply("subtract", index(self._line.blocks), first)
        with b.loop(apply("minimum", left, index(count)), "block") as block:
            start = b.let(times(plus(first, block), BLOCK), "start")
            left = apply("subtract", index(self._line.n), start)
            yield start, apply("minimum", left, index(BLOCK))

    def _digit(self, key: Expr, p: Expr) -> Expr:
        word, width = self._radix.word, self._radix.width
        shift = apply("convert", apply("multiply", p, index(width)), type=word)
        digits = apply("shift-right-logical", key, shift)
        return apply("and", digits, const(word, self._radix.counters - 1))

    def _next_place(self, row: Expr, digit: Expr) -> Expr:
        """The counter of a digit, which then counts one more."""
        b = self._builder
        at = (row, b.let(apply("convert", digit, type=INDEX), "digit"))
        place = b.let(b.load(self._counts, at), "place")
        b.store(self._counts, at, apply("add", place, const(_U32, 1)))
        return place

    def _load(self, side: Expr, at: Expr) -> list[Expr]:
        return [self._builder.load(buffer, (side, at)) for buffer in self._line.buffers]

    def _store(self, side: Expr, at: Expr, values: Values) -> None:
        for buffer, value in zip(self._line.buffers, values, strict=True):
            self._builder.store(buffer, (side, at), value)
