"""Finds extrema of f16 and bf16 in f32, which vectors hold."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import converted, derived, reducer
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.passes.simple_reduce import operator_of
from ccodegen.support.element_type import ElementType


def extrema_in_f32(module: Module, context: PassContext) -> Module:
    """`reduce(%x, %z)` of a bf16[1000] by maximum → `convert(reduce(convert(%x), convert(%z)))`.

    It is the same number. Not on processors without vectors, which would gain nothing.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _widened)


def _widened(instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Reduce) or len(instruction.operands) != 2:
        return instruction
    match operator_of(instruction):
        case ("maximum" | "minimum" as operator, ElementType.F16 | ElementType.BF16 as narrow):
            wide = ElementType.F32
            result = derived(
                instruction,
                "reduce",
                instruction.array_shape.with_type(wide),
                tuple(converted(instruction, o, wide) for o in instruction.operands),
                Reduce(attributes.dimensions, reducer(operator, wide)),
            )
            return converted(instruction, result, narrow)
    return instruction
