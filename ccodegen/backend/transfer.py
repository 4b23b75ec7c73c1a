"""Host arrays in and out: checked, dense, aligned, and apart from each other."""

from __future__ import annotations

import bisect
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.backend.signature import Signature, Slot, Structure, leaves
from ccodegen.support.element_type import Kind, array_text, from_dtype
from ccodegen.support.errors import InputError
from ccodegen.support.naming import counted

Array = np.ndarray[Any, Any]
LARGE = 1 << 16  # bytes
_LINE, _HALF_PAGE = 64, 2048
_PYTHON_SCALARS = (bool, int, float, complex)


class HostTransferManager:
    """Arguments and results are NumPy arrays in this process: what fits is used where it is."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._inputs = signature.inputs
        self._order = {slot.parameter: n for n, slot in enumerate(self._inputs)}
        self._padded = [n for n, s in enumerate(signature.arguments) if padding(s.dtype)]
        self._states = {
            n: np.array(s.initial, s.dtype).reshape(s.shape)
            for n, s in enumerate(signature.arguments)
            if s.initial
        }

    def arguments(self, values: Sequence[Any]) -> list[Array]:
        """An array for each argument of a call, in their order: what is one that fits, as it is.

        Raises InputError for what is of the wrong number, type or shape, or cannot be written.
        """
        return [_accepted(v, s) for v, s in zip(self._counted(values), self._inputs, strict=True)]

    def converted(self, arrays: Sequence[Any], out: Any = None) -> list[Array]:
        """An array for each pointer: arguments copied where they are not dense or share memory with
        what is written; results new, or the caller's of `out`.

        Raises InputError as `arguments`.
        """
        inputs = self.arguments(arrays)
        given = None if out is None else self._given(out)
        pool = []
        for number, slot in enumerate(self._signature.arguments):
            if slot.initial:
                pool.append(self._states[number])
            elif slot.parameter is not None:
                pool.append(inputs[self._order[slot.parameter]])
            elif given is None:
                pool.append(new_array(slot.shape, slot.dtype))
            else:
                pool.append(_writable(given[slot.output], slot, f"out {slot.name}"))
        pool = _apart(pool, self._signature.arguments)
        for place in self._padded:
            slot = self._signature.arguments[place]
            pool[place] = sign_extended(pool[place], in_place=slot.output is not None)
        return pool

    def finish(self, pool: Sequence[Array]) -> None:
        """Makes NumPy's values of what a run has written."""
        for place in self._padded:
            if self._signature.arguments[place].output is not None:
                _cut(pool[place])

    def _counted(self, arrays: Sequence[Any]) -> Sequence[Any]:
        count = len(self._inputs)
        if len(arrays) == count:
            return arrays
        names = ", ".join(slot.name for slot in self._inputs)
        expected = f"expected {counted(count, 'argument')}{f' ({names})' if names else ''}"
        raise InputError(f"{expected}, got {len(arrays)}")

    def _given(self, out: Any) -> dict[int | None, Any]:
        structure = self._signature.structure
        return dict(zip(leaves(structure), _flattened(out, structure), strict=True))


def sign_extended(array: Array, in_place: bool = False) -> Array:
    """Signed numbers below a byte as C has them, their sign in the bits above; NumPy has zeros.

    Other arrays are returned as they are, of C order.
    """
    unused = padding(array.dtype)
    if not unused:
        return np.ascontiguousarray(array).reshape(array.shape)
    result = array if in_place else array.copy(order="C")
    values = result.view(np.int8)
    np.right_shift(np.left_shift(values, unused, out=values), unused, out=values)
    return result


def logical(array: Array) -> Array:
    """NumPy's values of what a program has written, in the same memory."""
    if padding(array.dtype):
        _cut(array)
    return array


def _cut(array: Array) -> None:
    values = array.view(np.uint8)
    np.bitwise_and(values, 0xFF >> padding(array.dtype), out=values)


def padding(dtype: np.dtype[Any]) -> int:
    """The bits of its byte that a signed type does not use."""
    element = from_dtype(dtype)
    return 8 - element.bits if element.kind is Kind.SIGNED and element.bits < 8 else 0


def _accepted(value: Any, slot: Slot) -> Array:
    return _readable(value, slot) if slot.output is None else _writable(value, slot, slot.name)


def _readable(value: Any, slot: Slot) -> Array:
    if isinstance(value, _PYTHON_SCALARS) and np.can_cast(type(value), slot.dtype, "same_kind"):
        value = np.asarray(value, slot.dtype)
    array = np.asarray(value)
    _check(array, slot, slot.name)
    if array.dtype is slot.dtype and array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.require(array, slot.dtype, ("C_CONTIGUOUS", "ALIGNED"))


def new_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Memory for a result. That of a large one begins with a cache line, where NumPy's own begins
    16 bytes later: no vector lies in two lines then. It begins half a page further than NumPy's,
    which the arguments tend to be: processors delay reads from the place in a page that was just
    written in another page."""
    size = math.prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    memory = aligned_bytes(_HALF_PAGE + size, _LINE)[_HALF_PAGE:]
    return memory.view(dtype).reshape(shape)


def aligned_bytes(size: int, alignment: int) -> Array:
    """Memory at an address that is a multiple of `alignment`."""
    memory = np.empty(size + alignment, np.uint8)
    start = -address(memory) % alignment
    return memory[start : start + size]


def address(array: Array) -> int:
    """Where its first element lies in memory."""
    start: int = array.__array_interface__["data"][0]
    return start


def _writable(value: Any, slot: Slot, name: str) -> Array:
    """An array that the program writes: it must be one, as it is."""
    if not isinstance(value, np.ndarray):
        raise InputError(f"{name} is written in place: expected a NumPy array, got {_kind(value)}")
    _check(value, slot, name)
    if not (value.flags.carray and value.dtype.isnative):
        hint = "pass a writable array of C order, for example numpy.array(x, order='C')"
        raise InputError(f"{name} is written in place and must be writable and dense", hint=hint)
    return value


def _check(array: Array, slot: Slot, name: str) -> None:
    own = array.dtype
    if array.shape == slot.shape and (own == slot.dtype or own.newbyteorder("=") == slot.dtype):
        return
    raise InputError(f"{name}: expected {slot}, got {_kind(array)}")


def _kind(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}"
    return array_text(value)


def _apart(arrays: list[Array], slots: Sequence[Slot]) -> list[Array]:
    """Copies what is only read and lies in the same memory as what is written."""
    pairs = list(zip(arrays, slots, strict=True))
    written = sorted((*_span(a), s.name) for a, s in pairs if s.output is not None and a.nbytes)
    for (_, end, name), (start, _, its) in itertools.pairwise(written):
        if start < end:
            raise InputError(f"{name} and {its} are written and share memory")

    def is_written(array: Array) -> bool:
        start, end = _span(array)
        before = bisect.bisect_left(written, end, key=operator.itemgetter(0))
        return start < end and before > 0 and written[before - 1][1] > start

    return [a.copy() if s.output is None and is_written(a) else a for a, s in pairs]


def _span(array: Array) -> tuple[int, int]:
    """Where a dense array begins and ends in memory."""
    start = address(array)
    return start, start + array.nbytes


def _flattened(out: Any, structure: Structure) -> list[Any]:
    if isinstance(structure, int):
        return [out]
    if not isinstance(out, tuple | list) or len(out) != len(structure):
        raise InputError(f"out: expected a tuple of {len(structure)}, got {_kind(out)}")
    parts = zip(out, structure, strict=True)
    return [leaf for part, own in parts for leaf in _flattened(part, own)]
