"""Lets compiled programs call Python: a `ccg_io` (runtime_c/ccg_io.h) whose members ask an `IO`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import cffi
import numpy as np

from ccodegen.backend.transfer import logical, sign_extended
from ccodegen.emit.hooks import HEADER
from ccodegen.support.c_preprocessor import preprocess
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.hooks import IO, ArraySpec, Hook, Request
from ccodegen.support.runtime_c import header_dir

_FAILED = 1
_TYPES = {
    "infeed": "int(void *, const char *, const ccg_output *, size_t)",
    "outfeed": "int(void *, const char *, const ccg_input *, size_t)",
    "send": "int(void *, int64_t, const ccg_input *, size_t)",
    "recv": "int(void *, int64_t, const ccg_output *, size_t)",
    "call": "int(void *, const char *, const char *, const ccg_input *, size_t,"
    " const ccg_output *, size_t)",
}


class PythonHooks:
    """The `ccg_io` for one run at a time. An exception of a function of the IO ends the run; it is
    raised again at the end of `catching`."""

    def __init__(self, io: IO) -> None:
        self._io = io
        self._error: BaseException | None = None
        self._callbacks = {
            name: _ffi().callback(kind, getattr(self, f"_{name}")) for name, kind in _TYPES.items()
        }
        self.struct = _ffi().new("ccg_io *", {"context": _ffi().NULL, **self._callbacks})

    @contextmanager
    def catching(self) -> Iterator[None]:
        self._error = None
        yield
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _infeed(self, context: Any, config: Any, arrays: Any, count: int) -> int:
        return self._serve(lambda: Request(Hook.INFEED, _text(config)), None, 0, arrays, count)

    def _outfeed(self, context: Any, config: Any, arrays: Any, count: int) -> int:
        return self._serve(lambda: Request(Hook.OUTFEED, _text(config)), arrays, count, None, 0)

    def _send(self, context: Any, channel: int, arrays: Any, count: int) -> int:
        return self._serve(lambda: Request(Hook.SEND, channel=channel), arrays, count, None, 0)

    def _recv(self, context: Any, channel: int, arrays: Any, count: int) -> int:
        return self._serve(lambda: Request(Hook.RECV, channel=channel), None, 0, arrays, count)

    def _call(
        self,
        context: Any,
        target: Any,
        config: Any,
        operands: Any,
        operand_count: int,
        results: Any,
        result_count: int,
    ) -> int:
        def request() -> Request:
            return Request(Hook.CALL, _text(target), _text(config))

        return self._serve(request, operands, operand_count, results, result_count)

    def _serve(
        self,
        request: Callable[[], Request],
        reads: Any,
        read_count: int,
        writes: Any,
        write_count: int,
    ) -> int:
        """No exception may leave into C."""
        try:
            arrays = [_taken(reads[n]) for n in range(read_count)]
            kinds = [_kind(_text(writes[n].shape)) for n in range(write_count)]
            specs = [ArraySpec(dimensions, element.dtype) for element, dimensions in kinds]
            given = self._io.serve(request(), arrays, specs)
            for n, array in enumerate(given):
                _ffi().memmove(writes[n].data, sign_extended(array), writes[n].bytes)
        except BaseException as error:
            self._error = error
            return _FAILED
        return 0


@functools.cache
def _ffi() -> Any:
    """cffi with the declarations of the header."""
    ffi = cffi.FFI()
    ffi.cdef(preprocess((header_dir() / HEADER).read_text(encoding="utf-8"), header_dir()))
    return ffi


def _text(string: Any) -> str:
    return str(_ffi().string(string), "utf-8", "surrogateescape")


@functools.cache
def _kind(shape: str) -> tuple[ElementType, tuple[int, ...]]:
    """Of a shape's text, `f32[2,3]`."""
    element, _, dimensions = shape.rstrip("]").partition("[")
    return HLO_TYPES[element], tuple(int(size) for size in dimensions.split(",") if size)


def _taken(array: Any) -> np.ndarray[Any, Any]:
    """A copy of the array."""
    element, dimensions = _kind(_text(array.shape))
    data = bytes(_ffi().buffer(array.data, array.bytes))
    copy = np.frombuffer(bytearray(data), element.dtype).reshape(dimensions)
    return logical(copy)
