"""erfc of f32 and narrower floats: what CHLO calls so, and HLO has no op for.

erfc(a) = exp(-a²)·p(a)/q(a) for a >= 0. The exponential is written out, because its argument is
the sum of two numbers: the square of the upper half of a's digits is exact, and the rest of a² is
added where the multiple of ln 2 has been taken off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import get
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import converted, derived, is_static, splat
from ccodegen.ops.custom_call import CustomCallDef, register_custom_call
from ccodegen.ops.elementwise import Compare
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_END = 10.1  # from there on the result is zero
_UPPER_DIGITS = 0xFFFFF000
_LOG2_E = 1.4426950216293335
# ln 2 in two parts: the first has few enough bits for an exact product with an exponent.
_LN2_HIGH = 0.693145751953125
_LN2_LOW = 1.428606765330187e-06
# The power of two of exp(-a²) is taken so much larger, and p so much smaller, for it may be below
# the least normal number.
_RAISED = 64
# Adding it leaves the nearest integer, raised and biased like an exponent, in the sum's low bits.
_ROUNDER = 1.5 * 2**23 + 127 + _RAISED
# exp(r) for -0.42 <= r <= 0.35, and p and q, within 2^-25; highest power first.
_EXP = (0.0013316537, 0.00836991, 0.041676354, 0.16666506, 0.49999967, 1.0, 1.0)
_P = (0.032554567, 0.22815111, 0.72945315, 1.2364553, 1.0)
_Q = (0.057700753, 0.40441424, 1.3213344, 2.397876, 2.3648348, 1.0)


def expand_erfc(instruction: Instruction) -> Instruction:
    """`custom-call(%x), custom_call_target="chlo.erfc"` → arithmetic in f32."""
    element_type = instruction.array_shape.element_type
    if not element_type.is_float or element_type.bits > 32 or not is_static(instruction):
        return instruction
    (operand,) = instruction.operands
    writer = _Writer(instruction)
    result = writer.erfc(converted(instruction, operand, ElementType.F32))
    return converted(instruction, result, element_type)


@immutable
class _Writer:
    """Writes expressions over arrays of the result's dimensions."""

    instruction: Instruction

    def erfc(self, x: Instruction) -> Instruction:
        a = self.f32("abs", x)
        p = self.polynomial([c * 2.0**-_RAISED for c in _P], a)
        quotient = self.f32("divide", p, self.polynomial(_Q, a))
        result = self.f32("multiply", self.raised_exp(a), quotient)
        is_zero = self.compare(a, self.number(_END), "GT")
        result = self.f32("select", is_zero, self.number(0.0), result)
        other = self.f32("subtract", self.number(2.0), result)
        return self.f32("select", self.compare(x, self.number(0.0), "LT"), other, result)

    def raised_exp(self, a: Instruction) -> Instruction:
        """exp(-a²)·2^_RAISED."""
        upper = self.of_bits("and", a, _UPPER_DIGITS)
        square = self.f32("multiply", upper, upper)
        rounded = self.f32("add", self.scaled(square, -_LOG2_E), self.number(_ROUNDER))
        n = self.f32("subtract", rounded, self.number(_ROUNDER))
        r = self.f32("subtract", self.f32("negate", square), self.scaled(n, _LN2_HIGH))
        r = self.f32("subtract", r, self.scaled(n, _LN2_LOW))
        lower = self.f32("subtract", upper, a)
        r = self.f32("add", self.f32("multiply", lower, self.f32("add", upper, a)), r)
        power = self.of_bits("shift-left", rounded, 23)
        return self.f32("multiply", self.polynomial(_EXP, r), power)

    def of_bits(self, op: str, x: Instruction, operand: int) -> Instruction:
        """The float of what `op` makes of the bits of one."""
        other = splat(self.instruction, np.uint32(operand), self.shape(ElementType.U32))
        bits = self.apply("bitcast-convert", ElementType.U32, x)
        return self.f32("bitcast-convert", self.apply(op, ElementType.U32, bits, other))

    def scaled(self, x: Instruction, factor: float) -> Instruction:
        return self.f32("multiply", x, self.number(factor))

    def polynomial(self, coefficients: Sequence[float], x: Instruction) -> Instruction:
        total = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.f32("add", self.f32("multiply", total, x), self.number(coefficient))
        return total

    def compare(self, a: Instruction, b: Instruction, direction: str) -> Instruction:
        return self.apply("compare", ElementType.PRED, a, b, attributes=Compare(direction))

    def number(self, value: float) -> Instruction:
        return splat(self.instruction, value, self.shape(ElementType.F32))

    def f32(self, op: str, *operands: Instruction) -> Instruction:
        return self.apply(op, ElementType.F32, *operands)

    def apply(
        self,
        op: str,
        element_type: ElementType,
        *operands: Instruction,
        attributes: Attributes | None = None,
    ) -> Instruction:
        attributes = attributes or get(op).attributes()
        return derived(self.instruction, op, self.shape(element_type), operands, attributes)

    def shape(self, element_type: ElementType) -> ArrayShape:
        return self.instruction.array_shape.with_type(element_type)


register_custom_call(CustomCallDef("chlo.erfc", expand=expand_erfc))
