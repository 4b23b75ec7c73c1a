"""Ops on sizes, and ops that only hand a value on."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.dynamic_shape import DimensionSize
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.dynamic.reshaping import clamped
from ccodegen.passes.dynamic.values import (
    Padded,
    flags_of,
    of_tuple,
    size_values,
    whole,
    with_sizes,
)
from ccodegen.passes.dynamic.writer import Writer


def get_dimension_size(write: Writer, operands: Sequence[Padded]) -> Padded:
    (x,) = operands
    (dimension,) = attributes_of(write.plain, DimensionSize).dimensions
    return whole(x.sizes[dimension] or write.number(x.bounds[dimension]))


def set_dimension_size(write: Writer, operands: Sequence[Padded]) -> Padded:
    x, size = operands
    (dimension,) = attributes_of(write.plain, DimensionSize).dimensions
    sizes = list(x.sizes)
    sizes[dimension] = clamped(write, size.value, x.bounds[dimension])
    return Padded(x.value, tuple(sizes))


def make_tuple(write: Writer, operands: Sequence[Padded]) -> Padded:
    return of_tuple(write.plain, operands)


def get_tuple_element(write: Writer, operands: Sequence[Padded]) -> Padded:
    return operands[0].elements[attributes_of(write.plain, GetTupleElement).index]


def handed_on(write: Writer, operands: Sequence[Padded]) -> Padded:
    """The first operand's value, whatever the others."""
    flags = flags_of(operands[0])
    return with_sizes(write.plain, flags, size_values(operands[0], flags))


def batch_of_bits(write: Writer, operands: Sequence[Padded]) -> Padded:
    """bitcast-convert, which may split or merge the last dimension."""
    (x,) = operands
    rank = write.plain.array_shape.rank
    kept = min(rank, len(x.sizes))
    if any(x.sizes[kept:]):
        write.refuse("it merges a dynamic dimension")
    return Padded(write.plain, (*x.sizes[:kept], *(None,) * (rank - kept)))
