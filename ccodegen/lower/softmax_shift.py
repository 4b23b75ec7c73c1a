"""The largest element of a row that only shifts exponentials, as in a softmax.

    most = max(x);  weights = exp(x - most);  total = sum(weights);  y = weights / total

No result tells whether it passed over a NaN, which `total` is in any case, and with it all that is
made of it; nor which zero it is, as exp(0) and exp(-0) are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.ir import Instruction, users_of
from ccodegen.lower.job import Job
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import operator_name
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.reduce import Reduce

_SHIFTS = ("add", "subtract")
_JOINS = (*_SHIFTS, "divide", "multiply")


def is_only_shift(job: Job, most: Instruction) -> bool:
    """Whether a maximum may pass over NaNs, and be any zero where there are both.

    Allowed is `x - most`, also of `most` where it is finite, `exp` of that, its sums over the same
    rows, and what is joined with those sums: weights by any of the four operations, else only by
    addition with the sums' logarithm, which is no zero where there are two zeros to choose from.
    """
    users = users_of(job.fused)
    shifts, weights = [most], list[Instruction]()
    joined: list[tuple[Instruction, Instruction]] = []
    for value in shifts:
        for user in users[value]:
            if _is_shift(user, value, most, shifts):
                shifts += [user] if user not in shifts else []
            elif user.op == "exponential" and value.op == "subtract":
                weights.append(user)
            else:
                joined.append((value, user))
    sums = {user for weight in weights for user in users[weight] if _is_sum(user, most)}
    outputs = {o.instruction for o in job.outputs}
    if not sums or not outputs.isdisjoint([*shifts, *weights]):
        return False
    of_weights = [(w, user) for w in weights for user in users[w] if user not in sums]
    return all(
        user.op in _JOINS and _sum_beside(value, user, most) in sums for value, user in of_weights
    ) and all(
        user.op in _SHIFTS and _sum_beside(value, user, most, "log") in sums
        for value, user in joined
    )


def _is_shift(
    user: Instruction, value: Instruction, most: Instruction, shifts: Sequence[Instruction]
) -> bool:
    """Whether it is a row's maximum still, or another number where that is not finite, or the row
    less it."""
    if user.op == "subtract":
        return user.operands == (most.operands[0], value)
    if user.op == "select":
        is_finite, where_finite, _ = user.operands
        return is_finite in shifts and where_finite in shifts
    return user.op == "is-finite" or _is_row_by_row(user, most)


def _is_row_by_row(moved: Instruction, most: Instruction) -> bool:
    """Whether it moves one value a row of what `most` reduces, to itself or to all of its row."""
    attributes = moved.attributes
    if moved.op == "reshape":
        return moved.operands[0].array_shape.size == most.array_shape.size
    if not isinstance(attributes, Broadcast):
        return False
    whole = most.operands[0].array_shape
    reduced = attributes_of(most, Reduce).dimensions
    kept = tuple(d for d in range(whole.rank) if d not in reduced)
    return attributes.dimensions == kept and moved.array_shape.dimensions == whole.dimensions


def _is_sum(user: Instruction, most: Instruction) -> bool:
    attributes = user.attributes
    if not isinstance(attributes, Reduce) or len(user.operands) != 2:
        return False
    is_same = sorted(attributes.dimensions) == sorted(attributes_of(most, Reduce).dimensions)
    return is_same and operator_name(attributes.to_apply) == "add"


def _sum_beside(
    value: Instruction, user: Instruction, most: Instruction, through: str = ""
) -> Instruction | None:
    """What the other operand is made of row by row, through an op if one is asked for."""
    others = [o for o in user.operands if o is not value]
    if len(others) != 1:
        return None
    (other,) = others
    passed = not through
    while other.op == "log" or _is_row_by_row(other, most):
        passed |= other.op == through
        other = other.operands[0]
    return other if passed else None
