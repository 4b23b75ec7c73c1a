"""Arrays without elements, and reductions over dimensions of size 1, or of parts of size 1."""

from __future__ import annotations

import functools

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, constant, is_static, reshape, splat, tuple_of
from ccodegen.ops.dot import Dot
from ccodegen.ops.movement import Concatenate
from ccodegen.ops.reduce import Reduce
from ccodegen.ops.sort import Sort
from ccodegen.passes.constants import is_value
from ccodegen.passes.context import PassContext
from ccodegen.passes.lift import can_lift, lift
from ccodegen.passes.rules import ANY_OP, Rules

_MOST_PARTS = 16  # each is code of its own


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
    if any(sizes[d] != 1 for d in attributes.dimensions) or not _lifts(instruction):
        return None
    kept = [n for d, n in enumerate(sizes) if d not in attributes.dimensions]
    values = [reshape(instruction, x, kept) for x in inputs]
    if not context.strict and _sums_from_zero(instruction):
        return values[0]
    starts = [broadcast(instruction, i, kept, ()) for i in inits]
    return lift(attributes.to_apply, (*starts, *values))


def reduce_parts(instruction: Instruction, context: PassContext) -> Instruction | None:
    """reduce over a dimension that is put together of single elements → its computation for one
    after the other; a sum from 0 begins with the first, if not strict."""
    attributes = attributes_of(instruction, Reduce)
    concatenate, *rest = instruction.operands
    parts = concatenate.operands
    if concatenate.op != "concatenate" or len(rest) != 1 or len(parts) > _MOST_PARTS:
        return None
    along = attributes_of(concatenate, Concatenate).dimensions
    single = all(part.array_shape.dimensions[d] == 1 for part in parts for d in along)
    if attributes.dimensions != along or not single or not _lifts(instruction):
        return None
    kept = instruction.array_shape.dimensions
    values = [reshape(instruction, part, kept) for part in parts]
    if context.strict or not _sums_from_zero(instruction):
        values.insert(0, broadcast(instruction, rest[0], kept, ()))
    return functools.reduce(lambda total, value: lift(attributes.to_apply, (total, value)), values)


def _lifts(reduce: Instruction) -> bool:
    """Whether its computation can be done for whole arrays."""
    can = can_lift(attributes_of(reduce, Reduce).to_apply)
    return can and is_static(reduce) and _keeps_types(reduce)


def _sums_from_zero(reduce: Instruction) -> bool:
    root = attributes_of(reduce, Reduce).to_apply.root
    return root.op == "add" and is_value(reduce.operands[len(reduce.operands) // 2], 0.0)


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


RULES: Rules = {ANY_OP: (empty,), "reduce": (reduce, reduce_parts), "dot": (dot,), "sort": (sort,)}
