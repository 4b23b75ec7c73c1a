"""Ops on the sizes of bounded dynamic dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.ops.shape_checks import arrays, dimension_numbers, require
from ccodegen.support.element_type import ElementType


@dataclass(frozen=True)
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
    flags = operand.dynamic or (False,) * operand.rank
    dynamic = tuple(flag or d == changed for d, flag in enumerate(flags))
    return ArrayShape(operand.element_type, operand.dimensions, dynamic, operand.layout)


def _dimension(op: str, operand: ArrayShape, attributes: DimensionSize) -> int:
    require(len(attributes.dimensions) == 1, f"{op} takes one dimension")
    dimension_numbers(op, attributes.dimensions, operand.rank)
    return attributes.dimensions[0]


register(OpDef("dynamic-reshape", arity=(1, None), check=check_reshape))
register(OpDef("get-dimension-size", DimensionSize, infer=infer_get))
register(OpDef("set-dimension-size", DimensionSize, (2, 2), infer=infer_set))
