"""TopK: what other front ends write for the op `topk`."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.build import derived
from ccodegen.ops.custom_call import CustomCallDef, register_custom_call
from ccodegen.ops.topk import TopK


def expand(instruction: Instruction) -> Instruction:
    """`custom-call(%x), custom_call_target="TopK"` → `topk(%x), k=3`, where k is the last size of
    the result."""
    shape = instruction.shape
    if len(instruction.operands) != 1 or not isinstance(shape, TupleShape):
        return instruction
    values = shape.elements[0]
    if not isinstance(values, ArrayShape) or not values.rank:
        return instruction
    attributes = TopK(k=values.dimensions[-1])
    return derived(instruction, "topk", shape, instruction.operands, attributes)


register_custom_call(CustomCallDef("TopK", expand=expand))
