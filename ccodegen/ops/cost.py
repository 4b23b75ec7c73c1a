"""What computing an element costs, as far as fusion cares."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction

_DEAR = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosine", "cosh", "divide",
        "erf", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "map",
        "power", "remainder", "rsqrt", "sine", "sinh", "sqrt", "tan", "tanh", "reduce-window",
    }
)  # fmt: skip


def is_dear(instruction: Instruction) -> bool:
    """Whether an element costs so much that computing it twice is worse than storing it."""
    return instruction.op in _DEAR
