"""Which dimensions of operands and results have one size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.convolution import Convolution
from ccodegen.ops.dot import Dot
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.gather import Gather, index_batch_dims
from ccodegen.ops.movement import Broadcast, Concatenate, Slice, Transpose

SizeOrigins: TypeAlias = tuple[tuple[int, int] | None, ...]
"""For each dimension of the result the operand and its dimension that have the same actual size;
None: all of the dimension counts."""
Groups: TypeAlias = list[list[tuple[int, int]]]


def size_origins(instruction: Instruction) -> SizeOrigins:
    """Where the sizes of the result of an op come from that moves elements by whole dimensions.

    Raises KeyError for other ops.
    """
    return _ORIGINS[instruction.op](instruction)


def agreeing_dimensions(instruction: Instruction) -> Groups:
    """Groups of operands' dimensions, as (operand, dimension), that must be of one size.

    Raises KeyError for an op that is not in the table.
    """
    return _AGREEING[instruction.op](instruction)


def _broadcast(instruction: Instruction) -> SizeOrigins:
    places = attributes_of(instruction, Broadcast).dimensions
    rank = instruction.array_shape.rank
    return tuple((0, places.index(d)) if d in places else None for d in range(rank))


def _transpose(instruction: Instruction) -> SizeOrigins:
    return tuple((0, d) for d in attributes_of(instruction, Transpose).dimensions)


def _slice(instruction: Instruction) -> SizeOrigins:
    """A part of a dimension is all there, as XLA has it; beyond the actual size it is padding."""
    sizes = instruction.operands[0].array_shape.dimensions
    slices = attributes_of(instruction, Slice).slice
    return tuple(
        (0, d) if (s.start, s.limit, s.stride) == (0, size, 1) else None
        for d, (s, size) in enumerate(zip(slices, sizes, strict=True))
    )


def _dynamic_slice(instruction: Instruction) -> SizeOrigins:
    sizes = instruction.operands[0].array_shape.dimensions
    taken = attributes_of(instruction, DynamicSlice).dynamic_slice_sizes
    return tuple(
        (0, d) if n == size else None for d, (n, size) in enumerate(zip(taken, sizes, strict=True))
    )


def _gather(instruction: Instruction) -> SizeOrigins:
    attributes = attributes_of(instruction, Gather)
    operand, indices = (o.array_shape for o in instruction.operands)
    batch = iter(index_batch_dims(indices.rank, attributes.index_vector_dim))
    window = dict(zip(attributes.offset_dims, attributes.offset_operand_dims(), strict=True))
    origins: list[tuple[int, int] | None] = []
    for d in range(instruction.array_shape.rank):
        if d not in window:
            origins.append((1, next(batch)))
            continue
        source = window[d]
        whole = attributes.slice_sizes[source] == operand.dimensions[source]
        origins.append((0, source) if whole else None)
    return tuple(origins)


def _like_dimensions(operands: int, dimensions: Iterable[int]) -> Groups:
    """The same dimensions of the first operands."""
    return [[(n, d) for n in range(operands)] for d in dimensions]


def _inputs(instruction: Instruction) -> Groups:
    """Of a fold, whose operands are inputs and as many init values."""
    rank = instruction.operands[0].array_shape.rank
    return _like_dimensions(len(instruction.operands) // 2, range(rank))


def _sort(instruction: Instruction) -> Groups:
    rank = instruction.operands[0].array_shape.rank
    return _like_dimensions(len(instruction.operands), range(rank))


def _concatenate(instruction: Instruction) -> Groups:
    (along,) = attributes_of(instruction, Concatenate).dimensions
    others = [d for d in range(instruction.array_shape.rank) if d != along]
    return _like_dimensions(len(instruction.operands), others)


def _triangular_solve(instruction: Instruction) -> Groups:
    return _like_dimensions(2, range(instruction.array_shape.rank - 2))


def _dot(instruction: Instruction) -> Groups:
    a = attributes_of(instruction, Dot)
    left = (*a.lhs_batch_dims, *a.lhs_contracting_dims)
    right = (*a.rhs_batch_dims, *a.rhs_contracting_dims)
    return [[(0, i), (1, j)] for i, j in zip(left, right, strict=True)]


def _convolution(instruction: Instruction) -> Groups:
    """Features agree where all are in one group."""
    a = attributes_of(instruction, Convolution)
    if a.feature_group_count > 1:
        return []
    return [[(0, a.dim_labels.input_feature), (1, a.dim_labels.kernel_input_feature)]]


_ORIGINS: dict[str, Callable[[Instruction], SizeOrigins]] = {
    "broadcast": _broadcast,
    "transpose": _transpose,
    "slice": _slice,
    "dynamic-slice": _dynamic_slice,
    "gather": _gather,
}
_AGREEING: dict[str, Callable[[Instruction], Groups]] = {
    "concatenate": _concatenate,
    "convolution": _convolution,
    "dot": _dot,
    "reduce": _inputs,
    "reduce-window": _inputs,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
}
