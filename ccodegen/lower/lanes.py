"""Accumulators side by side, which compilers keep in vectors, and how they become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ccodegen.loop.builder import Builder, apply, const, index, vector_kind
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.neutral import neutral
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

Combine: TypeAlias = Callable[[Expr, Expr], Expr]


@immutable
class Lanes:
    """Accumulators of one operator, or of what `combine` does in its place."""

    builder: Builder
    buffer: Buffer
    combine: Combine

    @classmethod
    def of(
        cls,
        builder: Builder,
        operator: str,
        element_type: ElementType,
        count: int,
        combine: Combine | None = None,
    ) -> Lanes:
        """Accumulators that hold the neutral value."""
        buffer = filled(builder, const(element_type, neutral(operator, element_type)), count)
        return cls(builder, buffer, combine or partial(apply, operator))

    def take(self, lane: Expr, *values: Expr) -> None:
        """Combines a lane with values, one after the other."""
        total: Expr = Load(self.buffer, (lane,))
        for value in values:
            if value.type is ElementType.PRED:  # else it is read on a condition
                value = self.builder.let(value, "value")
            total = self.combine(total, value)
        self.builder.store(self.buffer, (lane,), total)

    def of_lane(self, lane: Expr) -> Expr:
        return Load(self.buffer, (lane,))

    def joined(self) -> Expr:
        return join_lanes(self.builder, self.buffer, self.combine)


def filled(builder: Builder, value: Expr, count: int) -> Buffer:
    """So many accumulators that hold a value."""
    accumulators = builder.local(value.type, (count,), "lanes")
    with builder.loop(count, "l", LoopKind.VECTOR) as lane:
        builder.store(accumulators, (lane,), value)
    return accumulators


def join_lanes(builder: Builder, accumulators: Buffer, combine: Combine) -> Expr:
    """All lanes as one value: lane l takes lane l + half, then half of the half, and so on.

    The number of lanes is a power of two. A loop joins four lanes to one, two halvings at once.
    """
    count = accumulators.size
    while count > 4:
        count //= 4
        with builder.loop(count, "l", vector_kind(count)) as lane:
            places = [apply("add", lane, index(n * count)) for n in range(4)]
            builder.store(accumulators, (lane,), _tree(accumulators, places, combine))
    return _tree(accumulators, [index(n) for n in range(count)], combine)


def _tree(buffer: Buffer, places: Sequence[Expr], combine: Combine) -> Expr:
    """The elements at some places, the first half joined with the second one."""
    values: list[Expr] = [Load(buffer, (place,)) for place in places]
    while len(values) > 1:
        half = len(values) // 2
        values = [combine(a, b) for a, b in zip(values[:half], values[half:], strict=True)]
    return values[0]


def fold_into(builder: Builder, buffer: Buffer, at: Index, operator: str, value: Expr) -> None:
    """buffer[at] = buffer[at] operator value."""
    builder.store(buffer, at, apply(operator, Load(buffer, at), value))
