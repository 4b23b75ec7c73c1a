"""dynamic-slice, dynamic-update-slice and gather from a place that is known, or is but one."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import derived, is_static, reshape, slice_of, splat
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.gather import Gather
from ccodegen.passes.constants import is_value, uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules


def dynamic_slice(instruction: Instruction, _: PassContext) -> Instruction | None:
    """dynamic-slice of all → operand; from a constant place → slice; the start in a dimension
    that is taken whole → 0."""
    operand, *starts = instruction.operands
    if not is_static(instruction) or not _one_start_each(operand, starts):
        return None
    sizes, taken = operand.array_shape.dimensions, instruction.array_shape.dimensions
    rooms = [size - part for size, part in zip(sizes, taken, strict=True)]
    if not any(rooms):
        return operand
    values = [uniform(s) if room else 0 for s, room in zip(starts, rooms, strict=True)]
    if any(v is None for v in values):
        return _with_zero_starts(instruction, operand, starts, rooms)
    places = [min(max(int(v or 0), 0), room) for v, room in zip(values, rooms, strict=True)]
    part = [SliceDimension(p, p + n) for p, n in zip(places, taken, strict=True)]
    return slice_of(instruction, operand, part)


def dynamic_update_slice(instruction: Instruction, _: PassContext) -> Instruction | None:
    """dynamic-update-slice of all → the update; of nothing → the operand."""
    operand, update, *_starts = instruction.operands
    if not is_static(instruction):
        return None
    if update.array_shape.dimensions == operand.array_shape.dimensions:
        return update
    return operand if update.array_shape.size == 0 else None


def gather(instruction: Instruction, _: PassContext) -> Instruction | None:
    """gather of one window → dynamic-slice and reshape (both clamp the place)."""
    operand, indices = instruction.operands
    attributes = attributes_of(instruction, Gather)
    if not is_static(instruction) or attributes.operand_batching_dims:
        return None
    if indices.array_shape.size != len(attributes.start_index_map) or not attributes.slice_sizes:
        return None
    starts = [splat(instruction, 0, ArrayShape(indices.array_shape.element_type))] * len(
        attributes.slice_sizes
    )
    vector = reshape(instruction, indices, (len(attributes.start_index_map),))
    for position, dimension in enumerate(attributes.start_index_map):
        element = slice_of(instruction, vector, (SliceDimension(position, position + 1),))
        starts[dimension] = reshape(instruction, element, ())
    shape = operand.array_shape.with_dimensions(attributes.slice_sizes)
    sizes = DynamicSlice(attributes.slice_sizes)
    window = derived(instruction, "dynamic-slice", shape, (operand, *starts), sizes)
    return reshape(instruction, window, instruction.array_shape.dimensions)


def _one_start_each(operand: Instruction, starts: Sequence[Instruction]) -> bool:
    """Old texts have one vector of starts instead."""
    return len(starts) == operand.array_shape.rank and all(
        s.array_shape.rank == 0 for s in starts
    )


def _with_zero_starts(
    instruction: Instruction,
    operand: Instruction,
    starts: Sequence[Instruction],
    rooms: Sequence[int],
) -> Instruction | None:
    simpler = [
        s if room or is_value(s, 0) else splat(instruction, 0, s.array_shape)
        for s, room in zip(starts, rooms, strict=True)
    ]
    new = instruction.with_operands((operand, *simpler))
    return None if new is instruction else new


RULES: Rules = {
    "dynamic-slice": (dynamic_slice,),
    "dynamic-update-slice": (dynamic_update_slice,),
    "gather": (gather,),
}
