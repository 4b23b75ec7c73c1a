"""A computation in the making: the values that it has so far, and how more are found."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.builder import Builder
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.special_inputs import special_array
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.errors import InputError
from tests.random_modules import values

PRED, S32, U32 = HLO_TYPES["pred"], HLO_TYPES["s32"], HLO_TYPES["u32"]
_MOST_PARAMETERS = 6
_ATTEMPTS = 20
_DEEPEST = 2

Kind: TypeAlias = Callable[["Body"], Instruction]


class Maker:
    """What the computations of one module share. `kinds`: what may be added to a body; to a
    function of scalars, `scalar_kinds`. `neutral`: folds begin with values that change nothing."""

    def __init__(
        self,
        source: random.Random,
        exact: bool,
        kinds: Sequence[Kind],
        scalar_kinds: Sequence[Kind],
        neutral: bool = False,
    ) -> None:
        self.random, self.exact, self.neutral = source, exact, neutral
        self.kinds, self.scalar_kinds = kinds, scalar_kinds
        self.names = 0

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}.{self.names}"


class Body:
    """One computation. `values`: its arrays so far; those of dynamic shape are none of them, but
    may be `dynamic_results` of the entry. `depth`: how many computations it is called through; the
    entry has 0."""

    def __init__(self, maker: Maker, name: str, depth: int = 0) -> None:
        self.maker, self.random, self.depth = maker, maker.random, depth
        self.builder = Builder(maker.name(name))
        self.values: list[Instruction] = []
        self.dynamic_results: list[Instruction] = []
        self.parameters: list[Instruction] = []

    @property
    def exact(self) -> bool:
        return self.maker.exact

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def inner(self, name: str) -> Body:
        """The body of a computation that this one calls. Raises InputError where that is deep."""
        if self.depth >= _DEEPEST:
            raise InputError("deep enough")
        return Body(self.maker, name, self.depth + 1)

    def op(
        self, opcode: str, *operands: Instruction, shape: Shape | None = None, **attributes: Any
    ) -> Instruction:
        return self.builder.op(opcode, *operands, shape=shape, **attributes)

    def add(self, value: Instruction) -> Instruction:
        self.values.append(value)
        return value

    def parameter(self, shape: Shape) -> Instruction:
        """The next one; an array is among the values at once."""
        made = self.builder.parameter(shape)
        self.parameters.append(made)
        return self.add(made) if isinstance(shape, ArrayShape) else made

    def grow(self, steps: int) -> None:
        """Adds so many values; what does not fit together is tried again."""
        self._grow(steps, self.maker.kinds)

    def grow_scalars(self, steps: int) -> None:
        """The same with elementwise ops alone."""
        self._grow(steps, self.maker.scalar_kinds)

    def _grow(self, steps: int, kinds: Sequence[Kind]) -> None:
        for _ in range(steps):
            for _ in range(_ATTEMPTS):
                kind = self.random.choice(kinds)
                try:
                    made = kind(self)
                except InputError:
                    continue
                if made.array_shape.size <= values.MOST_ELEMENTS:
                    self.add(made)
                    break

    def type(self) -> ElementType:
        return values.random_type(self.random, self.exact)

    def type_where(self, fits: Callable[[ElementType], bool]) -> ElementType:
        """A type for which that holds. Raises InputError where there is none to choose from."""
        chosen = self.type()
        if fits(chosen):
            return chosen
        fitting = [*filter(fits, values.EXACT_TYPES)]
        if not fitting:
            raise InputError("none")
        return self.random.choice(fitting)

    def shape(self, element_type: ElementType | None = None) -> ArrayShape:
        return ArrayShape(element_type or self.type(), values.random_sizes(self.random))

    def any(self, rank: int = 0, fits: Callable[[ElementType], bool] | None = None) -> Instruction:
        """An array of at least this rank; the newest ones most often.

        `fits`: what its type must be; where there is none, another one is converted.
        """
        found = [v for v in self.values if v.array_shape.rank >= rank]
        if not found:
            raise InputError("none")
        recent = self.chance(0.6)
        chosen = self.random.choice(found[-3:] if recent else found)
        if fits is None or fits(chosen.array_shape.element_type):
            return chosen
        fitting = [v for v in found if fits(v.array_shape.element_type)]
        if fitting and self.chance(0.5):
            return self.random.choice(fitting)
        return self.converted(chosen, self.type_where(fits))

    def scalar(self, element_type: ElementType) -> Instruction:
        return self.like(ArrayShape(element_type))

    def index(self) -> Instruction:
        """A start index: of any integer type, often out of bounds."""
        if self.chance(0.8):
            return self.scalar(S32)
        return self.scalar(self.type_where(lambda t: t.is_integer))

    def like(self, shape: ArrayShape) -> Instruction:
        """An array of this shape: one there is, or one made."""
        fitting = [v for v in self.values if v.shape == shape]
        if fitting and self.chance(0.7):
            return self.random.choice(fitting)
        if self.depth == 0 and len(self.parameters) < _MOST_PARAMETERS and self.chance(0.4):
            return self.parameter(shape)
        same_sizes = [v for v in self.values if v.array_shape.dimensions == shape.dimensions]
        if same_sizes and self.chance(0.4):
            return self.converted(self.random.choice(same_sizes), shape.element_type)
        if self.values and self.chance(0.3):
            return self.fitted(self.any(), shape)
        if self.chance(0.6):
            return self.constant(shape)
        scalar = self.constant(ArrayShape(shape.element_type))
        return self.op("broadcast", scalar, shape=shape, dimensions=())

    def fitted(self, value: Instruction, shape: ArrayShape) -> Instruction:
        """The value's elements in row-major order, cropped or padded to this shape."""
        flat = value.array_shape.with_dimensions((value.array_shape.size,))
        row = self.op("reshape", value, shape=flat)
        if flat.size < shape.size:
            filling = self.constant(ArrayShape(flat.element_type))
            wide = flat.with_dimensions((shape.size,))
            padding = (values.edge(shape.size - flat.size),)
            row = self.op("pad", row, filling, shape=wide, padding=padding)
        elif flat.size > shape.size:
            row = self.op("slice", row, slice=(values.first(shape.size),))
        fitted = self.op("reshape", row, shape=shape.with_type(flat.element_type))
        return self.converted(fitted, shape.element_type)

    def converted(self, value: Instruction, element_type: ElementType) -> Instruction:
        if value.array_shape.element_type is element_type:
            return value
        if value.array_shape.element_type.is_complex and not element_type.is_complex:
            value = self.op("real", value)
        return self.op("convert", value, shape=value.array_shape.with_type(element_type))

    def without_nan(self, value: Instruction) -> Instruction:
        """The value with ones for NaNs, for readers that see sign and payload of a NaN: HLO does
        not say what they are."""
        shape = value.array_shape
        if not shape.element_type.is_float or self.exact:
            return value
        one = self.builder.constant(1, ArrayShape(shape.element_type))
        ones = self.op("broadcast", one, shape=shape, dimensions=())
        return self.op("select", self.op("compare", value, value, direction="EQ"), value, ones)

    def constant(self, shape: ArrayShape) -> Instruction:
        generator = np.random.default_rng(self.random.randrange(2**32))
        small = self.exact or self.chance(0.4)
        make = values.small_integers if small else special_array
        return self.builder.constant(Literal(np.asarray(make(shape, generator))))

    def tuple(self, parts: Sequence[Instruction]) -> Instruction:
        return self.op("tuple", *parts, shape=TupleShape(tuple(p.shape for p in parts)))

    def parts(self, value: Instruction) -> list[Instruction]:
        """The elements of a tuple, taken out."""
        assert isinstance(value.shape, TupleShape)
        return [
            self.op("get-tuple-element", value, shape=shape, index=n)
            for n, shape in enumerate(value.shape.elements)
        ]

    def one_of(self, value: Instruction) -> Instruction:
        """An element of a tuple, or the array itself; the other elements may be used, too."""
        if not isinstance(value.shape, TupleShape):
            return value
        parts = self.parts(value)
        self.random.shuffle(parts)
        chosen = parts.pop()
        self.values += parts if self.chance(0.6) else []
        return chosen

    def build(self, root: Instruction) -> Computation:
        return self.builder.build(root)
