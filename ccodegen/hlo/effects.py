"""Which instructions do more than give a value."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction, called_first


def has_side_effect(instruction: Instruction) -> bool:
    """Whether it must stay although nobody uses its value, by itself or by what it calls."""
    if has_own_effect(instruction):
        return True
    callees = instruction.attributes.computations()
    return any(has_own_effect(i) for c in called_first(callees) for i in c.instructions)


def has_own_effect(instruction: Instruction) -> bool:
    """`has_side_effect`, what it calls aside."""
    definition = opdef.find(instruction.op)
    declared = definition is None or definition.side_effect
    return declared or getattr(instruction.attributes, "custom_call_has_side_effect", False)
