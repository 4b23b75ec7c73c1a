"""What takes the place of a value of dynamic shape: an array at its bound, and its sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from ccodegen.hlo.dynamic import dynamic_flags
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from ccodegen.ops.build import constant, element_of, tuple_of
from ccodegen.support.immutable import immutable

Sizes: TypeAlias = tuple[Instruction | None, ...]
Flags: TypeAlias = tuple[tuple[bool, ...], ...]
"""For each leaf of a shape, which of its dimensions are dynamic."""


@immutable
class Padded:
    """A value of static shape. `sizes`: of an array's dimensions, as s32[]; None: all of it counts.
    `elements`: those of a tuple."""

    value: Instruction
    sizes: Sizes = ()
    elements: tuple[Padded, ...] = ()

    @property
    def bounds(self) -> tuple[int, ...]:
        return self.value.array_shape.dimensions

    @property
    def is_dynamic(self) -> bool:
        return any(any(flags) for flags in flags_of(self))


def whole(value: Instruction) -> Padded:
    """A value of which everything counts."""
    if isinstance(value.shape, TupleShape):
        count = len(value.shape.elements)
        return of_tuple(value, [whole(element_of(value, value, n)) for n in range(count)])
    rank = value.shape.rank if isinstance(value.shape, ArrayShape) else 0
    return Padded(value, (None,) * rank)


def of_tuple(value: Instruction, elements: Sequence[Padded]) -> Padded:
    return Padded(value, elements=tuple(elements))


def padded_leaves(padded: Padded) -> Iterator[Padded]:
    """The parts that are no tuples, left to right."""
    if isinstance(padded.value.shape, TupleShape):
        for element in padded.elements:
            yield from padded_leaves(element)
    else:
        yield padded


def flags_of(padded: Padded) -> Flags:
    return tuple(tuple(s is not None for s in leaf.sizes) for leaf in padded_leaves(padded))


def declared_flags(shape: Shape) -> Flags:
    return tuple(
        dynamic_flags(leaf) if isinstance(leaf, ArrayShape) else () for leaf in leaves(shape)
    )


def union(first: Flags, second: Flags) -> Flags:
    return tuple(
        tuple(x or y for x, y in zip(a, b, strict=True)) for a, b in zip(first, second, strict=True)
    )


def size_values(padded: Padded, flags: Flags) -> list[Instruction]:
    """The size of each dimension with a flag; its bound where all of it counts."""
    return [
        size or constant(leaf.value, np.asarray(bound, np.int32))
        for leaf, leaf_flags in zip(padded_leaves(padded), flags, strict=True)
        if leaf.sizes
        for flag, size, bound in zip(leaf_flags, leaf.sizes, leaf.bounds, strict=True)
        if flag
    ]


def with_sizes(value: Instruction, flags: Flags, sizes: Sequence[Instruction]) -> Padded:
    """The value whose dimensions with a flag have these sizes, in order."""
    return _with_sizes(value, iter(flags), iter(sizes))


def _with_sizes(
    value: Instruction, flags: Iterator[tuple[bool, ...]], sizes: Iterator[Instruction]
) -> Padded:
    if isinstance(value.shape, TupleShape):
        count = len(value.shape.elements)
        parts = (element_of(value, value, n) for n in range(count))
        return of_tuple(value, [_with_sizes(part, flags, sizes) for part in parts])
    return Padded(value, tuple(next(sizes) if flag else None for flag in next(flags)))


def as_declared(padded: Padded, shape: Shape) -> Padded:
    """The value whose dimensions all have sizes that the shape says are dynamic."""
    own = flags_of(padded)
    flags = union(own, declared_flags(shape))
    return padded if flags == own else with_sizes(padded.value, flags, size_values(padded, flags))


def bundled(padded: Padded, flags: Flags) -> Instruction:
    """One value of all: (value, size, …); the value itself where there is no flag."""
    sizes = size_values(padded, flags)
    return tuple_of(padded.value, (padded.value, *sizes)) if sizes else padded.value


def unbundled(bundle: Instruction, flags: Flags) -> Padded:
    """What `bundled` put together."""
    count = sum(map(sum, flags))
    if not count:
        return whole(bundle)
    sizes = [element_of(bundle, bundle, n + 1) for n in range(count)]
    return with_sizes(element_of(bundle, bundle, 0), flags, sizes)
