"""The transform of one line: y[q] = Σ x[t] · w^(q·t), w = exp(∓2πi/n), for any n.

Stockham's form: one pass for each prime factor p of n; a pass joins p transforms of the length
reached so far, `short`, into one of p · short. With x the line before and y after it, and
m = n/(p · short),

    y[(b·p + q)·short + k] = Σ over r < p of x[r·n/p + b·short + k] · w^(r·(k + q·short)·m)

for b < m, k < short, q < p: n times the sum of the factors products in all. The powers of w come
from a table, computed in f64 and rounded. Reference and lowering do the same operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ccodegen.loop import operators
from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import Buffer, Expr
from ccodegen.ops.arithmetic import ArrayArithmetic
from ccodegen.ops.fold import Array, converted
from ccodegen.ops.index import plus, times
from ccodegen.ops.lowering import NestScope
from ccodegen.support.element_type import ElementType

F64 = ElementType.F64


def passes(n: int) -> Iterator[tuple[int, int]]:
    """The prime factors of n, ascending, each with the product of those before it."""
    short, factor = 1, 2
    while short < n:
        while (n // short) % factor:
            factor += 1
        yield factor, short
        short *= factor


def transform(lines: Array, element_type: ElementType, inverse: bool) -> Array:
    """The transforms of complex lines [lines, n], with 1/n for the inverse."""
    n = lines.shape[1]
    arithmetic, table = ArrayArithmetic(element_type), _table(n, element_type, inverse)
    for p, short in passes(n):
        blocks = n // (p * short)
        x = lines.reshape(-1, p, blocks, short)
        power = np.arange(short) + short * np.arange(p)[:, None]
        total: Any = None
        for r in range(p):
            w = table[r * power % (p * short) * blocks]
            term = arithmetic.apply("multiply", x[:, r, :, None, :], w)
            total = term if r == 0 else arithmetic.apply("add", total, term)
        lines = total.reshape(-1, n)
    return _divided(lines, n, element_type) if inverse else lines


def _table(n: int, element_type: ElementType, inverse: bool) -> Array:
    step = np.asarray(_step(n, inverse))
    angle = np.arange(n, dtype=np.float64) * step
    table = np.empty(n, element_type.dtype)
    table.real = operators.evaluate("cosine", (angle,), F64)
    table.imag = operators.evaluate("sine", (angle,), F64)
    return table


def _step(n: int, inverse: bool) -> float:
    return (2 if inverse else -2) * math.pi / max(n, 1)


def _divided(lines: Array, n: int, element_type: ElementType) -> Array:
    real = ArrayArithmetic(element_type.component)
    count = np.asarray(n, element_type.component.dtype)
    result = np.empty_like(lines)
    result.real = real.apply("divide", lines.real, count)
    result.imag = real.apply("divide", lines.imag, count)
    return result


class LineTransformer:
    """Emits the transforms of lines of n elements, held in scratch memory of the kernel."""

    def __init__(self, scope: NestScope, n: int, element_type: ElementType, inverse: bool) -> None:
        self._builder: Builder = scope.builder
        self._n, self._type, self._inverse = n, element_type, inverse
        self._lines = [scope.scratch(element_type, (n,)) for _ in range(2)]
        self._table = scope.scratch(element_type, (n,))
        self._fill_table()

    def _fill_table(self) -> None:
        b, part = self._builder, self._type.component
        with b.loop(self._n, "t") as t:
            step = const(F64, _step(self._n, self._inverse))
            angle = b.let(apply("multiply", converted(t, F64), step), "angle")
            real = converted(apply("cosine", angle), part)
            imaginary = converted(apply("sine", angle), part)
            b.store(self._table, (t,), apply("complex", real, imaginary, type=self._type))

    def transform(
        self, read: Callable[[Expr], Expr], write: Callable[[Expr, Expr], None], kept: int
    ) -> None:
        """write(q, y[q]) for the `kept` first q, of the line read(t)."""
        b = self._builder
        source, target = self._lines
        with b.loop(self._n, "t") as t:
            b.store(source, (t,), read(t))
        for p, short in passes(self._n):
            self._emit_pass(source, target, p, short)
            source, target = target, source
        with b.loop(kept, "q") as q:
            write(q, self._scaled(b.load(source, (q,))))

    def _emit_pass(self, source: Buffer, target: Buffer, p: int, short: int) -> None:
        b, blocks = self._builder, self._n // (p * short)
        with b.loops((blocks, p, short), "b") as (block, q, k):
            place = plus(times(block, short), k)
            power = b.let(plus(k, times(q, short)), "power")
            first = apply("multiply", b.load(source, (place,)), b.load(self._table, (index(0),)))
            total = b.variable(first, "total")
            with b.loop(p - 1, "r") as before:
                r = plus(before, 1)
                turn = apply("remainder", apply("multiply", r, power), index(p * short))
                w = b.load(self._table, (times(turn, blocks),))
                x = b.load(source, (plus(times(r, self._n // p), place),))
                b.store(total, (), apply("add", b.load(total), apply("multiply", x, w)))
            at = plus(times(plus(times(block, p), q), short), k)
            b.store(target, (at,), b.load(total))

    def _scaled(self, value: Expr) -> Expr:
        if not self._inverse:
            return value
        part = self._type.component
        real, imaginary = (
            apply("divide", apply(name, value, type=part), const(part, self._n))
            for name in ("real", "imag")
        )
        return apply("complex", real, imaginary, type=self._type)
