"""Identities of arithmetic that hold bit for bit, NaN payloads aside.

Floats: x + 0 is not x (for x = -0), x + (-0) is; x - 0 and x * 1 are; x * 0 is not 0 (for inf).
"""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.build import derived, elementwise, splat
from ccodegen.passes.constants import PLAIN_FLOATS, highest, is_value, lowest, uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules
from ccodegen.support.element_type import Kind

_IDEMPOTENT = ("abs", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even")


def add(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x + 0 → x; x + -y → x - y."""
    a, b = instruction.operands
    kind = instruction.array_shape.element_type.kind
    if kind is Kind.COMPLEX:
        return None
    for x, y in ((a, b), (b, a)):
        if is_value(y, -0.0):
            return x
        if y.op == "negate":
            return elementwise(instruction, "subtract", x, y.operands[0])
    return None


def subtract(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x - 0 → x; x - x → 0 for integers; x - -y → x + y."""
    x, y = instruction.operands
    shape = instruction.array_shape
    if is_value(y, 0.0):
        return x
    if x is y and shape.element_type.is_integer:
        return splat(instruction, 0, shape)
    if is_value(x, 0) and shape.element_type.is_integer:
        return elementwise(instruction, "negate", y)
    if y.op == "negate" and not shape.element_type.is_complex:
        return elementwise(instruction, "add", x, y.operands[0])
    return None


def multiply(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x * 1 → x; x * 0 → 0 for integers and pred; -x * -y → x * y."""
    a, b = instruction.operands
    element_type = instruction.array_shape.element_type
    if element_type.is_complex:
        return None
    for x, y in ((a, b), (b, a)):
        if is_value(y, 1):
            return x
        if not element_type.is_float and is_value(y, 0):
            return splat(instruction, 0, instruction.array_shape)
    return _without_two_negations(instruction)


def divide(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x / 1 → x; x / 2^n → x * 2^-n for floats, where 2^-n is a normal number; -x / -y → x / y."""
    x, y = instruction.operands
    shape = instruction.array_shape
    if shape.element_type.is_complex:
        return None
    if is_value(y, 1):
        return x
    reciprocal = _exact_reciprocal(y) if shape.element_type in PLAIN_FLOATS else None
    if reciprocal is not None:
        factor = splat(instruction, reciprocal, shape)
        return elementwise(instruction, "multiply", x, factor)
    if shape.element_type.is_integer:
        return None
    return _without_two_negations(instruction)


def remainder(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x % 1 → 0 for integers."""
    shape = instruction.array_shape
    if shape.element_type.is_integer and is_value(instruction.operands[1], 1):
        return splat(instruction, 0, shape)
    return None


def negate(instruction: Instruction, _: PassContext) -> Instruction | None:
    """--x → x."""
    (operand,) = instruction.operands
    return operand.operands[0] if operand.op == "negate" else None


def absolute(instruction: Instruction, _: PassContext) -> Instruction | None:
    """abs(-x) → abs(x); abs of an unsigned x → x."""
    (operand,) = instruction.operands
    if instruction.array_shape.element_type.kind is Kind.UNSIGNED:
        return operand
    if operand.op == "negate" and operand.shape == instruction.shape:
        return elementwise(instruction, "abs", operand.operands[0])
    return None


def idempotent(instruction: Instruction, _: PassContext) -> Instruction | None:
    """f(f(x)) → f(x)."""
    (operand,) = instruction.operands
    same = operand.op == instruction.op and operand.shape == instruction.shape
    return operand if same else None


def extremum(instruction: Instruction, _: PassContext) -> Instruction | None:
    """max(x, x) → x; max(x, the least value) → x; max(x, the greatest integer) → that one."""
    a, b = instruction.operands
    element_type = instruction.array_shape.element_type
    if a is b:
        return a
    if not (element_type.is_integer or element_type in PLAIN_FLOATS):
        return None
    neutral, absorbing = lowest(element_type), highest(element_type)
    if instruction.op == "minimum":
        neutral, absorbing = absorbing, neutral
    for x, y in ((a, b), (b, a)):
        if is_value(y, neutral):
            return x
        if element_type.is_integer and is_value(y, absorbing):
            return y
    return None


def power(instruction: Instruction, context: PassContext) -> Instruction | None:
    """x^0 → 1, integer x^1 → x, x^2 → x * x; those of floats, and x^-1 → 1 / x, if not strict.

    (pow's own rounding may differ from that of the shorter form.)
    """
    x, y = instruction.operands
    shape = instruction.array_shape
    if shape.element_type.is_complex:
        return None
    if is_value(y, 0.0) or is_value(y, -0.0):
        return splat(instruction, 1, shape)
    if context.strict and not shape.element_type.is_integer:
        return None
    if is_value(y, 1):
        return x
    if is_value(y, 2):
        return elementwise(instruction, "multiply", x, x)
    if is_value(y, 3):
        square = elementwise(instruction, "multiply", x, x)
        return elementwise(instruction, "multiply", square, x)
    if shape.element_type.is_float and is_value(y, -1):
        return elementwise(instruction, "divide", splat(instruction, 1, shape), x)
    return None


def complex_(instruction: Instruction, _: PassContext) -> Instruction | None:
    """complex(real(x), imag(x)) → x."""
    real, imaginary = instruction.operands
    if (real.op, imaginary.op) != ("real", "imag"):
        return None
    x = real.operands[0]
    return x if x is imaginary.operands[0] and x.shape == instruction.shape else None


def part(instruction: Instruction, _: PassContext) -> Instruction | None:
    """real(complex(x, y)) → x; real of a real x → x, imag → 0."""
    (operand,) = instruction.operands
    imaginary = instruction.op == "imag"
    if operand.op == "complex":
        return operand.operands[imaginary]
    if operand.array_shape.element_type.is_complex:
        return None
    return splat(instruction, 0, instruction.array_shape) if imaginary else operand


def shift(instruction: Instruction, _: PassContext) -> Instruction | None:
    """x << 0 → x."""
    x, amount = instruction.operands
    return x if is_value(amount, 0) else None


def _without_two_negations(instruction: Instruction) -> Instruction | None:
    x, y = instruction.operands
    if (x.op, y.op) != ("negate", "negate"):
        return None
    operands = (x.operands[0], y.operands[0])
    return derived(instruction, instruction.op, instruction.shape, operands)


def _exact_reciprocal(y: Instruction) -> float | None:
    """1 / y where y is a power of two and both are normal numbers of f16's and bf16's range."""
    scalar = uniform(y)
    if scalar is None:
        return None
    value = float(scalar)
    mantissa, exponent = np.frexp(value)
    if abs(mantissa) != 0.5 or not -13 <= exponent <= 14:
        return None
    return 1.0 / value


RULES: Rules = {
    "add": (add,),
    "subtract": (subtract,),
    "multiply": (multiply,),
    "divide": (divide,),
    "remainder": (remainder,),
    "negate": (negate,),
    "abs": (absolute,),
    "maximum": (extremum,),
    "minimum": (extremum,),
    "power": (power,),
    "complex": (complex_,),
    "real": (part,),
    "imag": (part,),
    "shift-left": (shift,),
    "shift-right-arithmetic": (shift,),
    "shift-right-logical": (shift,),
    **{op: (idempotent,) for op in _IDEMPOTENT if op != "abs"},
}
