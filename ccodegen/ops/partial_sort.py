"""The first k of a line in order, without sorting the rest of it.

Candidates are collected that come before the last of the best k so far. When no more of them fit,
they are sorted, and all but the first k are dropped. Most blocks of a line have no candidate, which
one look at their least key tells. The k-th of these keys, of blocks or of groups of them, is a
limit to begin with: k elements are not greater, so that few are candidates, however the line is
ordered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import INDEX, Buffer, Const, Expr, LoopKind
from ccodegen.ops.index import less, plus, times
from ccodegen.ops.line_sort import COMPARED, Order, line_sorter
from ccodegen.ops.line_sorter import key_word, line_memory
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_PRED, _S32 = ElementType.PRED, ElementType.S32
_LEAST_BLOCK, _MOST_BLOCK = 16, 256
_MOST_GROUPS = 256  # each is compared with all

# Nanoseconds, measured where vectors are 64 bytes.
_LOOKED = 0.06  # at an element
_PASSED = 5.0  # a block without candidates


@immutable
class Search:
    """Of the first k of n elements: how many are looked at together, and how many candidates there
    is room for."""

    n: int
    k: int

    @property
    def block(self) -> int:
        return min(_MOST_BLOCK, max(_LEAST_BLOCK, 1 << (self.n // 128).bit_length()))

    @property
    def blocks(self) -> int:
        """Behind the first k elements."""
        return -(-(self.n - self.k) // self.block)

    @property
    def group(self) -> int:
        """How many blocks."""
        return -(-self.blocks // _MOST_GROUPS)

    @property
    def groups(self) -> int:
        """Whole ones."""
        return self.blocks // self.group

    @property
    def room(self) -> int:
        return self.k + max(self.k, 2 * self.block)

    @property
    def has_limit(self) -> bool:
        """Whether there are groups enough for one to begin with."""
        return 2 * self.k <= self.groups

    def cost(self, sort_cost: Callable[[int], float]) -> float:
        """Nanoseconds, where a sort of so many elements takes `sort_cost`; infinite where there
        is nothing to search for, or among."""
        if not 0 < self.k < self.n:
            return math.inf
        look = _LOOKED * self.n + _PASSED * self.blocks
        if self.has_limit:
            return look + COMPARED * self.groups**2 + sort_cost(self.room)
        # In a line in no order, the i-th element is among the k least of the first i with
        # probability k / i.
        candidates = self.k * math.log(self.n / self.k)
        return look + (1 + math.ceil(candidates / (self.room - self.k))) * sort_cost(self.room)


class PartialSorter:
    """Emits the search of one line of n elements, where its cost is finite. Keys are of `bits` bits
    in a u32 or u64."""

    def __init__(self, scope: NestScope, search: Search, bits: int) -> None:
        self._builder: Builder = scope.builder
        self._search, k, room = search, search.k, search.room
        self._word = key_word(bits)
        self._keys, self._places = (line_memory(scope, t, (room,)) for t in (self._word, _S32))
        self._leasts = line_memory(scope, self._word, (search.blocks,))
        self._best_keys, self._best = (line_memory(scope, t, (k,)) for t in (self._word, _S32))
        by_key = Order(lambda a, b: less(a[0], b[0]), bits, lambda values: values[0])
        self._sorter = line_sorter(scope, room, (self._word, _S32), by_key)

    def sort(self, key: Callable[[Expr], Expr], write: Callable[[Expr, Expr], None]) -> None:
        """write(i, place) for the places of the elements with the k least keys, in order; of
        elements with one key the first comes first. `key(i)`: of an element."""
        b, search = self._builder, self._search
        last, count = self._first_candidates(key)
        with self._blocks() as (block, start, length):
            b.store(self._leasts, (block,), self._least(length, lambda i: key(plus(start, i))))
        if search.has_limit:
            self._limit(last)
        with self._blocks() as (block, start, length):
            with b.when(less(b.load(self._leasts, (block,)), b.load(last))):
                self._collect(key, start, length, last, count)
            is_full = less(index(search.room - search.block), b.load(count))
            is_last = compare("eq", block, index(search.blocks - 1))
            with b.when(apply("or", is_full, is_last)):
                self._keep_best(last, count)
        with b.loop(search.k, "i") as i:
            write(i, apply("convert", b.load(self._best, (i,)), type=INDEX))

    @contextmanager
    def _blocks(self) -> Iterator[tuple[Expr, Expr, Expr]]:
        """A loop over blocks: the number of one, its first element, and how many it has."""
        b, search = self._builder, self._search
        with b.loop(search.blocks, "block") as block:
            start = b.let(plus(times(block, search.block), index(search.k)), "start")
            left = apply("subtract", index(search.n), start)
            yield block, start, b.let(apply("minimum", left, index(search.block)), "length")

    def _limit(self, last: Buffer) -> None:
        """Lowers `last` to just above the k-th of the least keys of groups."""
        b, group, groups = self._builder, self._search.group, self._search.groups
        leasts, limit = self._leasts, b.variable(self._greatest, "limit")
        if group > 1:
            leasts = b.local(self._word, (groups,), "leasts")
            with b.loop(groups, "group") as number:
                first = times(number, group)
                least = self._least(index(group), lambda i: b.load(self._leasts, (plus(first, i),)))
                b.store(leasts, (number,), least)
        with b.loop(groups, "group") as number:
            own = b.let(b.load(leasts, (number,)), "own")
            count = b.variable(const(_S32, 0), "count")
            with b.loop(groups, "i") as i:
                is_greater = less(own, b.load(leasts, (i,)))
                one = apply("select", is_greater, const(_S32, 0), const(_S32, 1))
                b.store(count, (), apply("add", b.load(count), one))
            are_k = less(const(_S32, self._search.k - 1), b.load(count))
            least = apply("minimum", b.load(limit), own)
            b.store(limit, (), apply("select", are_k, least, b.load(limit)))
        above = apply("maximum", b.load(limit), apply("add", b.load(limit), const(self._word, 1)))
        b.store(last, (), apply("minimum", b.load(last), above))

    def _first_candidates(self, key: Callable[[Expr], Expr]) -> tuple[Buffer, Buffer]:
        """The first k elements; the greatest of their keys, and their number."""
        b = self._builder
        last = b.variable(const(self._word, 0), "last")
        with b.loop(self._search.k, "i") as i:
            found = b.let(key(i), "found")
            b.store(last, (), apply("maximum", b.load(last), found))
            self._put(i, found, i)
        return last, b.variable(index(self._search.k), "count")

    @property
    def _greatest(self) -> Const:
        return const(self._word, 2**self._word.bits - 1)

    def _least(self, length: Expr, key: Callable[[Expr], Expr]) -> Expr:
        """Of so many keys."""
        b = self._builder
        least = b.variable(self._greatest, "least")
        with b.loop(length, "i") as i:
            b.store(least, (), apply("minimum", b.load(least), key(i)))
        return b.load(least)

    def _collect(
        self,
        key: Callable[[Expr], Expr],
        start: Expr,
        length: Expr,
        last: Buffer,
        count: Buffer,
    ) -> None:
        """Adds the elements of a block that come before the last candidate that counts: all are
        written, but the others are written over."""
        b = self._builder
        with b.loop(length, "i") as i:
            place = b.let(plus(start, i), "place")
            found = b.let(key(place), "found")
            self._put(b.load(count), found, place)
            is_better = apply("convert", less(found, b.load(last)), type=INDEX)
            b.store(count, (), plus(b.load(count), is_better))

    def _keep_best(self, last: Buffer, count: Buffer) -> None:
        """Sorts the candidates and drops all but the first k."""
        b = self._builder

        def read(i: Expr) -> tuple[Expr, Expr]:
            there = b.let(less(i, b.load(count)), "there")
            return (
                apply("select", there, b.load(self._keys, (i,)), self._greatest),
                apply("select", there, b.load(self._places, (i,)), const(_S32, 0)),
            )

        def write(i: Expr, values: Sequence[Expr]) -> None:
            b.store(self._best_keys, (i,), values[0])
            b.store(self._best, (i,), values[1])

        self._sorter.sort(read, write, self._search.k)
        with b.loop(self._search.k, "i", LoopKind.VECTOR) as i:
            b.store(self._keys, (i,), b.load(self._best_keys, (i,)))
            b.store(self._places, (i,), b.load(self._best, (i,)))
        b.store(last, (), b.load(self._best_keys, (index(self._search.k - 1),)))
        b.store(count, (), index(self._search.k))

    def _put(self, at: Expr, key: Expr, place: Expr) -> None:
        self._builder.store(self._keys, (at,), key)
        self._builder.store(self._places, (at,), apply("convert", place, type=_S32))
