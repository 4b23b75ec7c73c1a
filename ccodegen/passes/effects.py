"""Which instructions may be merged, moved or left out."""

from __future__ import annotations

from ccodegen.hlo.devices import COLLECTIVES
from ccodegen.hlo.effects import has_own_effect
from ccodegen.hlo.ir import Instruction, called_first


def is_repeatable(instruction: Instruction) -> bool:
    """Whether equal operands give an equal value, however often and wherever it runs."""
    if not _repeatable_by_itself(instruction):
        return False
    callees = instruction.attributes.computations()
    return all(_repeatable_by_itself(i) for c in called_first(callees) for i in c.instructions)


def _repeatable_by_itself(instruction: Instruction) -> bool:
    """Custom calls may read what we do not see; collectives must meet the same partners; random
    numbers are others each time."""
    if instruction.op in ("custom-call", "rng") or instruction.op in COLLECTIVES:
        return False
    return not has_own_effect(instruction)
