"""Buckets of a long line: the elements with the same greatest digit, side by side.

Each is sorted by the lesser digits on its own, in memory near its core. Where most elements are in
one bucket, or buckets are small for their counters, they do not pay.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import INDEX, Expr
from ccodegen.ops.index import plus
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.radix_sort import KeyedLine, Radix
from ccodegen.support.element_type import ElementType

_U32 = ElementType.U32
_ELEMENTS = 2  # of a bucket for each of its counters, that these are worth clearing
_LEAST = 128  # so many of a line; floats whose sizes differ little have some more
_LARGEST = 0.6  # of a line: the largest one, for which threads are not idle too long


def takes_buckets(n: int, radix: Radix) -> bool:
    """Whether a line of n elements may be worth parting."""
    return radix.passes > 1 and n >= _ELEMENTS * radix.counters * _LEAST


class Buckets:
    """Where the buckets of a line begin, once that is stored."""

    def __init__(self, scope: NestScope, line: KeyedLine) -> None:
        self._builder, self._n, self.count = scope.builder, line.n, line.radix.counters
        self._starts = scope.scratch(_U32, (self.count + 1,))

    def begin(self, digit: Expr, start: Expr) -> None:
        """A bucket begins at that element, in a u32."""
        self._builder.store(self._starts, (digit,), start)

    def end(self) -> None:
        """All are known: the last one ends with the line."""
        self.begin(index(self.count), const(_U32, self._n))

    def be_one(self) -> None:
        """The first one is the whole line."""
        self.begin(index(0), const(_U32, 0))
        self.begin(index(1), const(_U32, self._n))

    def bounds(self, digit: Expr) -> tuple[Expr, Expr]:
        """A bucket's first element, and the one behind its last."""
        b = self._builder
        begin, end = (apply("convert", self._start(d), type=INDEX) for d in (digit, plus(digit, 1)))
        return b.let(begin, "start"), b.let(end, "stop")

    def pay(self) -> Expr:
        """Whether they are worth sorting one by one."""
        b = self._builder
        largest, used = (b.variable(const(_U32, 0), name) for name in ("largest", "used"))
        with b.loop(self.count, "d") as d:
            size = b.let(apply("subtract", self._start(plus(d, 1)), self._start(d)), "size")
            b.store(largest, (), apply("maximum", b.load(largest), size))
            is_used = apply("convert", compare("ne", size, const(_U32, 0)), type=_U32)
            b.store(used, (), apply("add", b.load(used), is_used))
        even = compare("le", b.load(largest), const(_U32, int(_LARGEST * self._n)))
        few = compare("le", b.load(used), const(_U32, int(self._n / (_ELEMENTS * self.count))))
        return apply("and", even, few)

    def _start(self, digit: Expr) -> Expr:
        return self._builder.load(self._starts, (digit,))
