"""A radix sort whose passes threads share: each takes slices of the line.

Before a pass every slice counts its digits. An element's place follows from how many in the line
have a lesser digit, and how many in the slices before have the same one, so that the slices move
their elements independently, and to the places that one thread would find.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import Buffer, Expr, LoopKind
from ccodegen.ops.index import less, minus, plus, times
from ccodegen.ops.line_sorter import Read, Values, Write
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_sort import BLOCK, Block, KeyedLine, RadixSorter
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32


class SlicedRadixSorter(RadixSorter):
    """Emits the sort of one line in `slices` slices, or fewer."""

    def __init__(self, scope: NestScope, line: KeyedLine, slices: int) -> None:
        self._blocks_each = -(-line.blocks // slices)
        self._slices = -(-line.blocks // self._blocks_each)
        super().__init__(scope, line, self._slices)

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b, last = self._builder, self._radix.passes - 1

        def read_and_store(i: Expr) -> Values:
            values = [b.let(v, "value") for v in read(i)]
            self._store(index(0), i, values)
            return values

        self._count_pass(index(0), read_and_store)
        side = b.variable(index(0), "side")
        with b.loop(self._radix.passes, "p") as p:
            source = b.let(b.load(side), "from")
            with b.when(self._digits_differ(p)):
                target = b.let(minus(index(1), source), "to")
                self._move_pass(p, source, target)
                b.store(side, (), target)
            with b.when(less(p, last)):
                following = b.let(b.load(side), "here")
                self._count_pass(plus(p, 1), functools.partial(self._load, following))
        end = b.let(b.load(side), "end")
        with b.loop(kept, "i", LoopKind.PARALLEL) as i:
            write(i, self._load(end, i))

    def _count_pass(self, p: Expr, read: Read) -> None:
        b = self._builder
        with self._slice() as (part, keys, blocks):
            with b.loop(self._radix.counters, "d", LoopKind.VECTOR) as d:
                b.store(self._counts, (part, d), const(_U32, 0))
            with blocks as block:
                self._find_digits(keys, p, block, read)
                with b.loop(block[1], "k") as k:
                    self._next_place(part, b.load(keys, (k,)))

    def _move_pass(self, p: Expr, source: Expr, target: Expr) -> None:
        with self._slice() as (part, keys, blocks), blocks as block:
            self._find_digits(keys, p, block, functools.partial(self._load, source))
            self._move(part, (source, target), keys, block)

    def _digits_differ(self, p: Expr) -> Expr:
        """Counts become the places of the first element of each digit in each slice; whether it is
        not one digit that all elements have."""
        b = self._builder
        total, largest = b.variable(const(_U32, 0), "total"), b.variable(const(_U32, 0), "largest")
        with b.loop(self._radix.counters, "d") as d:
            before = b.let(b.load(total), "before")
            with b.loop(self._slices, "slice") as part:
                count = b.let(b.load(self._counts, (part, d)), "count")
                b.store(self._counts, (part, d), b.load(total))
                b.store(total, (), apply("add", b.load(total), count))
            own = apply("subtract", b.load(total), before)
            b.store(largest, (), apply("maximum", b.load(largest), own))
        return self._is_less_than_all(b.load(largest))

    @contextmanager
    def _slice(self) -> Iterator[tuple[Expr, Buffer, AbstractContextManager[Block]]]:
        """A loop over slices: the number, room for the digits of a block, and a loop over the
        blocks of the slice."""
        b = self._builder
        with b.loop(self._slices, "slice", LoopKind.APART) as part:
            keys = b.local(self._radix.word, (BLOCK,), "keys")
            first = times(part, self._blocks_each)
            yield part, keys, self._blocks(first, self._blocks_each)
