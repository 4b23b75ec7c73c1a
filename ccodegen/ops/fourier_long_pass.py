"""A pass of a long odd radix, with loops over the terms of its sums.

They are those of an odd butterfly, in the same order, but kept in the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ccodegen.ops.fourier_tables import roots, twiddles
from ccodegen.ops.workspace import Workspace
from ccodegen.support.immutable import immutable


@immutable
class LongPass:
    """Joins p transforms of the length `short` into one, in n rows; see ccodegen/ops/fourier.py."""

    work: Workspace
    n: int
    p: int
    short: int

    def run(self) -> None:
        self._join_ends()
        circle = self.work.table(roots(np.arange(self.p), self.p))
        self._add_all()
        self._take_first_terms(circle)
        self._add_other_terms(circle)
        self._part_ends()

    def _join_ends(self) -> None:
        """Instead of x[r] and x[p - r], both times their powers of w, their sum and difference."""
        work, p, short = self.work, self.p, self.short
        table = work.table(twiddles(p, short)) if short > 1 else None
        for r in work.turns(p // 2):
            for b, k in self._each():
                low, high = self._ends(b * short + k, r, self._apart)
                left, right = work.here(low), work.here(high)
                if table is not None:
                    left = left.times(work.entry(table, r, k))
                    right = right.times(work.entry(table, p - 2 - r, k))
                work.set_here(low, left + right)
                work.set_here(high, left - right)

    def _add_all(self) -> None:
        """y[0] = x[0] and all sums."""
        work = self.work
        for x, y in self._firsts():
            work.set_there(y, work.here(x))
        for r in work.turns(self.p // 2):
            for x, y in self._firsts():
                work.set_there(y, work.there(y) + work.here(x + (r + 1) * self._apart))

    def _take_first_terms(self, circle: Any) -> None:
        """Of the other results: in the place of y[q] what a sum gives to it and to y[p - q], in
        that of y[p - q] what a difference does."""
        work = self.work
        for q in work.turns(self.p // 2):
            for x, y in self._firsts():
                turn = work.entry(circle, q + 1)
                low, high = self._ends(x, 0, self._apart)
                at, opposite = self._ends(y, q, self.short)
                work.set_there(at, work.here(x) + work.here(low).scaled(turn.re))
                work.set_there(opposite, work.here(high).scaled(turn.im))

    def _add_other_terms(self, circle: Any) -> None:
        work, half = self.work, self.p // 2
        for q in work.turns(half):
            for r in work.turns(half - 1):
                turn = work.entry(circle, (q + 1) * (r + 2) % self.p)
                for x, y in self._firsts():
                    low, high = self._ends(x, r + 1, self._apart)
                    at, opposite = self._ends(y, q, self.short)
                    even, odd = work.here(low).scaled(turn.re), work.here(high).scaled(turn.im)
                    work.set_there(at, work.there(at) + even)
                    work.set_there(opposite, work.there(opposite) + odd)

    def _part_ends(self) -> None:
        work = self.work
        for q in work.turns(self.p // 2):
            for _, y in self._firsts():
                at, opposite = self._ends(y, q, self.short)
                even, odd = work.there(at), work.there(opposite)
                work.set_there(at, even.plus_i(odd))
                work.set_there(opposite, even.minus_i(odd))

    @property
    def _apart(self) -> int:
        """Rows from one term to the next."""
        return self.n // self.p

    def _each(self) -> Iterator[tuple[Any, ...]]:
        return self.work.each(self._apart // self.short, self.short)

    def _firsts(self) -> Iterator[tuple[Any, Any]]:
        """The rows of x[0] and y[0]."""
        for b, k in self._each():
            yield b * self.short + k, b * (self.p * self.short) + k

    def _ends(self, first: Any, r: Any, apart: int) -> tuple[Any, Any]:
        """The rows of number r + 1 and number p - 1 - r, behind that of number 0."""
        return first + (r + 1) * apart, first + (self.p - 1) * apart - r * apart
