"""Shapes: arrays with an optional layout, tuples, tokens and opaque values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen

UNBOUNDED = -1


@frozen
class Layout:
    """The physical order of dimensions, minor first. `suffix` keeps what follows the colon
    in the text form (tiles, element size, memory space, …) as it was written."""

    minor_to_major: tuple[int, ...]
    suffix: str = ""


@frozen
class ArrayShape:
    """`f32[4,<=8]{1,0}`. A dynamic dimension's size is its bound (UNBOUNDED for `?`).

    `dynamic` is empty when no dimension is dynamic. Layouts do not take part in equality: values
    are logical, and only `bitcast`, `copy` and the entry interface look at them.
    """

    element_type: ElementType
    dimensions: tuple[int, ...] = ()
    dynamic: tuple[bool, ...] = ()
    layout: Layout | None = field(default=None, compare=False)

    @property
    def rank(self) -> int:
        return len(self.dimensions)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.dimensions)

    @property
    def bytes(self) -> int:
        return self.size * self.element_type.bytes

    def with_dimensions(self, dimensions: tuple[int, ...]) -> ArrayShape:
        """The same element type with other, static dimensions and the default layout."""
        return ArrayShape(self.element_type, dimensions)

    def with_type(self, element_type: ElementType) -> ArrayShape:
        return ArrayShape(element_type, self.dimensions, self.dynamic, self.layout)

    def __str__(self) -> str:
        return shape_text(self)


@frozen
class TupleShape:
    elements: tuple[Shape, ...] = ()

    def __str__(self) -> str:
        return shape_text(self)


@frozen
class TokenShape:
    def __str__(self) -> str:
        return "token[]"


@frozen
class OpaqueShape:
    def __str__(self) -> str:
        return "opaque[]"


@frozen
class BufferShape(OpaqueShape):
    """`b(f32[4])`: memory that custom calls pass around; opaque to everything else."""

    array: ArrayShape

    def __str__(self) -> str:
        return f"b({self.array})"


Shape: TypeAlias = ArrayShape | TupleShape | TokenShape | OpaqueShape
TOKEN = TokenShape()


def leaves(shape: Shape) -> Iterator[ArrayShape | TokenShape | OpaqueShape]:
    """The non-tuple parts, left to right."""
    if isinstance(shape, TupleShape):
        for element in shape.elements:
            yield from leaves(element)
    else:
        yield shape


def shape_text(shape: Shape, layouts: bool = True) -> str:
    """HLO's spelling of a shape."""
    if isinstance(shape, TupleShape):
        parts = []
        for i, element in enumerate(shape.elements):
            comment = f"/*index={i}*/" if i and i % 5 == 0 else ""
            parts.append(comment + shape_text(element, layouts))
        return f"({', '.join(parts)})"
    if isinstance(shape, BufferShape):
        return f"b({shape_text(shape.array, layouts)})"
    if not isinstance(shape, ArrayShape):
        return str(shape)
    dims = ",".join(_dimension_texts(shape))
    layout = _layout_text(shape.layout) if layouts and shape.layout else ""
    return f"{shape.element_type.text}[{dims}]{layout}"


def _dimension_texts(shape: ArrayShape) -> Iterator[str]:
    dynamic = shape.dynamic or (False,) * shape.rank
    for size, is_dynamic in zip(shape.dimensions, dynamic, strict=True):
        yield "?" if size == UNBOUNDED else f"<={size}" if is_dynamic else str(size)


def _layout_text(layout: Layout) -> str:
    order = ",".join(map(str, layout.minor_to_major))
    suffix = f":{layout.suffix}" if layout.suffix else ""
    return f"{{{order}{suffix}}}" if order or suffix else ""
