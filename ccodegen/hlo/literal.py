"""Literal values: NumPy arrays that do not change, or tuples of literals."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np

from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.support.element_type import from_dtype


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
    def array(self) -> np.ndarray[Any, Any]:
        """The value of an array literal, read-only, in row-major order."""
        assert self.elements is None
        return self._array

    @property
    def shape(self) -> Shape:
        if self.elements is not None:
            return TupleShape(tuple(e.shape for e in self.elements))
        return ArrayShape(from_dtype(self._array.dtype), self._array.shape)

    @cached_property
    def _digest(self) -> bytes:
        digest = hashlib.blake2b(str(self.shape).encode(), digest_size=16)
        for part in self.elements or ():
            digest.update(part._digest)
        if self.elements is None:
            digest.update(np.ascontiguousarray(self._array).tobytes())
        return digest.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"Literal({self.shape})"
