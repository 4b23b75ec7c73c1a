"""Which instructions do more than give a value."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.devices import COLLECTIVES
from ccodegen.hlo.ir import Instruction, called_first
from ccodegen.support.errors import UnsupportedError

# They call a computation for elements, in an order and as often as they like.
_PER_ELEMENT = COLLECTIVES | {
    "map",
    "reduce",
    "reduce-window",
    "scatter",
    "select-and-scatter",
    "sort",
}


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


def check_effects(instruction: Instruction) -> None:
    """Raises UnsupportedError for a side effect that would happen once for each element."""
    if instruction.op not in _PER_ELEMENT:
        return
    for computation in called_first(instruction.attributes.computations()):
        for inner in computation.instructions:
            if has_own_effect(inner):
                message = f"{inner.op} '{inner.name}' in what {instruction.op} calls"
                raise UnsupportedError(f"{message} for its elements", inner.location)
