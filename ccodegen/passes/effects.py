"""Which instructions do more than give a value."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction, called_first
from ccodegen.ops.custom_call import CustomCall

COLLECTIVES = frozenset(
    {
        "all-gather",
        "all-gather-start",
        "all-reduce",
        "all-reduce-start",
        "all-to-all",
        "collective-broadcast",
        "collective-permute",
        "collective-permute-start",
        "ragged-all-to-all",
        "reduce-scatter",
    }
)


def has_side_effect(instruction: Instruction) -> bool:
    """Whether it must stay although nobody uses its value, by itself or by what it calls."""
    if _effect_of_its_own(instruction):
        return True
    callees = instruction.attributes.computations()
    return any(_effect_of_its_own(i) for c in called_first(callees) for i in c.instructions)


def is_repeatable(instruction: Instruction) -> bool:
    """Whether equal operands give an equal value, however often and wherever it runs."""
    if not _repeatable_by_itself(instruction):
        return False
    callees = instruction.attributes.computations()
    return all(_repeatable_by_itself(i) for c in called_first(callees) for i in c.instructions)


def _effect_of_its_own(instruction: Instruction) -> bool:
    attributes = instruction.attributes
    if isinstance(attributes, CustomCall):
        return attributes.custom_call_has_side_effect
    definition = opdef.find(instruction.op)
    return definition is None or definition.side_effect


def _repeatable_by_itself(instruction: Instruction) -> bool:
    """Custom calls may read what we do not see; collectives must meet the same partners."""
    if instruction.op == "custom-call" or instruction.op in COLLECTIVES:
        return False
    return not _effect_of_its_own(instruction)
