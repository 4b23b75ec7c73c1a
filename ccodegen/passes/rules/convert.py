"""Conversions of type that change nothing, or that one conversion can do."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import derived
from ccodegen.ops.conversion import ReducePrecision
from ccodegen.passes.constants import integer_range
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules
from ccodegen.support.element_type import ElementType, Kind

# (significant bits, exponent bits): all values of a type with less of both are kept exactly.
_FLOATS = {
    ElementType.BF16: (8, 8),
    ElementType.F16: (11, 5),
    ElementType.F32: (24, 8),
    ElementType.F64: (53, 11),
}


def convert(instruction: Instruction, _: PassContext) -> Instruction | None:
    """convert to the same type → operand; convert(convert(x)) → convert(x), where the inner one
    is exact and the outer one would not treat x's own type in another way."""
    (operand,) = instruction.operands
    if operand.shape == instruction.shape:
        return operand
    if operand.op != "convert":
        return None
    (source,) = operand.operands
    types = [i.array_shape.element_type for i in (source, operand, instruction)]
    if not _one_is_enough(*types):
        return None
    if source.shape == instruction.shape:
        return source
    return derived(instruction, "convert", instruction.shape, (source,))


def bitcast_convert(instruction: Instruction, _: PassContext) -> Instruction | None:
    """bitcast-convert to the same type → operand; two in a row → one, of equal widths."""
    (operand,) = instruction.operands
    if operand.shape == instruction.shape:
        return operand
    if operand.op != "bitcast-convert":
        return None
    (source,) = operand.operands
    if source.shape == instruction.shape:
        return source
    same_width = len({i.array_shape.dimensions for i in (source, operand, instruction)}) == 1
    if not same_width:
        return None
    return derived(instruction, "bitcast-convert", instruction.shape, (source,))


def reduce_precision(instruction: Instruction, _: PassContext) -> Instruction | None:
    """reduce-precision to what the type has anyway → operand."""
    attributes = attributes_of(instruction, ReducePrecision)
    own = _FLOATS.get(instruction.array_shape.element_type)
    asked = (attributes.mantissa_bits + 1, attributes.exponent_bits)
    return instruction.operands[0] if own == asked else None


def _one_is_enough(source: ElementType, middle: ElementType, target: ElementType) -> bool:
    """Whether source → middle → target is source → target.

    A float becomes an integer by saturation, an integer another one by wrapping: through a float
    an integer saturates, so that the direct way is right only if it neither wraps.
    """
    if not _keeps_all_values(source, middle) or target.is_complex:
        return False
    if source.is_float or not middle.is_float or not target.is_integer:
        return True
    return _keeps_all_values(source, target)


def _keeps_all_values(source: ElementType, target: ElementType) -> bool:
    if source is target:
        return True
    if source.is_float:
        return _fits(_FLOATS.get(source), _FLOATS.get(target))
    if not (source.is_integer or source is ElementType.PRED) or target is ElementType.PRED:
        return False
    low, high = integer_range(source)
    if target.is_integer:
        least, greatest = integer_range(target)
        return least <= low and high <= greatest
    return target in _FLOATS and _float_holds(source, target)


def _float_holds(source: ElementType, target: ElementType) -> bool:
    """Whether all integers of a type are values of the float type (f16 ends at 65504)."""
    bits = source.bits - (source.kind is Kind.SIGNED)
    return bits <= _FLOATS[target][0]


def _fits(small: tuple[int, int] | None, large: tuple[int, int] | None) -> bool:
    if small is None or large is None:
        return False
    return small[0] <= large[0] and small[1] <= large[1]


RULES: Rules = {
    "convert": (convert,),
    "bitcast-convert": (bitcast_convert,),
    "reduce-precision": (reduce_precision,),
}
