"""Ops that change the element type or its precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.loop import operators
from ccodegen.loop.builder import apply, const
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops import bits
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen

U32 = ElementType.U32


@frozen
class ReducePrecision(Attributes):
    exponent_bits: int = attr(AttrKind.INT)
    mantissa_bits: int = attr(AttrKind.INT)


def check_convert(instruction: Instruction) -> None:
    source, result = arrays(instruction.op, [instruction.operands[0].shape, instruction.shape])
    sizes = zip(source.dimensions, result.dimensions, strict=False)
    require(
        source.rank == result.rank and all(a == b or UNBOUNDED in (a, b) for a, b in sizes),
        f"{instruction.op} keeps the dimensions of {source}, {result} has others",
    )


def evaluate_convert(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    return operators.evaluate("convert", [value], instruction.array_shape.element_type)


def element_convert(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    value, target = scope.operand(0, index), instruction.array_shape.element_type
    return value if value.type is target else apply("convert", value, type=target)


def check_bitcast_convert(instruction: Instruction) -> None:
    source, result = arrays(instruction.op, [instruction.operands[0].shape, instruction.shape])
    expected = bits.dimensions_after(source, result.element_type)
    require(
        result.dimensions == expected,
        f"bitcast-convert of {source} to {result.element_type.text} has dimensions "
        f"{list(expected or ())}, not those of {result}",
    )


def evaluate_bitcast_convert(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    return bits.reinterpreted(value, instruction.array_shape.element_type)


def element_bitcast_convert(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    source = instruction.operands[0].array_shape.element_type
    target = instruction.array_shape.element_type
    own, wanted = bits.width(source), bits.width(target)
    if own < wanted:
        count = wanted // own
        parts = [scope.operand(0, (*index, constant(n))) for n in range(count)]
        return bits.joined(parts, target)
    if own > wanted:
        return bits.split(scope.operand(0, index[:-1]), index[-1], target)
    return bits.as_type(scope.operand(0, index), target)


def infer_reduce_precision(shapes: tuple[Shape, ...], attributes: ReducePrecision) -> ArrayShape:
    (operand,) = arrays("reduce-precision", shapes)
    require(operand.element_type.is_float, f"reduce-precision takes floats, not {operand}")
    require(attributes.exponent_bits >= 1, "reduce-precision leaves at least one exponent bit")
    require(attributes.mantissa_bits >= 0, "reduce-precision: mantissa_bits is negative")
    return operand


def evaluate_reduce_precision(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    t = instruction.array_shape.element_type
    widths = [np.array(n, np.uint32) for n in _widths(instruction)]
    return operators.evaluate("reduce-precision", [value, *widths], t)


def element_reduce_precision(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    widths = [const(U32, n) for n in _widths(instruction)]
    return apply(
        "reduce-precision",
        scope.operand(0, index),
        *widths,
        type=instruction.array_shape.element_type,
    )


def _widths(instruction: Instruction) -> tuple[int, int]:
    """Bits of exponent and mantissa, no more than f64 has (f32 for the narrower types)."""
    attributes = attributes_of(instruction, ReducePrecision)
    double = instruction.array_shape.element_type is ElementType.F64
    most = (11, 52) if double else (8, 23)
    return min(attributes.exponent_bits, most[0]), min(attributes.mantissa_bits, most[1])


register(
    OpDef(
        "convert",
        check=check_convert,
        evaluate=evaluate_convert,
        element=element_convert,
        elementwise=True,
    )
)
register(
    OpDef(
        "bitcast-convert",
        check=check_bitcast_convert,
        evaluate=evaluate_bitcast_convert,
        element=element_bitcast_convert,
    )
)
register(
    OpDef(
        "reduce-precision",
        ReducePrecision,
        infer=infer_reduce_precision,
        evaluate=evaluate_reduce_precision,
        element=element_reduce_precision,
        elementwise=True,
    )
)
