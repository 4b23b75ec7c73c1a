"""Ops without operands: constants, parameters, iota."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.loop import operators
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.shape_checks import arrays, dimension_numbers
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
class Constant(Attributes):
    """`constant(LITERAL)`: the literal stands where other ops have operands."""

    literal: Literal = attr(AttrKind.LITERAL)


@frozen
class Parameter(Attributes):
    """`parameter(NUMBER)`: the number stands where other ops have operands."""

    number: int = attr(AttrKind.INT)


@frozen
class Iota(Attributes):
    iota_dimension: int = attr(AttrKind.INT)


def infer_constant(shapes: tuple[Shape, ...], attributes: Constant) -> Shape:
    return attributes.literal.shape


def evaluate_constant(evaluator: Any, instruction: Instruction) -> Any:
    return _value(attributes_of(instruction, Constant).literal)


def _value(literal: Literal) -> Any:
    return literal.array if literal.elements is None else tuple(map(_value, literal.elements))


def check_iota(instruction: Instruction) -> None:
    (result,) = arrays("iota", [instruction.shape])
    dimension = attributes_of(instruction, Iota).iota_dimension
    dimension_numbers("iota", [dimension], result.rank)


def evaluate_iota(evaluator: Any, instruction: Instruction) -> Array:
    shape, dimension = instruction.array_shape, attributes_of(instruction, Iota).iota_dimension
    size = shape.dimensions[dimension]
    numbers = operators.evaluate("convert", [np.arange(size)], shape.element_type)
    aligned = [size if d == dimension else 1 for d in range(shape.rank)]
    return np.broadcast_to(numbers.reshape(aligned), shape.dimensions)


def element_iota(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    """Floats are made of words: processors have vectors of these, few of indices' 64 bits."""
    dimension = attributes_of(instruction, Iota).iota_dimension
    shape, place = instruction.array_shape, index[dimension]
    if shape.element_type.is_float and shape.dimensions[dimension] <= 1 << 31:
        place = apply("convert", place, type=ElementType.S32)
    return apply("convert", place, type=shape.element_type)


register(OpDef("constant", Constant, (0, 0), infer=infer_constant, evaluate=evaluate_constant))
register(OpDef("parameter", Parameter, (0, 0)))
register(
    OpDef("iota", Iota, (0, 0), check=check_iota, evaluate=evaluate_iota, element=element_iota)
)
