"""The first k of a line in order, found one after the other: for few, where there are vectors.

Keys and places are in one number each, so that no two are equal. Less the one found before, plus
one, and modulo 2^64, those behind it are least, and the next one is the least of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import INDEX, Expr, LoopKind
from ccodegen.ops.line_sorter import line_memory
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType
from ccodegen.target import Machine

_U32, _U64 = ElementType.U32, ElementType.U64
_KEY_BITS = 32  # beside the place

# Nanoseconds.
_FOUND = 5.0
_MADE = 0.14  # a key
_LOOKED = 4.8  # at a key, for each that is found, times bytes of a vector
_NARROW = 2  # times as long, where vectors have no minimum of 64 bits


def repeated_search_cost(machine: Machine, n: int, k: int, bits: int) -> float:
    """Nanoseconds; infinite where it cannot be done, or there is nothing to search for."""
    if k == 0 or not machine.has_vectors or bits > _KEY_BITS or n >= 1 << _KEY_BITS:
        return math.inf
    looked = _LOOKED / machine.vector_bytes * (1 if machine.has_wide_vectors else _NARROW)
    return _MADE * n + k * (_FOUND + looked * n)


class RepeatedSearch:
    """Emits the search of one line of n elements, where its cost is finite."""

    def __init__(self, scope: NestScope, n: int, k: int) -> None:
        self._builder, self._n, self._k = scope.builder, n, k
        self._keys = line_memory(scope, _U64, (n,))

    def sort(self, key: Callable[[Expr], Expr], write: Callable[[Expr, Expr], None]) -> None:
        """write(i, place) for the places of the elements with the k least keys, in order; of
        elements with one key the first comes first. `key(i)`: of an element."""
        b, bits = self._builder, const(_U64, _KEY_BITS)
        with b.loop(self._n, "i", LoopKind.VECTOR) as i:
            high = apply("shift-left", apply("convert", key(i), type=_U64), bits)
            b.store(self._keys, (i,), apply("or", high, apply("convert", i, type=_U64)))
        after = b.variable(const(_U64, 0), "after")
        with b.loop(self._k, "number") as number:
            least = b.variable(const(_U64, 2**64 - 1), "least")
            with b.loop(self._n, "i") as i:
                beyond = apply("subtract", b.load(self._keys, (i,)), b.load(after))
                b.store(least, (), apply("minimum", b.load(least), beyond))
            found = b.let(apply("add", b.load(least), b.load(after)), "found")
            place = apply("convert", apply("convert", found, type=_U32), type=INDEX)
            write(number, b.let(place, "place"))
            b.store(after, (), apply("add", found, const(_U64, 1)))
