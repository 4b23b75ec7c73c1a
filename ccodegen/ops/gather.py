"""gather: slices of the operand from places that an index array names; starts are clamped.

XLA's dimension numbers, read from the output: its `offset_dims` run over a slice, the others over
the index vectors. An operand dimension is collapsed (its slice has one element and the output has
no dimension for it), batching (it runs with a dimension of the indices), or offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import clamped, clamped_values, plus
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.shape_checks import arrays, dimension_numbers, require
from ccodegen.support.immutable import frozen


@frozen
class Gather(Attributes):
    """XLA's GatherDimensionNumbers."""

    offset_dims: tuple[int, ...] = attr(AttrKind.INTS)
    collapsed_slice_dims: tuple[int, ...] = attr(AttrKind.INTS)
    start_index_map: tuple[int, ...] = attr(AttrKind.INTS)
    index_vector_dim: int = attr(AttrKind.INT)
    slice_sizes: tuple[int, ...] = attr(AttrKind.INTS)
    operand_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    start_indices_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    indices_are_sorted: bool = attr(AttrKind.BOOL, False)

    def offset_operand_dims(self) -> tuple[int, ...]:
        """The operand dimensions that `offset_dims` run over, in order."""
        gone = (*self.collapsed_slice_dims, *self.operand_batching_dims)
        return tuple(d for d in range(len(self.slice_sizes)) if d not in gone)


def index_batch_dims(rank: int, index_vector_dim: int) -> tuple[int, ...]:
    """The dimensions of the indices that do not run over an index vector."""
    return tuple(d for d in range(rank) if d != index_vector_dim)


def infer(shapes: tuple[Shape, ...], attributes: Gather) -> ArrayShape:
    operand, indices = arrays("gather", shapes)
    _check(operand, indices, attributes)
    batch = index_batch_dims(indices.rank, attributes.index_vector_dim)
    sizes = iter([indices.dimensions[d] for d in batch])
    offsets = iter([attributes.slice_sizes[d] for d in attributes.offset_operand_dims()])
    rank = len(batch) + len(attributes.offset_dims)
    dimension_numbers("gather: offset_dims", attributes.offset_dims, rank)
    return operand.with_dimensions(
        tuple(next(offsets if d in attributes.offset_dims else sizes) for d in range(rank))
    )


def _check(operand: ArrayShape, indices: ArrayShape, attributes: Gather) -> None:
    require(indices.element_type.is_integer, f"gather takes integer indices, not {indices}")
    require(
        0 <= attributes.index_vector_dim <= indices.rank,
        f"gather: index_vector_dim={attributes.index_vector_dim} is not in {indices}",
    )
    _check_slices(operand, attributes)
    dimension_numbers("gather: start_index_map", attributes.start_index_map, operand.rank)
    count = vector_size(indices, attributes.index_vector_dim)
    require(
        len(attributes.start_index_map) == count,
        f"gather: start_index_map names {len(attributes.start_index_map)} dimensions, "
        f"an index vector of {indices} has {count} elements",
    )
    require(
        len(attributes.offset_dims) == len(attributes.offset_operand_dims()),
        f"gather: {len(attributes.offset_dims)} offset_dims for "
        f"{len(attributes.offset_operand_dims())} dimensions of a slice",
    )
    require(
        len(attributes.operand_batching_dims) == len(attributes.start_indices_batching_dims),
        "gather: as many operand_batching_dims as start_indices_batching_dims are needed",
    )


def _check_slices(operand: ArrayShape, attributes: Gather) -> None:
    sizes = attributes.slice_sizes
    require(len(sizes) == operand.rank, f"gather has {len(sizes)} slice sizes for {operand}")
    gone = (*attributes.collapsed_slice_dims, *attributes.operand_batching_dims)
    dimension_numbers("gather", gone, operand.rank)
    for d, (size, whole) in enumerate(zip(sizes, operand.dimensions, strict=True)):
        is_within = size >= 0 and (size <= whole or whole < 0)
        require(
            is_within and (size <= 1 or d not in gone),
            f"gather: a slice of {size} does not fit dimension {d} of {operand}",
        )


def vector_size(indices: ArrayShape, index_vector_dim: int) -> int:
    """Elements of an index vector; indices without a dimension for it have one."""
    return 1 if index_vector_dim == indices.rank else indices.dimensions[index_vector_dim]


def evaluate(evaluator: Any, instruction: Instruction, value: Array, indices: Array) -> Array:
    attributes = attributes_of(instruction, Gather)
    sizes = instruction.array_shape.dimensions
    grid = np.ogrid[tuple(slice(n) for n in sizes)]
    batch = [grid[d] for d in range(len(sizes)) if d not in attributes.offset_dims]
    places: list[Any] = [0] * value.ndim
    for number, d in enumerate(attributes.start_index_map):
        start = indices[index_at(batch, attributes.index_vector_dim, number, indices.ndim)]
        places[d] = clamped_values(start, value.shape[d] - attributes.slice_sizes[d])
    dims = index_batch_dims(indices.ndim, attributes.index_vector_dim)
    for d, other in zip(
        attributes.operand_batching_dims, attributes.start_indices_batching_dims, strict=True
    ):
        places[d] = batch[dims.index(other)]
    for d, out in zip(attributes.offset_operand_dims(), attributes.offset_dims, strict=True):
        places[d] = places[d] + grid[out]
    return np.broadcast_to(value[tuple(places)], sizes)


def index_at(batch: Sequence[Any], vector_dim: int, number: int | Expr, rank: int) -> Any:
    """Where in the indices element `number` of the index vector of a batch position is."""
    if vector_dim == rank:
        return tuple(batch)
    return (*batch[:vector_dim], number, *batch[vector_dim:])


def element(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    attributes = attributes_of(instruction, Gather)
    operand, indices = (o.array_shape for o in instruction.operands)
    batch = [i for d, i in enumerate(index) if d not in attributes.offset_dims]
    places: list[Expr] = [constant(0)] * operand.rank
    for number, d in enumerate(attributes.start_index_map):
        limit = operand.dimensions[d] - attributes.slice_sizes[d]
        if limit:
            at = index_at(batch, attributes.index_vector_dim, constant(number), indices.rank)
            places[d] = clamped(scope.operand(1, at), limit)
    dims = index_batch_dims(indices.rank, attributes.index_vector_dim)
    for d, other in zip(
        attributes.operand_batching_dims, attributes.start_indices_batching_dims, strict=True
    ):
        places[d] = batch[dims.index(other)]
    for d, out in zip(attributes.offset_operand_dims(), attributes.offset_dims, strict=True):
        places[d] = plus(index[out], places[d])
    return scope.operand(0, tuple(places))


register(OpDef("gather", Gather, (2, 2), infer=infer, evaluate=evaluate, element=element))
