"""Literals in HLO text: `{{1, 2}, {3, 4}}`, `(1, {2, 3})`, `{(1, 0), (0, nan(0x1))}`.

A literal may be 100 MB long, so its nesting is compared as a whole with what the shape asks for,
and its numbers are converted in bulk; only to say where an error is does anyone look at tokens.
"""

from __future__ import annotations

import math
import re

import numpy as np

from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.hlo.text.cursor import Cursor
from ccodegen.hlo.text.numbers import Array, BadNumber, from_texts, to_texts
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

ELIDED_HINT = (
    "print the module with its large constants, e.g. as_hlo_text(print_large_constants=True), "
    "or --xla_dump_large_constants; or load the proto, which has them always"
)
_ELIDED = pattern(r"\{\s*\.\.\.")
_COMMENT = pattern(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NAN_PAYLOAD = pattern(r"nan\((0x[0-9a-fA-F]+)\)")
_PART = r"-?nan\(0x[0-9a-fA-F]+\)|[\w.+-]+"
_SCALAR = pattern(_PART, re.ASCII)
_COMPLEX = pattern(rf"\(\s*(?:{_PART})\s*,\s*(?:{_PART})\s*\)", re.ASCII)
_BRACKETS = b"{}()"
_TO_BLANKS = bytes.maketrans(_BRACKETS, b" " * len(_BRACKETS))
_NOT_STRUCTURE = bytes(set(range(256)) - set(b"{}(),"))
_MAX_TEXTS = 1 << 20  # numbers converted at a time, to bound the memory for their texts


def parse_literal(cursor: Cursor, shape: Shape) -> Literal:
    """The literal of this shape that stands here. Raises InputError."""
    if cursor.match(_ELIDED):
        raise cursor.error("the constant's value was left out ('{...}')", hint=ELIDED_HINT)
    if isinstance(shape, TupleShape):
        with cursor.nested():
            return _tuple(cursor, shape)
    if not isinstance(shape, ArrayShape):
        raise cursor.error(f"there are no literals of shape {shape}")
    if any(d < 0 for d in shape.dimensions):
        raise cursor.error(f"a literal cannot have the unbounded shape {shape}")
    return _array(cursor, shape)


def _tuple(cursor: Cursor, shape: TupleShape) -> Literal:
    cursor.expect("(", f"before a literal of shape {shape}")
    elements: list[Literal] = []
    for i, element in enumerate(shape.elements):
        if i:
            cursor.expect(",", f"between the {len(shape.elements)} elements of the tuple")
        elements.append(parse_literal(cursor, element))
    cursor.expect(")", f"after the {len(shape.elements)} elements of the tuple")
    return Literal(tuple(elements))


def _array(cursor: Cursor, shape: ArrayShape) -> Literal:
    start, end = cursor.position, _end(cursor, shape)
    text = cursor.text[start:end]
    if "..." in text:
        raise cursor.error("a part of the constant was left out ('...')", hint=ELIDED_HINT)
    if "/" in text:
        text = _COMMENT.sub(" ", text)
    if "nan(" in text:
        text = _NAN_PAYLOAD.sub(r"nan:\1", text)
    data = text.encode("ascii", "replace")
    if data.translate(None, _NOT_STRUCTURE) != _structure(shape):
        raise _structure_error(cursor, shape)
    try:
        values = _numbers(data.translate(_TO_BLANKS), shape)
    except BadNumber as bad:
        raise _number_error(cursor, start, bad) from None
    cursor.move_to(end)
    return Literal(values.reshape(shape.dimensions))


def _numbers(data: bytes, shape: ArrayShape) -> Array:
    if not shape.size:
        if data.replace(b",", b" ").strip():
            raise BadNumber(0, "expected no element: the shape is empty")
        return np.zeros(0, shape.element_type.dtype)
    underscore = data.find(b"_")  # Python's own conversions allow it
    if underscore >= 0:
        raise BadNumber(data.count(b",", 0, underscore), "expected a number without '_'")
    if data.count(b",") <= _MAX_TEXTS:
        return from_texts(data.split(b","), shape.element_type)
    parts, done, rest = [], 0, data
    while rest:
        *texts, rest = rest.split(b",", _MAX_TEXTS)
        if len(texts) < _MAX_TEXTS:
            texts, rest = [*texts, rest], b""
        try:
            parts.append(from_texts(texts, shape.element_type))
        except BadNumber as bad:
            raise BadNumber(done + bad.index, bad.problem) from None
        done += len(texts)
    return np.concatenate(parts)


def _depth(shape: ArrayShape) -> int:
    """How deep the braces nest: an empty dimension hides those after it."""
    dims = shape.dimensions
    return dims.index(0) + 1 if 0 in dims else len(dims)


def _structure(shape: ArrayShape) -> bytes:
    """The literal's brackets and commas."""
    text = b"(,)" if shape.element_type.is_complex else b""
    for size in reversed(shape.dimensions[: _depth(shape)]):
        text = b"{" + b",".join([text] * size) + b"}"
    return text


def _end(cursor: Cursor, shape: ArrayShape) -> int:
    """The offset behind the literal: its last closing braces are as many as its dimensions."""
    depth = _depth(shape)
    if depth:
        closing = re.compile(r"\}(?:(?:\s|/\*.*?\*/)*\})" + f"{{{depth - 1}}}", re.DOTALL)
        found = closing.search(cursor.text, cursor.position)
    else:
        found = cursor.match(_COMPLEX if shape.element_type.is_complex else _SCALAR)
    if not found or (depth and not cursor.text.startswith("{", cursor.position)):
        raise _structure_error(cursor, shape)
    return found.end()


def _structure_error(cursor: Cursor, shape: ArrayShape) -> InputError:
    """Walks the literal to the place where it leaves its shape."""
    hint = f"the literal's shape is {shape}"
    try:
        _walk(cursor, shape.dimensions[: _depth(shape)], shape.element_type.is_complex)
    except InputError as error:
        error.hint = error.hint or hint
        return error
    return cursor.error("the literal does not fit its shape", hint=hint)


def _walk(cursor: Cursor, dims: tuple[int, ...], is_complex: bool) -> None:
    if not dims:
        what = "a complex number, such as (1, 0)" if is_complex else "a number"
        cursor.expect_match(_COMPLEX if is_complex else _SCALAR, what)
        return
    cursor.expect("{", "before the elements of a dimension")
    for i in range(dims[0]):
        if i:
            cursor.expect(",", f"after {i} of {dims[0]} elements")
        _walk(cursor, dims[1:], is_complex)
    cursor.expect("}", f"after {dims[0]} elements")


def _number_error(cursor: Cursor, start: int, bad: BadNumber) -> InputError:
    cursor.move_to(start)
    for _ in range(bad.index):
        _to_number(cursor)
        cursor.expect_match(_SCALAR, "a number")
    _to_number(cursor)
    return cursor.error(bad.problem)


def _to_number(cursor: Cursor) -> None:
    while any(map(cursor.accept, "{}(),")):
        pass


def literal_text(literal: Literal) -> str:
    """The literal's canonical text."""
    if literal.elements is not None:
        return f"({', '.join(map(literal_text, literal.elements))})"
    shape = literal.shape
    assert isinstance(shape, ArrayShape)
    texts = to_texts(literal.array, shape.element_type)
    dims = shape.dimensions[: _depth(shape)]
    if 0 in dims:
        texts, dims = ["{}"] * math.prod(dims[:-1]), dims[:-1]
    for size in reversed(dims):
        texts = ["{" + ", ".join(texts[i : i + size]) + "}" for i in range(0, len(texts), size)]
    return texts[0]
