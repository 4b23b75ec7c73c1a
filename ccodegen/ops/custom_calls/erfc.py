"""erfc of f32 and narrower floats: what CHLO calls so, and HLO has no op for.

erfc(a) = exp(-a²)·p(a)/q(a) for a >= 0, with a second factor of exp for the part of a² that is
rounded away: the square of the upper half of a's digits is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import get
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import converted, derived, is_static, splat
from ccodegen.ops.custom_call import CustomCallDef, register_custom_call
from ccodegen.ops.elementwise import Compare
from ccodegen.support.element_type import ElementType

_END = 10.1  # from there on the result is zero
_UPPER_DIGITS = 0xFFFFF000
# exp(r) for -0.08 <= r <= 0, and p and q, within 2^-25; highest power first.
_EXP = (1 / 24, 1 / 6, 0.5, 1.0, 1.0)
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


@dataclass(frozen=True)
class _Writer:
    """Writes expressions over arrays of the result's dimensions."""

    instruction: Instruction

    def erfc(self, x: Instruction) -> Instruction:
        a = self.f32("abs", x)
        end = self.number(_END)
        a = self.f32("select", self.compare(a, end, "GT"), end, a)
        upper = self.upper(a)
        square = self.f32("multiply", upper, upper)
        rest = self.f32(
            "multiply", self.f32("subtract", upper, a), self.f32("add", upper, a)
        )
        factor = self.f32("multiply", self.polynomial(_EXP, rest), self.polynomial(_P, a))
        quotient = self.f32("divide", factor, self.polynomial(_Q, a))
        exp = self.f32("exponential", self.f32("negate", square))
        result = self.f32("multiply", exp, quotient)
        other = self.f32("subtract", self.number(2.0), result)
        return self.f32("select", self.compare(x, self.number(0.0), "LT"), other, result)

    def upper(self, a: Instruction) -> Instruction:
        """With the lower 12 of 24 digits zero."""
        mask = splat(self.instruction, np.uint32(_UPPER_DIGITS), self.shape(ElementType.U32))
        bits = self.apply("bitcast-convert", ElementType.U32, a)
        return self.f32("bitcast-convert", self.apply("and", ElementType.U32, bits, mask))

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
