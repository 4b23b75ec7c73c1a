"""pad: a border of one value, or less than the array where padding is negative, and gaps inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import PaddingDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import all_of, at_least, divides, less, minus, quotient
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.movement import Pad
from ccodegen.ops.precision import of_one_precision
from ccodegen.ops.shape_checks import arrays, require


def infer(shapes: tuple[Shape, ...], attributes: Pad) -> ArrayShape:
    operand, value = arrays("pad", shapes)
    require(value.rank == 0, f"pad takes a scalar to pad with, not {value}")
    require(
        value.element_type is operand.element_type,
        f"pad of {operand} takes a value of that type, not {value}",
    )
    require(
        len(attributes.padding) == operand.rank,
        f"pad has padding for {len(attributes.padding)} dimensions, {operand} has {operand.rank}",
    )
    sizes = tuple(map(padded_size, operand.dimensions, attributes.padding))
    require(all(n >= UNBOUNDED for n in sizes), f"pad takes more from {operand} than it has")
    return operand.with_dimensions(sizes)


def padded_size(size: int, padding: PaddingDimension) -> int:
    require(padding.interior >= 0, "pad: interior padding is negative")
    if size == UNBOUNDED:
        return UNBOUNDED
    total = spread_size(size, padding) + padding.low + padding.high
    require(total >= 0, f"pad takes {-total} elements too many from a dimension of size {size}")
    return total


def spread_size(size: int, padding: PaddingDimension) -> int:
    """The size of a dimension with its gaps."""
    return (size - 1) * (padding.interior + 1) + 1 if size else 0


def is_frame(instruction: Instruction) -> bool:
    """Whether it is a pad that only adds edges: there are no gaps, and nothing is taken away."""
    attributes = instruction.attributes
    return isinstance(attributes, Pad) and all(
        p.low >= 0 and p.high >= 0 and p.interior == 0 for p in attributes.padding
    )


def evaluate(evaluator: Any, instruction: Instruction, value: Array, filler: Array) -> Array:
    padding = attributes_of(instruction, Pad).padding
    spread = [spread_size(n, p) for n, p in zip(value.shape, padding, strict=True)]
    sizes = [n + max(p.low, 0) + max(p.high, 0) for n, p in zip(spread, padding, strict=True)]
    result = np.full(sizes, filler, value.dtype)
    places = zip(padding, spread, strict=True)
    result[
        tuple(slice(max(p.low, 0), max(p.low, 0) + n, p.interior + 1) for p, n in places)
    ] = value
    kept = zip(padding, sizes, strict=True)
    return result[tuple(slice(max(-p.low, 0), n - max(-p.high, 0)) for p, n in kept)]


def element(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    padding = attributes_of(instruction, Pad).padding
    sizes = instruction.operands[0].array_shape.dimensions
    if 0 in sizes:
        return scope.operand(1, ())
    inside: list[Expr] = []
    at: list[Expr] = []
    for i, size, p in zip(index, sizes, padding, strict=True):
        place = minus(i, p.low)
        inside += _conditions(place, size, p)
        at.append(quotient(place, p.interior + 1))
    condition = all_of(inside)
    if condition is None:
        return scope.operand(0, tuple(at))
    return scope.guarded(
        condition, lambda: scope.operand(0, tuple(at)), lambda: scope.operand(1, ())
    )


def _conditions(place: Expr, size: int, padding: PaddingDimension) -> list[Expr]:
    """When a place, counted from the first element, holds an element and not padding."""
    conditions = []
    if padding.low > 0:
        conditions.append(at_least(place, 0))
    if padding.high > 0:
        conditions.append(less(place, spread_size(size, padding)))
    if padding.interior:
        conditions.append(divides(padding.interior + 1, place))
    return conditions


register(
    OpDef(
        "pad",
        Pad,
        (2, 2),
        infer=infer,
        takes=of_one_precision(),
        evaluate=evaluate,
        element=element,
    )
)
