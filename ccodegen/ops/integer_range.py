"""Between which numbers integers lie, whatever the arguments hold."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ranges import Interval, of_type
from ccodegen.ops.creation import Constant, Iota
from ccodegen.ops.movement import SAME_VALUES

_DEPTH = 8  # of the expressions looked at
_FOLLOWED = SAME_VALUES | {
    "add", "clamp", "convert", "maximum", "minimum", "pad", "select", "subtract"
}  # fmt: skip


def integer_range(value: Instruction, depth: int = _DEPTH) -> Interval:
    """Of the elements of an integer array: of an s8 that is converted to s32, less a zero point of
    5, from -133 to 122."""
    whole = of_type(value.array_shape.element_type)
    found = _found(value, depth) if depth else whole
    # What the type does not hold has wrapped.
    return found if whole.low <= found.low and found.high <= whole.high else whole


def _found(value: Instruction, depth: int) -> Interval:
    if isinstance(value.attributes, Constant) and value.array_shape.size:
        array = value.attributes.literal.array
        return Interval(int(array.min()), int(array.max()))
    if isinstance(value.attributes, Iota):
        count = value.array_shape.dimensions[value.attributes.iota_dimension]
        return Interval(0, max(count - 1, 0))
    operands = value.operands[1:] if value.op == "select" else value.operands
    is_followed = value.op in _FOLLOWED
    if not is_followed or not all(o.array_shape.element_type.is_integer for o in operands):
        return of_type(value.array_shape.element_type)
    first, *others = (integer_range(o, depth - 1) for o in operands)
    match value.op:
        case "pad" | "select":
            return first.union(others[0])
        case "add":
            return first + others[0]
        case "subtract":
            return first + others[0].scaled(-1)
        case "maximum":
            return first.at_least(others[0])
        case "minimum":
            return first.at_most(others[0])
        case "clamp":
            return others[0].at_least(first).at_most(others[1])
    return first
