"""Makes reduces of f16 and bf16 in f32, which vectors hold."""

from __future__ import annotations

import math

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.passes.fold_in_f32 import EXTREMA, in_f32
from ccodegen.passes.simple_reduce import operator_of

_IF_MANY = ("add", "multiply")
# XLA for CPUs rounds in turn so many, and then makes a reduce of what comes out.
_MANY = 32


def reduce_in_f32(module: Module, context: PassContext) -> Module:
    """`reduce(%x, %z)` of a bf16[1000] by maximum → `convert(reduce(convert(%x), convert(%z)))`.

    Sums and products are rounded once, not for each element, by which long sums would come to a
    halt: not in strict mode. Not on processors without vectors, which would gain nothing.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, lambda instruction: _widened(instruction, context.strict))


def _widened(instruction: Instruction, strict: bool) -> Instruction:
    attributes, found = instruction.attributes, operator_of(instruction)
    if not isinstance(attributes, Reduce) or found is None:
        return instruction
    operator, _ = found
    sizes = instruction.operands[0].array_shape.dimensions
    is_long = math.prod(sizes[d] for d in attributes.dimensions) > _MANY
    if operator in EXTREMA or (operator in _IF_MANY and is_long and not strict):
        return in_f32(instruction) or instruction
    return instruction
