"""Convolutions of narrow floats to few features read an image of f32."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import computed_in, converted, is_static
from ccodegen.ops.contraction import accumulator_type
from ccodegen.ops.lines import reads_floats
from ccodegen.passes.context import PassContext
from ccodegen.support.element_type import ElementType

_F32 = ElementType.F32


def few_features_in_f32(module: Module, context: PassContext) -> Module:
    """`bf16 convolution(bf16 %x, bf16 %k)` → `convert(f32 convolution(convert(%x), convert(%k)))`.

    Each element is read once for every place of the window, and for few features that converts more
    than it multiplies. All bits stay. Not on processors without vectors, which have less memory.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _in_f32)


def _in_f32(instruction: Instruction) -> Instruction:
    if instruction.op != "convolution" or instruction.control_predecessors:
        return instruction
    narrow = any(o.array_shape.element_type.bytes < _F32.bytes for o in instruction.operands)
    if not narrow or accumulator_type(instruction) is not _F32 or not is_static(instruction):
        return instruction
    if not reads_floats(instruction):
        return instruction
    in_f32 = computed_in(instruction, _F32)
    return converted(instruction, in_f32, instruction.array_shape.element_type)
