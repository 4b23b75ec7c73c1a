"""Custom calls, and other ops, that only tell a compiler something; and TopK, which is an op."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.build import derived
from ccodegen.ops.custom_call import CustomCall
from ccodegen.ops.topk import TopK
from ccodegen.passes.context import PassContext

# One device: sharding and placement change nothing, and a shard is the whole.
_IDENTITIES = frozenset(
    {
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "Sharding",
        "annotate_device_placement",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
        "xla.sdy.ShardingGroup",
    }
)
_TOP_K = "TopK"


def expand_custom_calls(module: Module, context: PassContext) -> Module:
    """`custom-call(%x), custom_call_target="Sharding"` → `%x`; likewise opt-barrier and domain;
    `custom_call_target="TopK"` → `topk(%x), k=3`, where k is the last size of the result."""
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    if instruction.control_predecessors:
        return instruction
    if instruction.op in ("opt-barrier", "domain"):
        return instruction.operands[0]
    attributes = instruction.attributes
    if not isinstance(attributes, CustomCall):
        return instruction
    if attributes.custom_call_target == _TOP_K:
        return _top_k(instruction)
    if attributes.custom_call_target in _IDENTITIES and len(instruction.operands) == 1:
        (operand,) = instruction.operands
        return operand if operand.shape == instruction.shape else instruction
    return instruction


def _top_k(instruction: Instruction) -> Instruction:
    shape = instruction.shape
    if len(instruction.operands) != 1 or not isinstance(shape, TupleShape):
        return instruction
    values = shape.elements[0]
    if not isinstance(values, ArrayShape) or not values.rank:
        return instruction
    attributes = TopK(k=values.dimensions[-1])
    return derived(instruction, "topk", shape, instruction.operands, attributes)
