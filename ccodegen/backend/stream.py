"""Runs a library in this process: one call with one table of pointers."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from ccodegen.backend.hooks import PythonHooks
from ccodegen.backend.signature import Signature
from ccodegen.emit.table import ENTRY, ENTRY_DECLARATION
from ccodegen.support.errors import InternalError
from ccodegen.support.hooks import IO

_FFI = cffi.FFI()
_FFI.cdef(ENTRY_DECLARATION)


class HostStreamExecutor:
    """A loaded library. Each thread has a table and an arena of its own."""

    def __init__(self, library: Path, signature: Signature, constants: Sequence[Any]) -> None:
        self._library = _FFI.dlopen(str(library))
        self._entry = getattr(self._library, ENTRY)
        # At exit it stays: a thread that nobody waits for may be in it.
        weakref.finalize(self, _FFI.dlclose, self._library).atexit = False
        self._count = len(signature.arguments)
        self._from_buffer = _FFI.from_buffer
        self._state = _ThreadState(signature, constants)

    def launch(self, arrays: Sequence[Any]) -> None:
        """One run over dense arrays of all arguments, in the order of the signature."""
        table = self._state.table
        table[0 : self._count] = map(self._from_buffer, arrays)
        if self._entry(table):
            raise InternalError("the compiled program returned an error")


class AskingStreamExecutor(HostStreamExecutor):
    """A loaded library that asks `io`, whose functions may start another run of it meanwhile."""

    def __init__(
        self, library: Path, signature: Signature, constants: Sequence[Any], io: IO
    ) -> None:
        super().__init__(library, signature, constants)
        self._new_run = functools.partial(_AskingRun, signature, constants, io)
        self._idle: list[_AskingRun] = []

    def launch(self, arrays: Sequence[Any]) -> None:
        """Raises what a function of `io` raises."""
        try:
            run = self._idle.pop()
        except IndexError:
            run = self._new_run()
        run.table[0 : self._count] = map(self._from_buffer, arrays)
        try:
            with run.hooks.catching():
                status = self._entry(run.table)
        finally:
            self._idle.append(run)
        if status:
            raise InternalError(f"the compiled program returned the error {status}")


class _Run:
    """What one run at a time needs: the table with the pointers that never change, and the arena.

    `more`: pointers behind the arena's.
    """

    def __init__(
        self, signature: Signature, constants: Sequence[Any], more: Sequence[Any] = ()
    ) -> None:
        self.constants = constants
        self.arena = _aligned(signature.arena_size, signature.alignment)
        first = len(signature.arguments)
        pointers = [*map(_FFI.from_buffer, [*constants, self.arena]), *more]
        self.table = _FFI.new("void *[]", [_FFI.NULL] * first + pointers)


class _ThreadState(threading.local, _Run):
    """Made anew in each thread."""


class _AskingRun(_Run):
    """Keeps the hooks alive."""

    def __init__(self, signature: Signature, constants: Sequence[Any], io: IO) -> None:
        self.hooks = PythonHooks(io)
        super().__init__(signature, constants, [_FFI.cast("void *", self.hooks.struct)])


def _aligned(size: int, alignment: int) -> np.ndarray[Any, Any]:
    """So many bytes, at an address that is a multiple of the alignment."""
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size]
