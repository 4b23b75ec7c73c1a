"""Host arrays in and out: checked, dense, aligned, and apart from each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.backend.signature import Signature, Slot, Structure, leaves
from ccodegen.support.element_type import from_dtype
from ccodegen.support.errors import InputError

Array = np.ndarray[Any, Any]
_PYTHON_SCALARS = (bool, int, float, complex)


class HostTransferManager:
    """Arguments and results are NumPy arrays in this process: what fits is used where it is."""

    def __init__(self, signature: Signature) -> None:
        self._structure = signature.structure
        self._inputs = [(slot, slot.dtype, slot.shape) for slot in signature.inputs]
        self._results = [slot for slot in signature.outputs if slot.parameter is None]
        self._new = [(slot.shape, slot.dtype) for slot in self._results]
        self._places = leaves(signature.structure)
        self._updates = any(slot.output is not None for slot in signature.inputs)

    def accept(self, arrays: Sequence[Any]) -> list[Array]:
        """The arguments, copied where they are not dense arrays of native byte order."""
        if len(arrays) != len(self._inputs):
            names = ", ".join(slot.name for slot, _, _ in self._inputs)
            expected = f"expected {len(self._inputs)} arguments ({names}), got {len(arrays)}"
            raise InputError(expected if names else f"expected no arguments, got {len(arrays)}")
        accepted = []
        for array, (slot, dtype, shape) in zip(arrays, self._inputs, strict=True):
            if type(array) is np.ndarray and array.dtype is dtype and array.shape == shape:
                flags = array.flags
                if flags.c_contiguous and flags.aligned and slot.output is None:
                    accepted.append(array)
                    continue
            accepted.append(_read(array, slot) if slot.output is None else _updated(array, slot))
        return self.apart(accepted, []) if self._updates else accepted

    def allocate(self) -> list[Array]:
        """New arrays for the results that update no argument."""
        return [np.empty(shape, dtype) for shape, dtype in self._new]

    def given(self, out: Any) -> list[Array]:
        """The caller's arrays for the same results, checked; `out` is nested like the results."""
        arrays = dict(zip(self._places, _flattened(out, self._structure), strict=True))
        return [_updated(arrays[slot.output or 0], slot, "out") for slot in self._results]

    def apart(self, inputs: list[Array], results: list[Array]) -> list[Array]:
        """The inputs, copied where they share memory with a result."""
        slots = [slot for slot, _, _ in self._inputs] + self._results[: len(results)]
        return _apart(inputs + results, slots)[: len(inputs)]


def owner(array: Any) -> int:
    """Identifies the memory that an array is a view of."""
    return id(array if array.base is None else array.base)


def _read(value: Any, slot: Slot) -> Array:
    if isinstance(value, _PYTHON_SCALARS) and np.can_cast(type(value), slot.dtype, "same_kind"):
        value = np.asarray(value, slot.dtype)
    array = np.asarray(value)
    _check(array, slot, slot.name)
    return np.require(array, slot.dtype, ("C_CONTIGUOUS", "ALIGNED"))


def _updated(value: Any, slot: Slot, label: str = "") -> Array:
    """An array that the program writes: it must be one, as it is."""
    name = f"{label} {slot.name}".strip()
    if type(value) is not np.ndarray:
        raise InputError(f"{name} is written in place: expected a NumPy array, got {_kind(value)}")
    _check(value, slot, name)
    if not (value.flags.carray and value.dtype.isnative):
        hint = "pass a writable array of C order, for example numpy.array(x, order='C')"
        raise InputError(f"{name} is written in place and must be writable and dense", hint=hint)
    return value


def _check(array: Array, slot: Slot, name: str) -> None:
    if array.shape == slot.shape and array.dtype == slot.dtype:
        return
    raise InputError(f"{name}: expected {slot}, got {_kind(array)}")


def _kind(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}"
    dimensions = ",".join(map(str, value.shape))
    try:
        return f"{from_dtype(value.dtype).text}[{dimensions}]"
    except KeyError:
        return f"{value.dtype}[{dimensions}]"


def _apart(arrays: list[Array], slots: Sequence[Slot]) -> list[Array]:
    """Copies what is only read and lies in the same memory as what is written."""
    written: dict[int, str] = {}
    for array, slot in zip(arrays, slots, strict=True):
        if slot.output is None:
            continue
        if owner(array) in written and array.size:
            other = written[owner(array)]
            raise InputError(f"{slot.name} and {other} are written and share memory")
        written[owner(array)] = slot.name
    return [
        array.copy() if slot.output is None and owner(array) in written else array
        for array, slot in zip(arrays, slots, strict=True)
    ]


def _flattened(out: Any, structure: Structure) -> list[Any]:
    if isinstance(structure, int):
        return [out]
    if not isinstance(out, tuple | list) or len(out) != len(structure):
        raise InputError(f"out: expected a tuple of {len(structure)}, got {_kind(out)}")
    parts = zip(out, structure, strict=True)
    return [leaf for part, own in parts for leaf in _flattened(part, own)]
