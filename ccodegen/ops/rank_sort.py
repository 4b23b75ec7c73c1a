"""A stable sort of short lines by rank: an element's place is the number of those before it.

All keys are compared with each other, some at a time and without branches.
"""

from __future__ import annotations

from ccodegen.loop.builder import Builder, apply, compare, const, index, vector_kind
from ccodegen.loop.ir import INDEX, Buffer, Expr
from ccodegen.ops.line_sorter import Key, Read, Write
from ccodegen.support.element_type import ElementType

_LANES = 4  # keys are compared with so many others at least


class RankSorter:
    """Emits the sort of one line of `n` elements. `key(values)`: an unsigned integer `word`."""

    def __init__(self, builder: Builder, n: int, word: ElementType, key: Key) -> None:
        self._builder, self._n, self._word, self._key = builder, n, word, key

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b, n, lanes = self._builder, self._n, -(-self._n // _LANES) * _LANES
        keys = b.local(self._word, (lanes,), "keys")
        ranks = b.local(self._word, (lanes,), "ranks")
        with b.loop(lanes, "i", vector_kind(lanes)) as i:
            b.store(keys, (i,), const(self._word, 0))
            b.store(ranks, (i,), const(self._word, 0))
        with b.loop(n, "i", vector_kind(n)) as i:
            b.store(keys, (i,), self._key([b.let(v, "value") for v in read(i)]))
        with b.loop(n, "j") as j, b.loop(lanes, "i", vector_kind(lanes)) as i:
            more = apply("add", b.load(ranks, (i,)), self._is_before(keys, j, i))
            b.store(ranks, (i,), more)
        with b.loop(n, "i") as i:
            rank = b.let(apply("convert", b.load(ranks, (i,)), type=INDEX), "rank")
            with b.when(compare("lt", rank, index(kept))):
                write(rank, read(i))

    def _is_before(self, keys: Buffer, j: Expr, i: Expr) -> Expr:
        """1 or 0. Of elements with one key the first comes first."""
        b = self._builder
        first, second = b.load(keys, (j,)), b.load(keys, (i,))
        less, same = self._compare("lt", first, second), self._compare("eq", first, second)
        places = (apply("convert", place, type=self._word) for place in (j, i))
        return apply("or", less, apply("and", same, self._compare("lt", *places)))

    def _compare(self, direction: str, a: Expr, b: Expr) -> Expr:
        """As a number, so that no compiler makes branches of it."""
        return apply("convert", compare(direction, a, b), type=self._word)
