"""Literal values: NumPy arrays that do not change, what is computed from such, or tuples."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.support.element_type import from_dtype
from ccodegen.support.pieces import Array, Pieces, joined

_HASHED = 256  # about so many bytes of a literal


class Literal:
    """A constant: `array` for an array shape, `elements` for a tuple.

    Equal when type, shape and every bit are equal (so NaN equals itself, and 0 is not -0).
    """

    def __init__(self, value: Any) -> None:
        self.elements: tuple[Literal, ...] | None = None
        if isinstance(value, tuple):
            self.elements = tuple(e if isinstance(e, Literal) else Literal(e) for e in value)
            return
        array = np.asarray(value, order="C")
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        self._array = array

    @property
    def array(self) -> Array:
        """The value of an array literal, read-only, in row-major order."""
        assert self.elements is None
        return self._array

    @property
    def data(self) -> Array | Pieces:
        """The array, or what computes it."""
        return self.array

    @property
    def shape(self) -> Shape:
        if self.elements is not None:
            return TupleShape(tuple(e.shape for e in self.elements))
        return ArrayShape(from_dtype(self._array.dtype), self._array.shape)

    @cached_property
    def _hash(self) -> int:
        """Of the shape and some of the bytes: literals may be large."""
        if self.elements is not None:
            return hash(self.elements)
        # An odd step, so that it is not the same byte of every element.
        sample = self._bytes[:: self._bytes.size // _HASHED | 1]
        return hash((self.shape, sample.tobytes()))

    @property
    def _bytes(self) -> Array:
        return self.array.reshape(-1).view(np.uint8)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Literal) or hash(self) != hash(other):
            return False
        if self.elements is not None or other.elements is not None:
            return self.elements == other.elements
        return self.shape == other.shape and np.array_equal(self._bytes, other._bytes)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Literal({self.shape})"


class DerivedLiteral(Literal):
    """An array that is computed whenever it is read, and then not kept: large weights would lie in
    memory once for each form that passes give them.

    Equal when derived alike from equals; never equal to an array that is kept.
    """

    def __init__(self, shape: ArrayShape, derive: Pieces) -> None:
        """`derive`: of that shape and the same each time, equal where it gives the same."""
        self.elements = None
        self._shape, self._derive = shape, derive

    @property
    def array(self) -> Array:
        return joined(self._derive)

    @property
    def data(self) -> Array | Pieces:
        return self._derive

    @property
    def shape(self) -> Shape:
        return self._shape

    @cached_property
    def _hash(self) -> int:
        return hash((self._shape, self._derive))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DerivedLiteral) and self._derive == other._derive

    __hash__ = Literal.__hash__
