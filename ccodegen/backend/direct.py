"""Programs as functions of CPython's own: see runtime_c/ccg_python.h, which reads what stands here.

A call of such a function takes a tenth of a microsecond and some nanoseconds an array, where it can
take the arrays as they are. Of other arguments, such as numbers, arrays are made first. Everything
else it leaves to the `HostExecutable`.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ccodegen.backend.executable import HostExecutable
from ccodegen.backend.signature import Signature, Slot
from ccodegen.backend.transfer import LARGE, address, aligned_bytes, new_array, padding
from ccodegen.emit.entry import PYTHON_ENTRY

_READABLE, _WRITABLE = 0x101, 0x501  # NumPy's flags: dense and aligned; and writable
_FASTCALL_WITH_KEYWORDS = 0x82
_FUNCTIONS = (
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyObject_Call", "PyObject_Vectorcall",
    "Py_IncRef", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyTuple_GetItem", "PyTuple_Size",
)  # fmt: skip


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _State(np.ndarray[Any, Any]):
    """A ccg_python, all of whose members are words, with what its pointers point to."""

    keep: tuple[object, ...]


def direct(executable: HostExecutable) -> Callable[..., Any]:
    """A function like the executable itself, and fast where that is possible."""
    results = _results(executable.signature)
    if results is None or not _is_supported():
        return executable.__call__
    library = ctypes.PyDLL(str(executable.image.library))
    general = _General(executable)
    state = _state(executable, results, general)
    entry = ctypes.cast(getattr(library, PYTHON_ENTRY), ctypes.c_void_p)
    method = _Method(b"call", entry, _FASTCALL_WITH_KEYWORDS, None)
    state.keep = (*state.keep, method)
    # At exit the library stays: a thread that nobody waits for may be in it.
    weakref.finalize(state, _close, library._handle).atexit = False
    function = _new_function(method, state)
    general.direct = weakref.ref(function)
    return function


class _General:
    """Takes the calls that do not fit `direct`, the function itself."""

    direct: Callable[[], Callable[..., Any] | None]

    def __init__(self, executable: HostExecutable) -> None:
        self._executable = executable

    def __call__(self, *values: Any, out: Any = None) -> Any:
        arrays = self._executable.arguments(values)
        direct = self.direct()
        if direct is None or all(map(operator.is_, arrays, values)):
            return self._executable(*values, out=out)
        return direct(*arrays, out=out)


def _results(signature: Signature) -> dict[int | None, int] | None:
    """The place of each output among the results; None where it takes Python to call the program:
    for its hooks, its state, arrays of other forms than the caller's, nested results."""
    slots, structure = signature.arguments, signature.structure
    flat = structure if isinstance(structure, tuple) else (structure,)
    numbers = [leaf for leaf in flat if isinstance(leaf, int)]
    is_plain = not any(s.initial or s.layout or s.size_of or padding(s.dtype) for s in slots)
    outputs = [s.output for s in slots if s.output is not None]
    if signature.asks or not is_plain:
        return None
    if sorted(numbers) != sorted(outputs) or len(flat) != len(outputs):
        return None
    return {number: place for place, number in enumerate(numbers)}


def _state(
    executable: HostExecutable, results: dict[int | None, int], general: _General
) -> _State:
    signature, constants = executable.signature, executable.image.constants
    memory = aligned_bytes(signature.arena_size, signature.alignment)
    count = len(signature.arguments)
    table = np.array([0] * count + [address(a) for a in (*constants, memory)], np.uintp)
    order = {slot.parameter: n for n, slot in enumerate(signature.inputs)}
    slots = [_Slot(slot, order, results) for slot in signature.arguments]
    rows = np.array([slot.words for slot in slots], np.intp)
    make = new_array if any(slot.bytes >= LARGE for slot in signature.arguments) else np.empty
    objects = (np.ndarray, tuple, None, sys.intern("out"), make, general)
    words = [*_functions(), *map(id, objects), address(table), address(rows), count, len(order)]
    arrays, places = np.zeros(count, np.intp), np.arange(count, dtype=np.intp)
    words += [len(results), isinstance(signature.structure, tuple)]
    words += [address(arrays), address(places), 0]
    state = np.array(words, np.uintp).view(_State)
    state.keep = (constants, memory, table, slots, rows, objects, arrays, places)
    return state


class _Slot:
    """The words of a ccg_python_slot, and what they point to."""

    def __init__(
        self, slot: Slot, order: dict[int | None, int], results: dict[int | None, int]
    ) -> None:
        self._dimensions = np.array(slot.shape, np.intp)
        self._like = (slot.shape, slot.dtype)
        self.words = [
            order.get(slot.parameter, -1),
            results.get(slot.output, -1),
            id(slot.dtype),
            len(slot.shape),
            address(self._dimensions),
            _READABLE if slot.output is None else _WRITABLE,
            slot.bytes,
            id(self._like),
        ]


@functools.cache
def _is_supported() -> bool:
    """Whether objects and arrays lie in memory as ccg_python.h has them."""
    word = ctypes.sizeof(ctypes.c_void_p)
    if sys.implementation.name != "cpython" or object.__basicsize__ != 2 * word:
        return False
    array = np.ones((2, 3), np.float32)
    words = (ctypes.c_ssize_t * 9).from_address(id(array))
    rank, flags = (ctypes.c_int.from_address(id(array) + n * word) for n in (3, 8))
    found = (words[1], words[2], rank.value, words[7], flags.value)
    expected = (id(np.ndarray), address(array), 2, id(array.dtype), array.flags.num)
    return found == expected and list((ctypes.c_ssize_t * 2).from_address(words[4])) == [2, 3]


def _functions() -> list[int]:
    pointers = [ctypes.cast(getattr(ctypes.pythonapi, n), ctypes.c_void_p) for n in _FUNCTIONS]
    return [pointer.value or 0 for pointer in pointers]


def _new_function(method: _Method, state: _State) -> Callable[..., Any]:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = make(ctypes.byref(method), state, None)
    return made


def _close(handle: int) -> None:
    import _ctypes

    _ctypes.dlclose(handle)
