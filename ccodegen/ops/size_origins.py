"""Where the sizes of a result come from, for ops that move elements by whole dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.gather import Gather, index_batch_dims
from ccodegen.ops.movement import Broadcast, Slice, Transpose

SizeOrigins: TypeAlias = tuple[tuple[int, int] | None, ...]
"""For each dimension of the result the operand and its dimension that have the same actual size;
None: all of the dimension counts."""


def size_origins(instruction: Instruction) -> SizeOrigins:
    """Raises KeyError for an op that is not in the table."""
    return _TABLE[instruction.op](instruction)


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


_TABLE: dict[str, Callable[[Instruction], SizeOrigins]] = {
    "broadcast": _broadcast,
    "transpose": _transpose,
    "slice": _slice,
    "dynamic-slice": _dynamic_slice,
    "gather": _gather,
}
