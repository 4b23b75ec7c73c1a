"""Shapes in HLO text: `f32[2,<=8,?]{1,0:T(8,128)}`, `(f32[2], token[])`."""

from __future__ import annotations

import functools
import re

from ccodegen.hlo.limits import check_dimensions
from ccodegen.hlo.shape import (
    TOKEN,
    UNBOUNDED,
    ArrayShape,
    BufferShape,
    Layout,
    OpaqueShape,
    Shape,
    TupleShape,
)
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

# A brace after a shape opens a layout only if an integer or a colon follows.
_ARRAY = pattern(
    r"([a-z][a-z0-9]*)\s*\[([^\]{}()\"%]*)\](?:\s*\{(?=\s*[\d:])([^{}]*(?:\{[^{}]*\}[^{}]*)*)\})?",
    re.ASCII,
)
_DIMENSION = pattern(r"\s*(?:(<=)?\s*(\d{1,25})|(\?))\s*", re.ASCII)
_BUFFER = pattern(r"b\s*\(")
_SHAPE_START = pattern(r"\(|b\s*\(|[a-z][a-z0-9]*\s*\[")


def at_shape(cursor: Cursor) -> bool:
    return cursor.match(_SHAPE_START) is not None


def shape_from_text(text: str) -> Shape:
    """The shape spelled by the whole text. Raises InputError."""
    cursor = Cursor(text)
    shape = parse_shape(cursor)
    if not cursor.at_end():
        raise cursor.expected("the end of the shape")
    return shape


def parse_shape(cursor: Cursor) -> Shape:
    """The shape that stands here. Raises InputError where there is none."""
    if cursor.accept("("):
        with cursor.nested():
            return _tuple(cursor)
    if cursor.take(_BUFFER):
        return _buffer(cursor)
    at = cursor.position
    found = cursor.expect_match(_ARRAY, "a shape, such as f32[2,3]")
    try:
        return _array(found[1], found[2], found[3])
    except InputError as error:
        error.location = cursor.location(at)
        raise


def _tuple(cursor: Cursor) -> TupleShape:
    elements: list[Shape] = []
    while not cursor.accept(")"):
        if elements:
            cursor.expect(",", "or ')' after an element of the tuple")
        elements.append(parse_shape(cursor))
    return TupleShape(tuple(elements))


def _buffer(cursor: Cursor) -> BufferShape:
    at = cursor.position
    array = None if cursor.match(_BUFFER) else parse_shape(cursor)
    if not isinstance(array, ArrayShape):
        raise cursor.error("a buffer holds an array", at, "write b(f32[2,3])")
    cursor.expect(")", "after the buffer's shape")
    return BufferShape(array)


@functools.lru_cache(maxsize=4096)
def _array(type_name: str, dims_text: str, layout_text: str | None) -> Shape:
    if type_name in ("token", "opaque"):
        if dims_text.strip():
            raise InputError(f"a {type_name} has no dimensions", hint=f"write {type_name}[]")
        return TOKEN if type_name == "token" else OpaqueShape()
    element_type = HLO_TYPES.get(type_name)
    if element_type is None:
        hint = "the element types are " + " ".join(HLO_TYPES)
        raise InputError(f"unknown element type '{type_name}'", hint=hint)
    dimensions, dynamic = _dimensions(dims_text)
    layout = None if layout_text is None else _layout(layout_text, len(dimensions))
    return ArrayShape(element_type, dimensions, dynamic if any(dynamic) else (), layout)


def _dimensions(text: str) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    if not text.strip():
        return (), ()
    found = [_DIMENSION.fullmatch(part) for part in text.split(",")]
    matches = [f for f in found if f]
    if len(matches) < len(found):
        raise InputError(f"'[{text}]' are no dimensions", hint="write [2,3], [<=8] or [?]")
    sizes = tuple(UNBOUNDED if f[3] else int(f[2]) for f in matches)
    check_dimensions(sizes)
    return sizes, tuple(bool(f[1] or f[3]) for f in matches)


def _layout(text: str, rank: int) -> Layout:
    order_text, _, suffix = "".join(text.split()).partition(":")
    numbers = order_text.split(",") if order_text else []
    if not all(n.isdecimal() and len(n) < 4 for n in numbers):
        raise InputError(f"'{{{text}}}' is no layout", hint="write {1,0} or {1,0:T(8,128)}")
    order = tuple(map(int, numbers))
    if order and sorted(order) != list(range(rank)):
        message = f"the layout {{{order_text}}} is no order of the shape's {rank} dimensions"
        raise InputError(message)
    return Layout(order, suffix)


def same_with_layouts(a: Shape, b: Shape) -> bool:
    """Whether the shapes are equal, layouts too; no layout means major to minor."""
    if isinstance(a, TupleShape) and isinstance(b, TupleShape):
        pairs = zip(a.elements, b.elements, strict=False)
        return len(a.elements) == len(b.elements) and all(same_with_layouts(x, y) for x, y in pairs)
    if isinstance(a, ArrayShape) and isinstance(b, ArrayShape):
        return a == b and _layout_of(a) == _layout_of(b)
    if isinstance(a, BufferShape) and isinstance(b, BufferShape):
        return same_with_layouts(a.array, b.array)
    return a == b


def _layout_of(shape: ArrayShape) -> Layout:
    order = tuple(reversed(range(shape.rank)))
    layout = shape.layout or Layout(order)
    return Layout(layout.minor_to_major or order, layout.suffix)
