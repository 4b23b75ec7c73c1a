"""Runs a library in this process: one call with one table of pointers."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from ccodegen.backend.image import Image
from ccodegen.backend.transfer import aligned_bytes
from ccodegen.emit.entry import ENTRY, ENTRY_DECLARATION
from ccodegen.support.errors import InternalError
from ccodegen.support.hooks import IO


@functools.cache
def ffi() -> Any:
    """cffi with the declaration of the entry function. Most programs are called without it."""
    import cffi

    made = cffi.FFI()
    made.cdef(ENTRY_DECLARATION)
    return made


class HostStreamExecutor:
    """A loaded library. Each thread has a table and an arena of its own."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._state = _ThreadState(image)

    def launch(self, arrays: Sequence[Any]) -> None:
        """One run over dense arrays of all arguments, in the order of the signature."""
        if self._run(self._state.own, arrays):
            raise InternalError("the compiled program returned an error")

    def _run(self, run: _Run, arrays: Sequence[Any]) -> int:
        run.table[0 : len(arrays)] = list(map(ffi().from_buffer, arrays))
        return int(self._entry(run.table))

    @functools.cached_property
    def _entry(self) -> Any:
        library = ffi().dlopen(str(self._image.library))
        # At exit it stays: a thread that nobody waits for may be in it.
        weakref.finalize(self, ffi().dlclose, library).atexit = False
        return getattr(library, ENTRY)


class AskingStreamExecutor(HostStreamExecutor):
    """A loaded library that asks `io`, whose functions may start another run of it meanwhile."""

    def __init__(self, image: Image, io: IO) -> None:
        super().__init__(image)
        self._new_run = functools.partial(_AskingRun, image, io)
        self._idle: list[_AskingRun] = []

    def launch(self, arrays: Sequence[Any]) -> None:
        """Raises what a function of `io` raises."""
        try:
            run = self._idle.pop()
        except IndexError:
            run = self._new_run()
        try:
            with run.hooks.catching():
                status = self._run(run, arrays)
        finally:
            self._idle.append(run)
        if status:
            raise InternalError(f"the compiled program returned the error {status}")


class _Run:
    """What one run at a time needs: the table with the pointers that never change, and the arena.

    `more`: pointers behind the arena's.
    """

    def __init__(self, image: Image, more: Sequence[Any] = ()) -> None:
        signature = image.signature
        self.arena = aligned_bytes(signature.arena_size, signature.alignment)
        first = len(signature.arguments)
        pointers = [*map(ffi().from_buffer, [*image.constants, self.arena]), *more]
        self.table = ffi().new("void *[]", [ffi().NULL] * first + pointers)


class _AskingRun(_Run):
    """Keeps the hooks alive."""

    def __init__(self, image: Image, io: IO) -> None:
        from ccodegen.backend.hooks import PythonHooks

        self.hooks = PythonHooks(io)
        super().__init__(image, [ffi().cast("void *", self.hooks.struct)])


class _ThreadState(threading.local):
    """What a thread runs with, made when it first does."""

    def __init__(self, image: Image) -> None:
        self._image = image

    @functools.cached_property
    def own(self) -> _Run:
        return _Run(self._image)
