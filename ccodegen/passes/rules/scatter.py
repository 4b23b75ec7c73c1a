"""A scatter of one window at a known place is an update of that window."""

from __future__ import annotations

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import constant, derived, is_static, reshape
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.scatter import Scatter
from ccodegen.passes.constants import array_of, uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules


def scatter(instruction: Instruction, _: PassContext) -> Instruction | None:
    """One window that is in bounds → dynamic-update-slice by the update, or by what the combiner
    makes of it and the window: `x.at[1:-1].set(u)` and `x.at[1:-1].add(u)` of JAX."""
    if len(instruction.operands) != 3 or not is_static(instruction):
        return None
    operand, indices, update = instruction.operands
    attributes = attributes_of(instruction, Scatter)
    rank = operand.array_shape.rank
    sizes = attributes.window_sizes(rank, update.array_shape.dimensions)
    if update.array_shape.size != np.prod(sizes) or attributes.input_batching_dims:
        return None
    starts = _starts(indices, attributes, rank)
    rooms = [n - size for n, size in zip(operand.array_shape.dimensions, sizes, strict=True)]
    if starts is None or not all(0 <= s <= room for s, room in zip(starts, rooms, strict=True)):
        return None
    places = tuple(constant(instruction, np.asarray(s, np.int32)) for s in starts)
    window = _combined(instruction, reshape(instruction, update, sizes), places)
    if window is None:
        return None
    return derived(
        instruction, "dynamic-update-slice", instruction.shape, (operand, window, *places)
    )


def _starts(indices: Instruction, attributes: Scatter, rank: int) -> list[int] | None:
    """Where the only window begins, if that is constant."""
    array = array_of(indices)
    if array is None:
        value = uniform(indices)
        array = None if value is None else np.full(indices.array_shape.dimensions, value)
    if array is None or array.size != len(attributes.scatter_dims_to_operand_dims):
        return None
    starts = [0] * rank
    pairs = zip(attributes.scatter_dims_to_operand_dims, array.reshape(-1), strict=True)
    for dimension, start in pairs:
        starts[dimension] = int(start)
    return starts


def _combined(
    instruction: Instruction, update: Instruction, places: tuple[Instruction, ...]
) -> Instruction | None:
    """What the window becomes; None for combiners of more than one op."""
    function = attributes_of(instruction, Scatter).to_apply
    old, new = function.parameters
    root = function.root
    if root is new:
        return update
    if root.operands != (old, new) or not opdef.get(root.op).elementwise:
        return None
    target = instruction.operands[0]
    shape = update.array_shape
    if root.shape != ArrayShape(shape.element_type):
        return None
    sizes = DynamicSlice(shape.dimensions)
    window = derived(instruction, "dynamic-slice", shape, (target, *places), sizes)
    return derived(instruction, root.op, shape, (window, update), root.attributes)


RULES: Rules = {"scatter": (scatter,)}
