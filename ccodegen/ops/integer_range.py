"""Between which numbers integers lie, whatever the arguments hold."""

from __future__ import annotations

from typing import TypeAlias

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.creation import Constant
from ccodegen.ops.movement import SAME_VALUES
from ccodegen.support.element_type import ElementType, Kind

Range: TypeAlias = tuple[int, int]

_DEPTH = 8  # of the expressions looked at


def integer_range(value: Instruction, depth: int = _DEPTH) -> Range:
    """The least and the largest number that an element of an integer array may be: of an s8 that is
    converted to s32, less a zero point of 5, -133 and 122."""
    whole = _type_range(value.array_shape.element_type)
    found = _found(value, depth) if depth else whole
    # What the type does not hold has wrapped.
    return found if whole[0] <= found[0] and found[1] <= whole[1] else whole


def _found(value: Instruction, depth: int) -> Range:
    if isinstance(value.attributes, Constant) and value.array_shape.size:
        array = value.attributes.literal.array
        return int(array.min()), int(array.max())
    types = [o.array_shape.element_type for o in value.operands]
    if all(t.is_integer for t in types):
        ranges = [integer_range(o, depth - 1) for o in value.operands]
        if value.op in SAME_VALUES or value.op == "convert":
            return ranges[0]
        if value.op == "pad":
            return min(low for low, _ in ranges), max(high for _, high in ranges)
        if value.op == "add":
            return sum(low for low, _ in ranges), sum(high for _, high in ranges)
        if value.op == "subtract":
            (low, high), (least, most) = ranges
            return low - most, high - least
    return _type_range(value.array_shape.element_type)


def _type_range(integer: ElementType) -> Range:
    if integer.kind is Kind.SIGNED:
        return -(2 ** (integer.bits - 1)), 2 ** (integer.bits - 1) - 1
    return 0, 2**integer.bits - 1
