"""stochastic-convert: rounds up or down by chance, the likelier to the nearer neighbour.

The magnitude lies between two neighbours of the result's type, at a fraction of the way. It is
rounded away from zero where the random bits are less than that fraction of 2^bits, rounded down. Of
integers, what is beyond the limits becomes the limit, and NaN zero; of floats, what is beyond the
largest rounds as `convert` does, as do infinities and NaN.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import converted, derived, splat
from ccodegen.ops.conversion import check_convert
from ccodegen.ops.elementwise import Compare
from ccodegen.ops.expansion import evaluate_expanded
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind

F32, F64, PRED = ElementType.F32, ElementType.F64, ElementType.PRED


def check(instruction: Instruction) -> None:
    check_convert(instruction)
    operand, random = arrays("stochastic-convert", [o.shape for o in instruction.operands])
    require(operand.element_type.is_float, f"stochastic-convert takes floats, not {operand}")
    bits = random.element_type
    fits = bits.kind is Kind.UNSIGNED and bits.bits == operand.element_type.bits
    require(
        fits and random.dimensions == operand.dimensions,
        f"stochastic-convert of {operand} takes as many random bits, not {random}",
    )
    result = instruction.array_shape.element_type
    require(
        result.is_integer or result.is_float,
        f"stochastic-convert gives integers or floats, not {instruction.shape}",
    )


def expand(instruction: Instruction) -> Instruction:
    writer = _Writer(instruction)
    return writer.to_integer() if writer.type.is_integer else writer.to_float()


class _Writer:
    """Writes the arithmetic; exact in f64, or in f32 where that holds the operand and the bits."""

    def __init__(self, instruction: Instruction) -> None:
        self.origin = instruction
        self.type = instruction.array_shape.element_type
        self.dimensions = instruction.array_shape.dimensions
        self.value, self.random = instruction.operands
        source = self.value.array_shape.element_type
        self.work = F32 if source.bits <= 16 and self.type.bits <= 16 else F64
        self.wide = self.converted(self.value, self.work)

    def to_integer(self) -> Instruction:
        """Down, or one more; `convert` has saturated what is down."""
        size = self.apply("abs", self.wide)
        down = self.apply("floor", size)
        up = self.apply("add", down, self.number(self.work, 1))
        rounded = self.select(self.is_up(self.apply("subtract", size, down)), up, down)
        signed = self.with_sign(rounded)
        return self.converted(signed, self.type)

    def to_float(self) -> Instruction:
        size = self.apply("abs", self.wide)
        near = self.converted(size, self.type)
        nearest = self.converted(near, self.work)
        down, up = self.neighbours(size, near)
        way = self.apply("subtract", size, down)
        fraction = self.apply("divide", way, self.apply("subtract", up, down))
        inside = self.compare("LT", fraction, self.number(self.work, 1))
        rounded = self.select(inside, self.select(self.is_up(fraction), up, down), nearest)
        exact = self.compare("EQ", nearest, size)
        positive = self.converted(self.select(exact, nearest, rounded), self.type)
        is_number = self.apply("is-finite", nearest, type=PRED)
        negative = self.apply("negate", positive)
        signed = self.select(self.is_negative(), negative, positive)
        return self.select(is_number, signed, self.converted(self.value, self.type))

    def neighbours(
        self, size: Instruction, near: Instruction
    ) -> tuple[Instruction, Instruction]:
        """The numbers below and above a magnitude, found by their bits: they count upwards."""
        bits = HLO_TYPES.get(f"u{self.type.bits}")
        if bits is None:
            return self.neighbours_by_step(size)
        code = self.cast(near, bits)
        one = self.number(bits, 1)
        is_above = self.compare("GT", self.converted(near, self.work), size)
        low = self.select(is_above, self.apply("subtract", code, one), code)
        high = self.apply("add", low, one)
        down, up = (self.converted(self.cast(c, self.type), self.work) for c in (low, high))
        return down, up

    def neighbours_by_step(self, size: Instruction) -> tuple[Instruction, Instruction]:
        """The same where no integers have as many bits: multiples of the last place's value."""
        info: Any = ml_dtypes.finfo(self.type.dtype)  # type: ignore[no-untyped-call]
        bits = HLO_TYPES[f"u{self.work.bits}"]
        exponents = int(np.array(np.inf, self.work.dtype).view(bits.dtype))
        masked = self.apply("and", self.cast(size, bits), self.number(bits, exponents))
        last = self.number(self.work, 2.0**-info.nmant)
        step = self.apply("multiply", self.cast(masked, self.work), last)
        step = self.apply("maximum", step, self.number(self.work, info.smallest_subnormal))
        count = self.apply("floor", self.apply("divide", size, step))
        down = self.apply("multiply", count, step)
        return down, self.apply("add", down, step)

    def is_up(self, fraction: Instruction) -> Instruction:
        """random < fraction · 2^bits, both of them integers."""
        bits = self.random.array_shape.element_type
        random = self.random
        if bits.bits > 32:
            random = self.apply("shift-right-logical", random, self.number(bits, 11))
        scale = self.number(self.work, 2.0 ** min(bits.bits, 53))
        scaled = self.apply("floor", self.apply("multiply", fraction, scale))
        return self.compare("LT", self.converted(random, self.work), scaled)

    def is_negative(self) -> Instruction:
        sign = self.cast(self.wide, HLO_TYPES[f"s{self.work.bits}"])
        return self.compare("LT", sign, self.number(sign.array_shape.element_type, 0))

    def with_sign(self, size: Instruction) -> Instruction:
        return self.select(self.is_negative(), self.apply("negate", size), size)

    def shape(self, element_type: ElementType) -> ArrayShape:
        return ArrayShape(element_type, self.dimensions)

    def number(self, element_type: ElementType, value: float) -> Instruction:
        return splat(self.origin, np.asarray(value), self.shape(element_type))

    def apply(
        self, op: str, *operands: Instruction, type: ElementType | None = None
    ) -> Instruction:
        shape = self.shape(type or operands[0].array_shape.element_type)
        return derived(self.origin, op, shape, operands)

    def select(self, condition: Instruction, a: Instruction, b: Instruction) -> Instruction:
        return self.apply("select", condition, a, b, type=a.array_shape.element_type)

    def compare(self, direction: str, a: Instruction, b: Instruction) -> Instruction:
        return derived(self.origin, "compare", self.shape(PRED), (a, b), Compare(direction))

    def converted(self, value: Instruction, element_type: ElementType) -> Instruction:
        return converted(self.origin, value, element_type)

    def cast(self, value: Instruction, element_type: ElementType) -> Instruction:
        return self.apply("bitcast-convert", value, type=element_type)


register(
    OpDef(
        "stochastic-convert",
        arity=(2, 2),
        check=check,
        evaluate=evaluate_expanded,
        expand=expand,
        elementwise=True,
    )
)
