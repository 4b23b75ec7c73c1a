"""bitcast: the same memory read as another shape, so what it means depends on both layouts.

Logically: the operand's elements in the order in which they lie in memory, taken as the elements of
the result in the order in which those lie in memory. Tiles may pad that memory, so that arrays of
several sizes take the same; where that is so, the value is not defined by the shapes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.layout import major_to_minor
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.linear import delinearize, linearize
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops import bits
from ccodegen.ops.index import plus, quotient, times
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.errors import UnsupportedError


def check(instruction: Instruction) -> None:
    if not isinstance(instruction.shape, ArrayShape):
        return
    operand, result = arrays("bitcast", [instruction.operands[0].shape, instruction.shape])
    sizes = [_bits(s) for s in (operand, result)]
    open_size = min((0, *operand.dimensions, *result.dimensions)) < 0
    require(
        sizes[0] == sizes[1] or open_size or _is_tiled(operand) or _is_tiled(result),
        f"bitcast of {operand}, which has {sizes[0]} bits, to {result}, which has {sizes[1]}",
    )


def _bits(shape: ArrayShape) -> int:
    return shape.size * bits.width(shape.element_type)


def _is_tiled(shape: ArrayShape) -> bool:
    return shape.layout is not None and "T(" in shape.layout.suffix


def check_unpadded(instruction: Instruction) -> None:
    """Raises UnsupportedError where tiles hold elements that one of the shapes does not have."""
    source, result = instruction.operands[0].array_shape, instruction.array_shape
    if _bits(source) != _bits(result):
        message = f"bitcast of {source} to {result}, whose tiles are padded"
        raise UnsupportedError(message, instruction.location)


def evaluate(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    check_unpadded(instruction)
    source, result = instruction.operands[0].array_shape, instruction.array_shape
    memory = value.transpose(major_to_minor(source)).reshape(-1)
    memory = _reinterpreted(memory, result)
    order = major_to_minor(result)
    physical = memory.reshape([result.dimensions[d] for d in order])
    return physical.transpose(np.argsort(order))


def _reinterpreted(memory: Array, result: ArrayShape) -> Array:
    width, wanted = bits.width_of(memory), bits.width(result.element_type)
    if width < wanted:
        memory = memory.reshape(-1, wanted // width)
    return bits.reinterpreted(memory, result.element_type).reshape(-1)


def element(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    check_unpadded(instruction)
    source, result = instruction.operands[0].array_shape, instruction.array_shape
    order = major_to_minor(result)
    position = linearize([index[d] for d in order], [result.dimensions[d] for d in order])

    def at(position: Expr) -> Expr:
        inner = major_to_minor(source)
        sizes = [source.dimensions[d] for d in inner]
        found = dict(
            zip(inner, delinearize(position, sizes, scope.builder.ranges), strict=True)
        )
        return scope.operand(0, tuple(found[d] for d in range(source.rank)))

    return _element_of(source, result, position, at)


def _element_of(
    source: ArrayShape,
    result: ArrayShape,
    position: Expr,
    at: Callable[[Expr], Expr],
) -> Expr:
    """The result's element at a position in memory, out of the operand's."""
    own, target = source.element_type, result.element_type
    if own is target:
        return at(position)
    width, wanted = bits.width(own), bits.width(target)
    if width < wanted:
        count = wanted // width
        first = times(position, count)
        return bits.joined([at(plus(first, n)) for n in range(count)], target)
    if width > wanted:
        count = width // wanted
        whole = quotient(position, count)
        return bits.split(at(whole), bits.remainder(position, count), target)
    return bits.as_type(at(position), target)


register(OpDef("bitcast", check=check, evaluate=evaluate, element=element))
