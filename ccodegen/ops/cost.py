"""What computing an element costs, as far as fusion cares."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.cost import FUNCTIONS

_LONG_FUNCTIONS = frozenset({"cosine", "power", "sine", "tan"})
_DEAR = FUNCTIONS | {"divide", "map", "remainder", "rsqrt", "sqrt", "reduce-window"}

DEAR = 16
"""Cheap ops that take as long as a dear one."""


def is_dear(instruction: Instruction) -> bool:
    """Whether an element costs so much that computing it twice is worse than storing it."""
    return instruction.op in _DEAR


def function_size(instruction: Instruction) -> int:
    """Of the function of the runtime's that computes it: one for each 30 or so instructions."""
    if instruction.op in _LONG_FUNCTIONS:
        return 4
    return int(instruction.op in FUNCTIONS)


def work(instruction: Instruction) -> int:
    """What an element takes that is not moved, in cheap ops."""
    return DEAR if is_dear(instruction) else int(opdef.is_elementwise(instruction))
