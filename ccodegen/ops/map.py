"""map: a computation of scalars, for each element of arrays of one shape."""

from __future__ import annotations

import math
from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction, called_first
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import derived, reshape, splat
from ccodegen.ops.control import Call, check_arguments
from ccodegen.ops.counted_loop import counted_loop, slice_at, with_slice_at
from ccodegen.ops.elementwise import common_shape
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.precision import for_parameters
from ccodegen.ops.shape_checks import arrays
from ccodegen.support.immutable import frozen


@frozen
class Map(Attributes):
    """`dimensions` names all dimensions in order; it says nothing more."""

    to_apply: Computation = attr(AttrKind.COMPUTATION)
    dimensions: tuple[int, ...] = attr(AttrKind.INTS, ())


def infer_map(shapes: tuple[Shape, ...], attributes: Map) -> ArrayShape:
    found = arrays("map", shapes)
    scalars = [ArrayShape(s.element_type) for s in found]
    check_arguments("map", attributes.to_apply, scalars)
    (result,) = arrays("map", [attributes.to_apply.root.shape])
    return common_shape("map", found, result.element_type)


def takes_for_map(shapes: tuple[Shape, ...], attributes: Map) -> tuple[Shape, ...]:
    return for_parameters(shapes, attributes.to_apply.parameters)


def evaluate_map(evaluator: Any, instruction: Instruction, *values: Array) -> Any:
    return evaluator.call(attributes_of(instruction, Map).to_apply, *values)


def element_map(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    arguments = [scope.operand(n, index) for n in range(len(instruction.operands))]
    (value,) = scope.call(attributes_of(instruction, Map).to_apply, *arguments)
    return value


def expand(instruction: Instruction) -> Instruction:
    """Where the computation has a loop: a loop over the elements, which calls it."""
    computation = attributes_of(instruction, Map).to_apply
    called = called_first([computation])
    if not any(i.op == "while" for c in called for i in c.instructions):
        return instruction
    result = instruction.array_shape
    count = math.prod(result.dimensions)
    flat = [reshape(instruction, o, (count,)) for o in instruction.operands]
    empty = splat(instruction, 0, result.with_dimensions((count,)))
    scalar = ArrayShape(result.element_type)

    def turn(i: Instruction, state: list[Instruction]) -> list[Instruction]:
        *inputs, made = state
        elements = tuple(slice_at(instruction, x, 0, i) for x in inputs)
        value = derived(instruction, "call", scalar, elements, Call(computation))
        return [*inputs, with_slice_at(instruction, made, 0, i, value)]

    *_, made = counted_loop(instruction, count, (*flat, empty), turn)
    return reshape(instruction, made, result.dimensions)


register(
    OpDef(
        "map",
        Map,
        (1, None),
        infer=infer_map,
        takes=takes_for_map,
        evaluate=evaluate_map,
        element=element_map,
        expand=expand,
        elementwise=True,
    )
)
