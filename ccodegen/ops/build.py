"""Instructions that passes put in the place of others: they keep name, metadata and location."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import NO_ATTRIBUTES, Attributes, SliceDimension
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.creation import Constant, Parameter
from ccodegen.ops.movement import Broadcast, Reshape, Slice, Transpose
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.support.element_type import ElementType


def derived(
    origin: Instruction,
    op: str,
    shape: Shape,
    operands: tuple[Instruction, ...] = (),
    attributes: Attributes = NO_ATTRIBUTES,
) -> Instruction:
    """An instruction that does (a part of) what `origin` did, and comes from the same source."""
    return Instruction(
        op, shape, operands, attributes, origin.name, origin.metadata, origin.location
    )


def elementwise(origin: Instruction, op: str, *operands: Instruction) -> Instruction:
    """An op whose result has the shape of `origin`."""
    return derived(origin, op, origin.shape, operands)


def constant(origin: Instruction, value: Any) -> Instruction:
    """A constant; `value` is a literal, an ndarray of an HLO type, or a tuple of values."""
    literal = value if isinstance(value, Literal) else Literal(value)
    return derived(origin, "constant", literal.shape, (), Constant(literal))


def converted(origin: Instruction, value: Instruction, to: ElementType) -> Instruction:
    """The value in that element type; itself where it has it already."""
    if value.array_shape.element_type is to:
        return value
    return derived(origin, "convert", value.array_shape.with_type(to), (value,))


def computed_in(origin: Instruction, element_type: ElementType) -> Instruction:
    """The same op, with operands and a result of that element type."""
    operands = tuple(converted(origin, operand, element_type) for operand in origin.operands)
    shape = origin.array_shape.with_type(element_type)
    return derived(origin, origin.op, shape, operands, origin.attributes)


def splat(origin: Instruction, value: Any, shape: ArrayShape) -> Instruction:
    """An array of one value: a scalar constant, broadcast where the shape has dimensions."""
    scalar = constant(origin, np.asarray(value, shape.element_type.dtype))
    return scalar if shape.rank == 0 else broadcast(origin, scalar, shape.dimensions, ())


def reshape(origin: Instruction, operand: Instruction, dimensions: Sequence[int]) -> Instruction:
    """The operand in other dimensions; itself where it has them already."""
    if operand.array_shape.dimensions == tuple(dimensions):
        return operand
    shape = operand.array_shape.with_dimensions(tuple(dimensions))
    return derived(origin, "reshape", shape, (operand,), Reshape())


def transpose(origin: Instruction, operand: Instruction, order: Sequence[int]) -> Instruction:
    """Output dimension i is operand dimension `order[i]`; the operand for the identity."""
    if tuple(order) == tuple(range(len(order))):
        return operand
    sizes = operand.array_shape.dimensions
    shape = operand.array_shape.with_dimensions(tuple(sizes[d] for d in order))
    return derived(origin, "transpose", shape, (operand,), Transpose(tuple(order)))


def turned(origin: Instruction, operand: Instruction, order: Sequence[int]) -> Instruction:
    """The transpose; of one that is a transpose itself, one of what that is made of."""
    if not isinstance(operand.attributes, Transpose):
        return transpose(origin, operand, order)
    composed = [operand.attributes.dimensions[d] for d in order]
    return transpose(origin, operand.operands[0], composed)


def broadcast(
    origin: Instruction, operand: Instruction, sizes: Sequence[int], dimensions: Sequence[int]
) -> Instruction:
    """Operand dimension i becomes output dimension `dimensions[i]`; the operand if it has all."""
    if len(dimensions) == len(sizes) and tuple(dimensions) == tuple(range(len(sizes))):
        return operand
    shape = operand.array_shape.with_dimensions(tuple(sizes))
    return derived(origin, "broadcast", shape, (operand,), Broadcast(tuple(dimensions)))


def repeated(row: Instruction, count: int) -> Instruction:
    """An array of one dimension, so many times one after the other."""
    (size,) = row.array_shape.dimensions
    return reshape(row, broadcast(row, row, (count, size), (1,)), (count * size,))


def slice_of(
    origin: Instruction, operand: Instruction, slices: Sequence[SliceDimension]
) -> Instruction:
    """The strided part of each dimension; the operand where that is the whole."""
    sizes = operand.array_shape.dimensions
    whole = all(
        (s.start, s.limit, s.stride) == (0, size, 1) for s, size in zip(slices, sizes, strict=True)
    )
    if whole:
        return operand
    shape = operand.array_shape.with_dimensions(tuple(map(slice_size, slices)))
    return derived(origin, "slice", shape, (operand,), Slice(tuple(slices)))


def slice_size(dimension: SliceDimension) -> int:
    """The number of elements taken."""
    return max(0, -(-(dimension.limit - dimension.start) // dimension.stride))


def tuple_of(origin: Instruction, elements: Sequence[Instruction]) -> Instruction:
    shape = TupleShape(tuple(e.shape for e in elements))
    return derived(origin, "tuple", shape, tuple(elements))


def element_of(origin: Instruction, operand: Instruction, index: int) -> Instruction:
    """One element of a tuple, taken directly where the tuple is made in sight."""
    if operand.op == "tuple":
        return operand.operands[index]
    assert isinstance(operand.shape, TupleShape)
    shape = operand.shape.elements[index]
    return derived(origin, "get-tuple-element", shape, (operand,), GetTupleElement(index))


def is_static(instruction: Instruction) -> bool:
    """Whether no dimension of the result and the array operands is dynamic."""
    shapes = (instruction.shape, *(o.shape for o in instruction.operands))
    return not any(isinstance(s, ArrayShape) and s.dynamic for s in shapes)


def reducer(op: str, element_type: ElementType) -> Computation:
    """The computation of two scalars that a reduce by this op calls."""
    shape = ArrayShape(element_type)
    x = Instruction("parameter", shape, (), Parameter(0), "x")
    y = Instruction("parameter", shape, (), Parameter(1), "y")
    name = f"{op}_{element_type.text}"
    return Computation(name, (x, y), Instruction(op, shape, (x, y), name=op))
