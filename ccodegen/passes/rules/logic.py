"""Identities of logic, comparison and selection."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ranges import of_type
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import derived, elementwise, splat
from ccodegen.ops.elementwise import Compare
from ccodegen.ops.integer_range import integer_range
from ccodegen.passes.constants import (
    PLAIN_FLOATS,
    highest,
    is_value,
    lowest,
    uniform,
)
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules
from ccodegen.support.element_type import ElementType, Kind

_DEPTH = 4  # of what is looked at to know the range of a number
_INVERSE = {"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}


def not_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """not(not(x)) → x; not(a < b) → a >= b, unless a or b may be NaN (a == b always may)."""
    (operand,) = instruction.operands
    if operand.op == "not":
        return operand.operands[0]
    if not isinstance(operand.attributes, Compare):
        return None
    direction = operand.attributes.direction
    if direction not in ("EQ", "NE") and not _is_total(operand):
        return None
    attributes = Compare(_INVERSE[direction], operand.attributes.type)
    return derived(instruction, "compare", instruction.shape, operand.operands, attributes)


def and_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x & x → x; x & ones → x; x & 0 → 0."""
    return _lattice(instruction, *_ones_and_zero(instruction))


def or_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x | x → x; x | 0 → x; x | ones → ones."""
    ones, zero = _ones_and_zero(instruction)
    return _lattice(instruction, zero, ones)


def xor(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x ^ x → 0; x ^ 0 → x; x ^ ones → not(x)."""
    a, b = instruction.operands
    ones, zero = _ones_and_zero(instruction)
    if a is b:
        return splat(instruction, 0, instruction.array_shape)
    for x, y in ((a, b), (b, a)):
        if is_value(y, zero):
            return x
        if is_value(y, ones):
            return elementwise(instruction, "not", x)
    return None


def select(instruction: Instruction, _: PassContext) -> Instruction | None:
    """select(true, a, b) → a; select(p, a, a) → a; select(not(p), a, b) → select(p, b, a);
    select(p, true, false) → p; select(p, select(p, a, _), select(p, _, b)) → select(p, a, b)."""
    predicate, a, b = instruction.operands
    if a is b:
        return a
    value = uniform(predicate)
    if value is not None:
        return a if value else b
    if predicate.op == "not":
        return elementwise(instruction, "select", predicate.operands[0], b, a)
    if predicate.shape == instruction.shape:
        if is_value(a, 1) and is_value(b, 0):
            return predicate
        if is_value(a, 0) and is_value(b, 1):
            return elementwise(instruction, "not", predicate)
    return _without_inner_selects(instruction)


def clamp(instruction: Instruction, _: PassContext) -> Instruction | None:
    """clamp(least, x, greatest) → x; clamp(l, clamp(l, x, h), h) → clamp(l, x, h)."""
    low, x, high = instruction.operands
    element_type = instruction.array_shape.element_type
    if not (element_type.is_integer or element_type in PLAIN_FLOATS):
        return None
    if is_value(low, lowest(element_type)) and is_value(high, highest(element_type)):
        return x
    return x if x.op == "clamp" and x.operands[0] is low and x.operands[2] is high else None


def compare(instruction: Instruction, context: PassContext) -> Instruction | None:
    """What is decided by the operands being one, by a type's range, or by pred constants."""
    a, b = instruction.operands
    attributes = attributes_of(instruction, Compare)
    if a is b:
        return _compare_with_itself(instruction, attributes.direction)
    if a.array_shape.element_type is ElementType.PRED and attributes.direction in ("EQ", "NE"):
        return _compare_predicates(instruction, attributes.direction)
    if a.op == "convert" and b.array_shape.element_type.is_integer and is_value(b, 0):
        return _compare_converted_predicate(instruction, attributes.direction)
    return _compare_with_limit(instruction, attributes.direction)


def _is_total(comparison: Instruction) -> bool:
    """Whether exactly one of <, ==, > holds for any two operands."""
    attributes, operand = comparison.attributes, comparison.operands[0]
    assert isinstance(attributes, Compare)
    element_type = operand.array_shape.element_type
    return attributes.type == "TOTALORDER" or not (element_type.is_float or element_type.is_complex)


def _ones_and_zero(instruction: Instruction) -> tuple[int, int]:
    element_type = instruction.array_shape.element_type
    if element_type.kind is Kind.SIGNED:
        return -1, 0
    return int(of_type(element_type).high), 0


def _lattice(instruction: Instruction, neutral: int, absorbing: int) -> Instruction | None:
    a, b = instruction.operands
    if a is b:
        return a
    for x, y in ((a, b), (b, a)):
        if is_value(y, neutral):
            return x
        if is_value(y, absorbing):
            return y
    return None


def _without_inner_selects(instruction: Instruction) -> Instruction | None:
    predicate, a, b = instruction.operands
    inner_a = a.operands[1] if a.op == "select" and a.operands[0] is predicate else a
    inner_b = b.operands[2] if b.op == "select" and b.operands[0] is predicate else b
    if inner_a is a and inner_b is b:
        return None
    return elementwise(instruction, "select", predicate, inner_a, inner_b)


def _compare_with_itself(instruction: Instruction, direction: str) -> Instruction | None:
    """NaN is not equal to itself, but neither less nor greater than itself."""
    shape = instruction.array_shape
    if direction in ("LT", "GT"):
        return splat(instruction, False, shape)
    if not _is_total(instruction):
        return None
    return splat(instruction, direction != "NE", shape)


def _compare_predicates(instruction: Instruction, direction: str) -> Instruction | None:
    a, b = instruction.operands
    for x, y in ((a, b), (b, a)):
        value = uniform(y)
        if value is not None:
            same = bool(value) == (direction == "EQ")
            return x if same else elementwise(instruction, "not", x)
    return None


def _compare_converted_predicate(instruction: Instruction, direction: str) -> Instruction | None:
    """convert(p) != 0 → p."""
    (source,) = instruction.operands[0].operands
    if source.shape != instruction.shape or direction not in ("EQ", "NE"):
        return None
    return source if direction == "NE" else elementwise(instruction, "not", source)


def _compare_with_limit(instruction: Instruction, direction: str) -> Instruction | None:
    """What two integers can be at all decides: x < the least integer → false; min(max(x, 0), 9) < 0
    → false."""
    if not all(o.array_shape.element_type.is_integer for o in instruction.operands):
        return None
    a, b = (integer_range(o, _DEPTH) for o in instruction.operands)
    less, greater = a.high < b.low, a.low > b.high
    known = {
        "LT": (less, a.low >= b.high),
        "GE": (a.low >= b.high, less),
        "GT": (greater, a.high <= b.low),
        "LE": (a.high <= b.low, greater),
        "EQ": (False, less or greater),
        "NE": (less or greater, False),
    }
    always, never = known[direction]
    return splat(instruction, always, instruction.array_shape) if always or never else None


RULES: Rules = {
    "not": (not_,),
    "and": (and_,),
    "or": (or_,),
    "xor": (xor,),
    "select": (select,),
    "clamp": (clamp,),
    "compare": (compare,),
}
