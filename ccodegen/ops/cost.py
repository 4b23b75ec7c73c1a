"""What computing an element costs, as far as fusion cares."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.cost import FUNCTIONS

# In thirties of instructions, of f32. Of angles, vectors are made for near and for far ones.
_SIZES = {
    "cosine": 8,
    "sine": 8,
    "tan": 8,
    "power": 5,
    "acosh": 3,
    "asinh": 3,
    "atanh": 3,
    "cbrt": 2,
    "log": 2,
    "log-plus-one": 2,
}
_DEAR = FUNCTIONS | {"divide", "map", "remainder", "rsqrt", "sqrt", "reduce-window"}

DEAR = 16
"""Cheap ops that take as long as a dear one."""


def is_dear(instruction: Instruction) -> bool:
    """Whether an element costs so much that computing it twice is worse than storing it."""
    return instruction.op in _DEAR


def function_size(instruction: Instruction) -> int:
    """Of the function of the runtime's that computes it: one for each 30 or so instructions."""
    return _SIZES.get(instruction.op, int(instruction.op in FUNCTIONS))


def work(instruction: Instruction) -> int:
    """What an element takes that is not moved, in cheap ops."""
    return DEAR if is_dear(instruction) else int(opdef.is_elementwise(instruction))
