"""Which floats are never positive, or never negative, whatever the arguments hold: x - max(x), -x².

A value that is NaN has no sign here, and zeros have both.
"""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.creation import Constant
from ccodegen.ops.fold import operator_name
from ccodegen.ops.movement import SAME_VALUES, Broadcast
from ccodegen.ops.reduce import Reduce

_DEPTH = 4  # of the expressions looked at
_NEVER_NEGATIVE = frozenset({"abs", "exponential", "logistic", "sqrt"})
_MOVED = SAME_VALUES | {"convert"}


def is_never_positive(instruction: Instruction) -> bool:
    """Whether each element of a float array is at most zero, or NaN."""
    return _has_sign(instruction, -1, _DEPTH)


def _has_sign(instruction: Instruction, sign: int, depth: int) -> bool:
    """Whether `sign` times each element is at least zero, or NaN."""
    if depth == 0 or not instruction.array_shape.element_type.is_float:
        return False
    operands = instruction.operands
    match instruction.op:
        case "constant":
            return _is_constant_of(instruction, sign)
        case "negate":
            return _has_sign(operands[0], -sign, depth - 1)
        case "add":
            return all(_has_sign(o, sign, depth - 1) for o in operands)
        case "multiply" | "divide":
            return _is_product_of(operands, sign, depth - 1)
        case "subtract":
            return sign < 0 and _is_most_of(operands[1], operands[0])
        case op if op in _MOVED:
            return _has_sign(operands[0], sign, depth - 1)
    return sign > 0 and instruction.op in _NEVER_NEGATIVE


def _is_constant_of(instruction: Instruction, sign: int) -> bool:
    attributes = instruction.attributes
    assert isinstance(attributes, Constant)
    values = attributes.literal.array
    return values.size == 1 and not np.any(values.astype(np.float64) * sign < 0)


def _is_product_of(factors: tuple[Instruction, ...], sign: int, depth: int) -> bool:
    a, b = factors
    if a is b and sign > 0:
        return True
    return any(_has_sign(a, s, depth) and _has_sign(b, s * sign, depth) for s in (1, -1))


def _is_most_of(most: Instruction, x: Instruction) -> bool:
    """Whether `most` is at least as large as `x`: the largest of each row, for every element."""
    attributes = most.attributes
    if isinstance(attributes, Broadcast):
        return _is_reduced(most.operands[0], x, attributes.dimensions)
    return False


def _is_reduced(most: Instruction, x: Instruction, kept: tuple[int, ...]) -> bool:
    """Whether it is the maximum of `x`, or larger, over all dimensions but those kept."""
    attributes = most.attributes
    if most.op == "maximum":
        return any(_is_reduced(o, x, kept) for o in most.operands)
    if not isinstance(attributes, Reduce) or most.operands[0] is not x:
        return False
    reduced = (d for d in range(x.array_shape.rank) if d not in attributes.dimensions)
    return operator_name(attributes.to_apply) == "maximum" and tuple(reduced) == kept
