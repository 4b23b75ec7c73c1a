"""Arrays without elements, and reductions over dimensions of size 1."""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, constant, is_static, reshape, splat, tuple_of
from ccodegen.ops.dot import Dot
from ccodegen.ops.reduce import Reduce
from ccodegen.ops.sort import Sort
from ccodegen.passes.constants import is_value
from ccodegen.passes.context import PassContext
from ccodegen.passes.lift import can_lift, lift
from ccodegen.passes.rules import ANY_OP, Rules


def empty(instruction: Instruction, _: PassContext) -> Instruction | None:
    """An array without elements → a constant."""
    shape = instruction.shape
    if instruction.op in ("constant", "parameter") or not isinstance(shape, ArrayShape):
        return None
    if shape.size or shape.dynamic:
        return None
    return constant(instruction, np.zeros(shape.dimensions, shape.element_type.dtype))


def reduce(instruction: Instruction, context: PassContext) -> Instruction | None:
    """reduce over dimensions of size 1 → its computation once, on init value and reshaped input;
    not even that for a sum from 0, if not strict (0 + -0 is 0)."""
    attributes = attributes_of(instruction, Reduce)
    count = len(instruction.operands) // 2
    inputs, inits = instruction.operands[:count], instruction.operands[count:]
    sizes = inputs[0].array_shape.dimensions
    if any(sizes[d] != 1 for d in attributes.dimensions) or not is_static(instruction):
        return None
    if not _keeps_types(instruction) or not can_lift(attributes.to_apply):
        return None
    kept = [n for d, n in enumerate(sizes) if d not in attributes.dimensions]
    values = [reshape(instruction, x, kept) for x in inputs]
    if not context.strict and attributes.to_apply.root.op == "add" and is_value(inits[0], 0.0):
        return values[0]
    starts = [broadcast(instruction, i, kept, ()) for i in inits]
    return lift(attributes.to_apply, (*starts, *values))


def dot(instruction: Instruction, _: PassContext) -> Instruction | None:
    """dot over no elements → 0."""
    attributes = attributes_of(instruction, Dot)
    sizes = instruction.operands[0].array_shape.dimensions
    if is_static(instruction) and any(sizes[d] == 0 for d in attributes.lhs_contracting_dims):
        return splat(instruction, 0, instruction.array_shape)
    return None


def sort(instruction: Instruction, _: PassContext) -> Instruction | None:
    """sort of one element → operands."""
    operands = instruction.operands
    (dimension,) = attributes_of(instruction, Sort).dimensions
    if not is_static(instruction) or operands[0].array_shape.dimensions[dimension] != 1:
        return None
    if isinstance(instruction.shape, TupleShape):
        return tuple_of(instruction, operands)
    return operands[0]


def _keeps_types(instruction: Instruction) -> bool:
    """Whether inputs, init values and results are of the same types."""
    count = len(instruction.operands) // 2
    shape = instruction.shape
    results = shape.elements if isinstance(shape, TupleShape) else (shape,)
    types = [s.element_type for s in results if isinstance(s, ArrayShape)]
    return types * 2 == [o.array_shape.element_type for o in instruction.operands] and (
        len(types) == count
    )


RULES: Rules = {ANY_OP: (empty,), "reduce": (reduce,), "dot": (dot,), "sort": (sort,)}
