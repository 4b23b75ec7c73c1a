"""Depthwise convolutions of small integers are computed in f32, which rounds none of their sums."""

from __future__ import annotations

import math

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_computation, transform_computations
from ccodegen.ops.build import computed_in, converted, is_static
from ccodegen.ops.contraction import contraction
from ccodegen.ops.convolution import Convolution, is_depthwise
from ccodegen.ops.integer_range import integer_range
from ccodegen.passes.context import PassContext
from ccodegen.support.element_type import ElementType

_EXACT = 1 << 24  # up to which f32 has all integers
_F32, _S32 = ElementType.F32, ElementType.S32


def depthwise_in_floats(module: Module, context: PassContext) -> Module:
    """`s32 convolution(s8 %x, s8 %k), feature_group_count=9` →
    `convert(f32 convolution(convert(%x), convert(%k)))`.

    Bytes go side by side into registers with others of their sum, of which there are none here: one
    by one they are converted and multiplied as fast as floats at best. What is made of the sums in
    f32 need not be converted. Not where a sum might be rounded, nor on processors without vectors.
    """
    if not context.has_vectors:
        return module
    return transform_computations(module, _rewritten)


def _rewritten(computation: Computation) -> Computation:
    sums: dict[Instruction, Instruction] = {}  # in f32, by what they are in s32

    def visit(instruction: Instruction) -> Instruction:
        if instruction.op == "convert" and instruction.operands[0] in sums:
            to = instruction.array_shape.element_type
            in_floats = sums[instruction.operands[0]]
            return converted(instruction, in_floats, to) if to.is_float else instruction
        if not isinstance(instruction.attributes, Convolution) or not _is_exact(instruction):
            return instruction
        in_floats = computed_in(instruction, _F32)
        whole = converted(instruction, in_floats, _S32)
        result = converted(instruction, whole, instruction.array_shape.element_type)
        if whole is result:
            sums[whole] = in_floats
        return result

    return rewrite_computation(computation, visit)


def _is_exact(convolution: Instruction) -> bool:
    """Whether it is depthwise, of integers whose sums f32 has."""
    types = [o.array_shape.element_type for o in (convolution, *convolution.operands)]
    if not all(t.is_integer for t in types) or not is_depthwise(convolution):
        return False
    if not is_static(convolution) or convolution.control_predecessors:
        return False
    ranges = (integer_range(o) for o in convolution.operands)
    largest = math.prod(max(-r.low, r.high) for r in ranges)
    return largest * contraction(convolution).sizes[2] <= _EXACT
