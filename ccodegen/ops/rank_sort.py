"""A stable sort of short lines by rank: an element's place is the number of those before it.

All keys are compared with each other, some at a time and without branches.
"""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.loop.builder import Builder, apply, compare, const, index, vector_kind
from ccodegen.loop.ir import INDEX, Buffer, Expr
from ccodegen.ops.index import plus, quotient, times
from ccodegen.ops.line_sorter import Key, Read, Write
from ccodegen.support.element_type import ElementType

_S32 = ElementType.S32
_GROUP = 4  # keys are compared with another one together
_BLOCK = 16  # keys are compared with another group together, at most


class RankSorter:
    """Emits the sort of one line of `n` elements. `key(values)`: an unsigned integer `word`."""

    def __init__(self, builder: Builder, n: int, word: ElementType, key: Key) -> None:
        self._builder, self._n, self._word, self._key = builder, n, word, key

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b, n = self._builder, self._n
        room = -(-n // _GROUP) * _GROUP
        keys = b.local(self._word, (room,), "keys")
        ranks = b.local(self._word, (room,), "ranks")
        with b.loop(n, "i", vector_kind(n)) as i:
            b.store(keys, (i,), self._key([b.let(v, "value") for v in read(i)]))
        with b.loop(room - n, "i") as i:
            greatest = const(self._word, 2**self._word.bits - 1)
            b.store(keys, (plus(i, index(n)),), greatest)
        whole, rest = divmod(room, _BLOCK)
        with b.loop(whole, "block") as block:
            self._rank(keys, ranks, times(block, _BLOCK), _BLOCK)
        if rest:
            self._rank(keys, ranks, index(whole * _BLOCK), rest)
        order = b.local(_S32, (n,), "order")
        with b.loop(n, "i") as i:
            rank = apply("convert", b.load(ranks, (i,)), type=INDEX)
            b.store(order, (rank,), apply("convert", i, type=_S32))
        with b.loop(kept, "i") as i:
            write(i, read(b.let(apply("convert", b.load(order, (i,)), type=INDEX), "place")))

    def _rank(self, keys: Buffer, ranks: Buffer, start: Expr, lanes: int) -> None:
        """Stores the ranks of so many keys from `start` on: of elements with one key the first
        comes first."""
        b, after = self._builder, plus(start, index(lanes))
        with b.loop(lanes, "lane", vector_kind(lanes)) as lane:
            b.store(ranks, (plus(start, lane),), const(self._word, 0))

        def count(first: Expr, extent: Expr, is_before: Callable[..., Expr]) -> None:
            """Adds how many of some keys are before each."""
            groups = quotient(extent, _GROUP)
            with b.loop(groups, "j") as group, b.loop(lanes, "lane", vector_kind(lanes)) as lane:
                own = plus(start, lane)
                total: Expr = b.load(ranks, (own,))
                for n in range(_GROUP):
                    j = plus(times(group, _GROUP), index(n))
                    pair = b.load(keys, (plus(first, j),)), b.load(keys, (own,))
                    total = apply("add", total, is_before(*pair, j, lane))
                b.store(ranks, (own,), total)

        count(index(0), start, lambda j, i, *_: self._compare("le", j, i))
        count(start, index(lanes), self._is_before)
        rest = apply("subtract", index(keys.size), after)
        count(after, rest, lambda j, i, *_: self._compare("lt", j, i))

    def _is_before(self, first: Expr, second: Expr, *at: Expr) -> Expr:
        """1 or 0, for two keys of a block and their places."""
        less, same = self._compare("lt", first, second), self._compare("eq", first, second)
        places = (apply("convert", place, type=self._word) for place in at)
        return apply("or", less, apply("and", same, self._compare("lt", *places)))

    def _compare(self, direction: str, a: Expr, b: Expr) -> Expr:
        """As a number, so that no compiler makes branches of it."""
        return apply("convert", compare(direction, a, b), type=self._word)
