"""Expressions with Python's operators: what is computed with them becomes statements of a kernel.

An algorithm that is written with `+`, `-` and `*` so runs over NumPy arrays, or writes its loops.
"""

from __future__ import annotations

from ccodegen.loop.builder import Builder, apply, const
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import Expr
from ccodegen.ops import index
from ccodegen.support.immutable import immutable


@immutable
class TracedValue:
    """A number. The result of each operation gets a name, but for products, which are mostly added
    to something at once."""

    builder: Builder
    expr: Expr

    def __add__(self, other: TracedValue) -> TracedValue:
        return self._applied("add", other)

    def __sub__(self, other: TracedValue) -> TracedValue:
        return self._applied("subtract", other)

    def __mul__(self, other: TracedValue | float) -> TracedValue:
        return TracedValue(self.builder, self._with("multiply", other))

    def __truediv__(self, other: float) -> TracedValue:
        return self._applied("divide", other)

    def __neg__(self) -> TracedValue:
        return self._named(apply("negate", self.expr))

    def _applied(self, operator: str, other: TracedValue | float) -> TracedValue:
        return self._named(self._with(operator, other))

    def _with(self, operator: str, other: TracedValue | float) -> Expr:
        second = other.expr if isinstance(other, TracedValue) else const(self.expr.type, other)
        return apply(operator, self.expr, second)

    def _named(self, expr: Expr) -> TracedValue:
        return TracedValue(self.builder, self.builder.let(expr, "t"))


@immutable
class TracedIndex:
    """An index."""

    builder: Builder
    expr: Expr

    def __add__(self, other: TracedIndex | int) -> TracedIndex:
        return TracedIndex(self.builder, index.plus(self.expr, _plain(other)))

    def __sub__(self, other: TracedIndex | int) -> TracedIndex:
        return TracedIndex(self.builder, index.minus(self.expr, _plain(other)))

    def __rsub__(self, other: int) -> TracedIndex:
        return TracedIndex(self.builder, index.minus(constant(other), self.expr))

    def __mul__(self, other: TracedIndex | int) -> TracedIndex:
        if isinstance(other, int):
            return TracedIndex(self.builder, index.times(self.expr, other))
        return TracedIndex(self.builder, apply("multiply", self.expr, other.expr))

    def __mod__(self, other: int) -> TracedIndex:
        rest = apply("remainder", self.expr, constant(other))
        return TracedIndex(self.builder, self.builder.let(rest, "turn"))


def _plain(other: TracedIndex | int) -> Expr | int:
    return other.expr if isinstance(other, TracedIndex) else other
