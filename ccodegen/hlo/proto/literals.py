"""LiteralProto → Literal: one list or byte string per element type, in the layout's order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.literal import Literal
from ccodegen.hlo.proto.shapes import read_shape
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.support.errors import InputError, UnsupportedError

_VARINTS = ("s32", "s64", "u32", "u64")


def read_literal(proto: Any) -> Literal:
    """The literal. Raises InputError where the data does not fit the shape."""
    shape = read_shape(proto.shape)
    if isinstance(shape, TupleShape):
        if len(proto.tuple_literals) != len(shape.elements):
            raise InputError(f"{len(proto.tuple_literals)} tuple elements for {shape}")
        return Literal(tuple(read_literal(element) for element in proto.tuple_literals))
    if not isinstance(shape, ArrayShape):
        raise InputError(f"a literal cannot have the shape {shape}")
    if proto.dynamic_sizes:
        raise UnsupportedError(f"a literal with dynamic sizes, of shape {shape}")
    return Literal(_logical(_elements(proto, shape), shape))


def _elements(proto: Any, shape: ArrayShape) -> np.ndarray[Any, Any]:
    """The elements in memory order, as many as the shape has."""
    element_type = shape.element_type
    data = getattr(proto, f"{element_type.text}s")
    if element_type.text in _VARINTS:
        _check_length(len(data), shape.size, shape)
        return np.fromiter(data, element_type.dtype, len(data))
    stored = data if isinstance(data, bytes) else b"".join(data)
    _check_length(len(stored), shape.bytes, shape)
    if element_type.bits >= 8:
        return np.frombuffer(stored, element_type.dtype.newbyteorder("<"))
    significant = np.frombuffer(stored, np.uint8) & ((1 << element_type.bits) - 1)
    return significant.astype(np.uint8).view(element_type.dtype)


def _check_length(found: int, wanted: int, shape: ArrayShape) -> None:
    if found != wanted:
        raise InputError(f"the data of a literal does not fit its shape {shape}")


def _logical(elements: np.ndarray[Any, Any], shape: ArrayShape) -> np.ndarray[Any, Any]:
    """The array, with its dimensions in the shape's order instead of the layout's."""
    if shape.layout is None:
        return elements.reshape(shape.dimensions)
    major_to_minor = shape.layout.minor_to_major[::-1]
    stored = elements.reshape([shape.dimensions[d] for d in major_to_minor])
    return stored.transpose(np.argsort(major_to_minor))
