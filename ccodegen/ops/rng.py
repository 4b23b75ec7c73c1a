"""rng: numbers of a distribution, made from Philox's bits of the program's random state.

rng_uniform gives integers and floats a ≤ x < b (a where there is no such number), rng_normal floats
of a mean and a deviation, by Box and Muller's method. How many it gives follows from the declared
shape alone. Narrow floats are computed in f32.
"""

from __future__ import annotations

import math

import numpy as np

from ccodegen.hlo.attributes import NO_ATTRIBUTES, Attributes, AttrKind, SliceDimension, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import (
    broadcast,
    constant,
    converted,
    derived,
    element_of,
    reshape,
    slice_of,
    splat,
)
from ccodegen.ops.elementwise import MATH_FUNCTIONS, Compare, MathFunction
from ccodegen.ops.expansion import evaluate_expanded
from ccodegen.ops.movement import Concatenate
from ccodegen.ops.rng_bit_generator import RngBitGenerator
from ccodegen.ops.rng_state import state_read
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import frozen

F32, F64, U32, U64 = ElementType.F32, ElementType.F64, ElementType.U32, ElementType.U64
_KEY = 0x7012395
_MANTISSA = {F32: 24, F64: 53}


@frozen
class Rng(Attributes):
    """`distribution`: rng_uniform between the operands, or rng_normal of mean and deviation."""

    distribution: str = attr(AttrKind.ENUM)


def check(instruction: Instruction) -> None:
    parameters = arrays("rng", [o.shape for o in instruction.operands])
    (result,) = arrays("rng", [instruction.shape])
    for parameter in parameters:
        require(parameter.rank == 0, f"rng takes scalars, not {parameter}")
        require(
            parameter.element_type is result.element_type
            or (parameter.element_type.is_float and result.element_type.is_float),
            f"rng of {parameter} does not give {result}",
        )


def expand(instruction: Instruction) -> Instruction:
    return drawn(instruction, state_read(instruction, blocks(instruction)))


def blocks(instruction: Instruction) -> int:
    """By how much the state advances: Philox gives 128 bits a count."""
    numbers = _Numbers(instruction)
    return -(-instruction.array_shape.size * numbers.words * numbers.word.bits // 128)


def drawn(instruction: Instruction, state: Instruction) -> Instruction:
    """The numbers that the instruction makes of a state u64[2]."""
    numbers = _Numbers(instruction)
    if instruction.array_shape.size == 0:
        return splat(instruction, 0, numbers.shape)
    bits = numbers.bits(state)
    if numbers.is_normal:
        return numbers.normal(bits)
    is_float = numbers.type.is_float
    return numbers.uniform_float(bits) if is_float else numbers.uniform_integer(bits)


class _Numbers:
    """Writes the arithmetic over arrays of the result's dimensions."""

    def __init__(self, instruction: Instruction) -> None:
        self.origin = instruction
        self.type = instruction.array_shape.element_type
        self.dimensions = instruction.array_shape.dimensions
        self.is_normal = attributes_of(instruction, Rng).distribution == "rng_normal"
        supported = self.type.is_float or (self.type.is_integer and not self.is_normal)
        if not supported:
            what = f"{attributes_of(instruction, Rng).distribution} of {self.type.text}"
            raise UnsupportedError(f"rng '{instruction.name}': {what}", instruction.location)
        self.work = F64 if self.type is F64 else F32
        self.word = U32 if self.work is F32 and self.type.is_float else U64
        self.words = 2 if self.is_normal else 1

    @property
    def shape(self) -> ArrayShape:
        return ArrayShape(self.type, self.dimensions)

    def bits(self, state: Instruction) -> list[Instruction]:
        """`words` arrays of random words."""
        key = constant(self.origin, np.array([_KEY], np.uint64))
        whole = ArrayShape(U64, (3,))
        full = derived(self.origin, "concatenate", whole, (key, state), Concatenate((0,)))
        made = ArrayShape(self.word, (self.words * math.prod(self.dimensions),))
        both = TupleShape((whole, made))
        attributes = RngBitGenerator("rng_philox")
        pair = derived(self.origin, "rng-bit-generator", both, (full,), attributes)
        return self._parts(element_of(self.origin, pair, 1))

    def _parts(self, made: Instruction) -> list[Instruction]:
        """The first half of the words, and the second."""
        size = math.prod(self.dimensions)
        halves = [SliceDimension(n * size, (n + 1) * size, 1) for n in range(self.words)]
        return [
            reshape(self.origin, slice_of(self.origin, made, (half,)), self.dimensions)
            for half in halves
        ]

    def uniform_float(self, bits: list[Instruction]) -> Instruction:
        """a + (b - a) · u, which rounding may make b: there a."""
        a, b = (self.operand(n, self.work) for n in range(2))
        scaled = self.apply("multiply", self.unit(bits[0]), self.apply("subtract", b, a))
        value = self.converted(self.apply("add", a, scaled), self.type)
        low, high = (self.operand(n, self.type) for n in range(2))
        flags = self.shape.with_type(ElementType.PRED)
        is_out = derived(self.origin, "compare", flags, (value, high), Compare("GE"))
        return derived(self.origin, "select", self.shape, (is_out, low, value))

    def uniform_integer(self, bits: list[Instruction]) -> Instruction:
        """a + word mod (b - a), in 64 bits."""
        a, b = (self.operand(n, U64) for n in range(2))
        rest = self.apply("remainder", bits[0], self.apply("subtract", b, a))
        return self.converted(self.apply("add", a, rest), self.type)

    def normal(self, bits: list[Instruction]) -> Instruction:
        """mean + deviation · sqrt(-2 log(1 - u)) · cos(2π v)."""
        mean, deviation = (self.operand(n, self.work) for n in range(2))
        u, v = map(self.unit, bits)
        logarithm = self.apply("log", self.apply("subtract", self.number(u, 1.0), u))
        radius = self.apply("sqrt", self.apply("multiply", self.number(u, -2.0), logarithm))
        angle = self.apply("multiply", self.number(v, 2 * math.pi), v)
        value = self.apply("multiply", radius, self.apply("cosine", angle))
        value = self.apply("add", mean, self.apply("multiply", deviation, value))
        return self.converted(value, self.type)

    def unit(self, words: Instruction) -> Instruction:
        """0 ≤ u < 1, a multiple of 2^-24 or 2^-53."""
        mantissa = _MANTISSA[self.work]
        shift = self.number(words, self.word.bits - mantissa)
        high = self.converted(self.apply("shift-right-logical", words, shift), self.work)
        return self.apply("multiply", high, self.number(high, 2.0**-mantissa))

    def operand(self, number: int, element_type: ElementType) -> Instruction:
        scalar = self.converted(self.origin.operands[number], element_type)
        return broadcast(self.origin, scalar, self.dimensions, ())

    def apply(self, op: str, *operands: Instruction) -> Instruction:
        attributes = MathFunction() if op in MATH_FUNCTIONS.split() else NO_ATTRIBUTES
        return derived(self.origin, op, operands[0].array_shape, operands, attributes)

    def converted(self, value: Instruction, element_type: ElementType) -> Instruction:
        return converted(self.origin, value, element_type)

    def number(self, like: Instruction, value: float) -> Instruction:
        return splat(self.origin, value, like.array_shape)


register(
    OpDef(
        "rng",
        Rng,
        (2, 2),
        check=check,
        evaluate=evaluate_expanded,
        expand=expand,
        side_effect=True,
    )
)
