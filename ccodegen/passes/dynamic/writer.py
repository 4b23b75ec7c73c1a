"""Writes instructions in the place of one, over arrays at their bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ccodegen.hlo.attributes import Attributes
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import broadcast, constant, converted, derived, element_of
from ccodegen.ops.creation import Iota
from ccodegen.ops.elementwise import Compare
from ccodegen.passes.dynamic.values import Padded, Sizes, of_tuple
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import immutable


@immutable
class Writer:
    """`old`: the instruction as it was. `plain`: it at the bounds, over padded operands."""

    old: Instruction
    plain: Instruction

    def over(
        self, *operands: Instruction, shape: Shape | None = None, **changed: Any
    ) -> Instruction:
        """`plain` over other operands; `changed` are other attributes."""
        attributes = replace(self.plain.attributes, **changed)
        return replace(
            self.plain, operands=operands, shape=shape or self.plain.shape, attributes=attributes
        )

    def result(self, value: Instruction, sizes: Sizes) -> Padded:
        """An array, or a tuple of arrays that all have these sizes."""
        if not isinstance(value.shape, TupleShape):
            return Padded(value, sizes)
        count = len(value.shape.elements)
        return of_tuple(value, [Padded(element_of(value, value, n), sizes) for n in range(count)])

    def refuse(self, why: str = "") -> NoReturn:
        """Raises UnsupportedError: the op cannot be written for these dynamic dimensions."""
        shapes = ", ".join(str(o.shape) for o in self.old.operands)
        message = f"{self.old.op} '{self.old.name}' of ({shapes}) to {self.old.shape}"
        raise UnsupportedError(f"{message}{why and f': {why}'}", self.old.location)

    def make(
        self, op: str, shape: ArrayShape, *operands: Instruction, attributes: Any = None
    ) -> Instruction:
        return derived(self.plain, op, shape, operands, attributes or Attributes())

    def number(self, value: int) -> Instruction:
        return constant(self.plain, np.asarray(value, np.int32))

    def scalar(self, value: Any, element_type: ElementType) -> Instruction:
        return constant(self.plain, np.asarray(value).astype(element_type.dtype))

    def apply(self, op: str, *operands: Instruction | int) -> Instruction:
        """An elementwise op over arrays of one shape; numbers stand for s32[]."""
        values = [self.number(o) if isinstance(o, int) else o for o in operands]
        return self.make(op, values[-1].array_shape, *values)

    def compare(self, direction: str, a: Instruction, b: Instruction | int) -> Instruction:
        other = self.number(b) if isinstance(b, int) else b
        shape = a.array_shape.with_type(ElementType.PRED)
        return self.make("compare", shape, a, other, attributes=Compare(direction))

    def converted(self, value: Instruction, element_type: ElementType) -> Instruction:
        return converted(self.plain, value, element_type)

    def spread(self, scalar: Instruction | int, dimensions: Sequence[int]) -> Instruction:
        value = self.number(scalar) if isinstance(scalar, int) else scalar
        return broadcast(self.plain, value, dimensions, ())

    def iota(self, dimensions: Sequence[int], dimension: int) -> Instruction:
        shape = ArrayShape(ElementType.S32, tuple(dimensions))
        return self.make("iota", shape, attributes=Iota(dimension))

    def inside(self, dimensions: Sequence[int], sizes: Sizes) -> Instruction | None:
        """pred of these dimensions: which elements count. None: all."""
        conditions = [
            self.compare("LT", self.iota(dimensions, d), self.spread(size, dimensions))
            for d, size in enumerate(sizes)
            if size is not None
        ]
        return reduce(lambda a, b: self.apply("and", a, b), conditions) if conditions else None

    def filled(self, value: Instruction, sizes: Sizes, filler: Instruction) -> Instruction:
        """The array with this scalar in the place of what does not count."""
        dimensions = value.array_shape.dimensions
        condition = self.inside(dimensions, sizes)
        if condition is None:
            return value
        return self.apply("select", condition, value, self.spread(filler, dimensions))


Rule: TypeAlias = Callable[[Writer, Sequence[Padded]], Padded]


def only(sizes: Sizes, dimensions: Iterable[int]) -> Sizes:
    """The sizes of these dimensions, none of the others."""
    kept = set(dimensions)
    return tuple(size if d in kept else None for d, size in enumerate(sizes))


def dynamic_among(sizes: Sizes, dimensions: Iterable[int]) -> bool:
    return any(size is not None for size in only(sizes, dimensions))


def merged_size(*sizes: Instruction | None) -> Instruction | None:
    """One size that dimensions which must agree have in common: the first that is known."""
    return next((size for size in sizes if size is not None), None)
