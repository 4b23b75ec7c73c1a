"""A stable bottom-up merge sort of lines of values by any comparator, even one that is no order.

Runs of 1, 2, 4, … elements are merged; an element of the right run goes first only if it is less
than that of the left run. Reference and lowering make the same comparisons in the same order, so
that they agree even where the comparator is no order (NaN).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import Buffer, Expr
from ccodegen.ops.fold import Array, Arrays
from ccodegen.ops.line_sorter import Less, Read, Values, Write
from ccodegen.support.element_type import ElementType


def sorting_permutation(values: Arrays, less: Callable[[Arrays, Arrays], Array]) -> Array:
    """The indices that sort arrays [lines, n] along their last axis, all lines at once."""
    lines, n = values[0].shape
    order = np.broadcast_to(np.arange(n), (lines, n)).copy()
    width = 1
    while width < n:
        order = _merged_runs(order, width, values, less)
        width *= 2
    return order


def _merged_runs(
    order: Array, width: int, values: Arrays, less: Callable[[Arrays, Arrays], Array]
) -> Array:
    lines, n = order.shape
    starts = np.arange(0, n, 2 * width)
    middle, end = np.minimum(starts + width, n), np.minimum(starts + 2 * width, n)
    left = np.broadcast_to(starts, (lines, len(starts))).copy()
    right = np.broadcast_to(middle, left.shape).copy()
    merged = np.empty_like(order)
    line = np.arange(lines)[:, None]
    for turn in range(2 * width):
        first = order[line, np.minimum(left, n - 1)]
        second = order[line, np.minimum(right, n - 1)]
        smaller = less(
            tuple(v[line, second] for v in values), tuple(v[line, first] for v in values)
        )
        from_right = (right < end) & ((left >= middle) | smaller)
        active = starts + turn < end
        merged[:, (starts + turn)[active]] = np.where(from_right, second, first)[:, active]
        right += from_right & active
        left += ~from_right & active
    return merged


class MergeSorter:
    """Emits the sort of one line of `n` elements. `lines`: scratch memory [2, n], or more, for each
    value."""

    def __init__(self, builder: Builder, n: int, lines: Sequence[Buffer], less: Less) -> None:
        self._builder, self._n, self._lines, self._less = builder, n, lines, less

    def sort(self, read: Read, write: Write, kept: int) -> None:
        b = self._builder
        with b.loop(self._n, "i") as i:
            self._store(index(0), i, read(i))
        side = b.variable(index(0), "side")
        self._merge_passes(side)
        with b.loop(kept, "i") as i:
            write(i, self._load(b.load(side), i))

    def _merge_passes(self, side: Buffer) -> None:
        b, n = self._builder, index(self._n)
        width = b.variable(index(1), "width")
        with b.loop(max(0, self._n - 1).bit_length(), "p"):
            run = b.let(b.load(width), "run")
            source = b.let(b.load(side), "from")
            target = b.let(apply("subtract", index(1), source), "to")
            pair = apply("multiply", run, index(2))
            count = apply("divide", apply("subtract", apply("add", n, pair), index(1)), pair)
            with b.loop(b.let(count, "merges"), "m") as merge:
                start = b.let(apply("multiply", merge, pair), "start")
                self._merge(source, target, start, run)
            b.store(width, (), pair)
            b.store(side, (), target)

    def _merge(self, source: Expr, target: Expr, start: Expr, run: Expr) -> None:
        b, n = self._builder, index(self._n)
        middle = b.let(apply("minimum", apply("add", start, run), n), "middle")
        end = b.let(apply("minimum", apply("add", middle, run), n), "end")
        left, right = b.variable(start, "left"), b.variable(middle, "right")
        with b.loop(b.let(apply("subtract", end, start), "length"), "k") as k:
            i, j = b.let(b.load(left), "l"), b.let(b.load(right), "r")
            from_right = self._from_right(source, i, j, middle, end)
            place = apply("add", start, k)
            with b.when(from_right):
                self._store(target, place, self._load(source, j))
                b.store(right, (), apply("add", j, index(1)))
            with b.otherwise():
                self._store(target, place, self._load(source, i))
                b.store(left, (), apply("add", i, index(1)))

    def _from_right(
        self, source: Expr, i: Expr, j: Expr, middle: Expr, end: Expr
    ) -> Expr:
        """right run not empty and (left run empty or its element less than the left run's)."""
        b, pred = self._builder, ElementType.PRED
        taken = b.variable(const(pred, False), "from_right")
        with b.when(compare("lt", j, end)):
            b.store(taken, (), const(pred, True))
            with b.when(compare("lt", i, middle)):
                b.store(taken, (), self._less(self._load(source, j), self._load(source, i)))
        return b.load(taken)

    def _load(self, side: Expr, at: Expr) -> Values:
        return [self._builder.load(line, (side, at)) for line in self._lines]

    def _store(self, side: Expr, at: Expr, values: Values) -> None:
        for line, value in zip(self._lines, values, strict=True):
            self._builder.store(line, (side, at), value)
