"""Ops on the sizes of bounded dynamic dimensions (see `hlo.dynamic`).

A size below zero or beyond the bound is taken as the nearer of the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.dynamic import dynamic_flags, fitted, padded, rule, sized, static
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.shape_checks import arrays, dimension_numbers, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
class DimensionSize(Attributes):
    """`dimensions` holds one number."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


def check_reshape(instruction: Instruction) -> None:
    operand, *sizes = arrays("dynamic-reshape", [o.shape for o in instruction.operands])
    (result,) = arrays("dynamic-reshape", [instruction.shape])
    require(
        len(sizes) == result.rank and all(s.rank == 0 for s in sizes),
        f"dynamic-reshape takes a scalar size for each dimension of {result}",
    )
    require(
        operand.size == result.size or UNBOUNDED in (*operand.dimensions, *result.dimensions),
        f"dynamic-reshape of {operand}, which has up to {operand.size} elements, to {result}, "
        f"which has up to {result.size}",
    )


def infer_get(shapes: tuple[Shape, ...], attributes: DimensionSize) -> ArrayShape:
    _dimension("get-dimension-size", arrays("get-dimension-size", shapes)[0], attributes)
    return ArrayShape(ElementType.S32)


def infer_set(shapes: tuple[Shape, ...], attributes: DimensionSize) -> ArrayShape:
    operand, size = arrays("set-dimension-size", shapes)
    require(
        size == ArrayShape(ElementType.S32), f"set-dimension-size takes an s32[], not {size}"
    )
    changed = _dimension("set-dimension-size", operand, attributes)
    flags = dynamic_flags(operand)
    dynamic = tuple(flag or d == changed for d, flag in enumerate(flags))
    return ArrayShape(operand.element_type, operand.dimensions, dynamic, operand.layout)


def _dimension(op: str, operand: ArrayShape, attributes: DimensionSize) -> int:
    require(len(attributes.dimensions) == 1, f"{op} takes one dimension")
    dimension_numbers(op, attributes.dimensions, operand.rank)
    return attributes.dimensions[0]


@rule("dynamic-reshape")
def evaluate_reshape(evaluator: Any, instruction: Instruction, value: Any, *sizes: Any) -> Any:
    bounds = instruction.array_shape.dimensions
    return reshaped(instruction, value, list(map(_clamped, sizes, bounds)))


def reshaped(instruction: Instruction, value: Any, sizes: Sequence[int]) -> Any:
    """The first of the elements that count, in row-major order. Where they are too few, the
    outermost dimension goes on into the padding."""
    place, at = np.arange(math.prod(sizes)), []
    for size in value.shape[:0:-1]:
        at.append(place % max(size, 1))
        place = place // max(size, 1)
    whole = padded(value).reshape(padded(value).shape or (1,))
    at.append(np.minimum(place, whole.shape[0] - 1))
    return fitted(static(instruction.shape), whole[tuple(reversed(at))].reshape(sizes))


@rule("get-dimension-size")
def evaluate_get(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    (dimension,) = attributes_of(instruction, DimensionSize).dimensions
    return np.asarray(value.shape[dimension], np.int32)


@rule("set-dimension-size")
def evaluate_set(evaluator: Any, instruction: Instruction, value: Any, size: Any) -> Any:
    (dimension,) = attributes_of(instruction, DimensionSize).dimensions
    sizes, whole = list(value.shape), padded(value)
    sizes[dimension] = _clamped(size, whole.shape[dimension])
    return sized(whole, sizes)


def _clamped(size: Any, bound: int) -> int:
    return max(0, min(int(size), bound))


register(
    OpDef("dynamic-reshape", arity=(1, None), check=check_reshape, evaluate=evaluate_reshape)
)
register(OpDef("get-dimension-size", DimensionSize, infer=infer_get, evaluate=evaluate_get))
register(
    OpDef("set-dimension-size", DimensionSize, (2, 2), infer=infer_set, evaluate=evaluate_set)
)
