"""Between which numbers integers lie, whatever the arguments hold."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ranges import Interval, of_type
from ccodegen.ops.creation import Constant
from ccodegen.ops.movement import SAME_VALUES

_DEPTH = 8  # of the expressions looked at
_FOLLOWED = SAME_VALUES | {"add", "convert", "pad", "subtract"}


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
    if value.op in _FOLLOWED and all(o.array_shape.element_type.is_integer for o in value.operands):
        ranges = [integer_range(o, depth - 1) for o in value.operands]
        if value.op == "pad":
            return ranges[0].union(ranges[1])
        if value.op == "add":
            return ranges[0] + ranges[1]
        if value.op == "subtract":
            return ranges[0] + ranges[1].scaled(-1)
        return ranges[0]
    return of_type(value.array_shape.element_type)
