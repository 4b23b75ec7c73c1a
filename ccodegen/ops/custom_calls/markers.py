"""Custom calls that only tell a compiler something: where data should be, who holds which part."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.custom_call import CustomCallDef, register_custom_call

# One device: sharding and placement change nothing, and a shard is the whole.
_TARGETS = (
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
)


def expand(instruction: Instruction) -> Instruction:
    """`custom-call(%x)` → `%x`, where that has the shape of the result."""
    if len(instruction.operands) != 1:
        return instruction
    (operand,) = instruction.operands
    return operand if operand.shape == instruction.shape else instruction


for _target in _TARGETS:
    register_custom_call(CustomCallDef(_target, expand=expand))
