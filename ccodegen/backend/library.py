"""Makes a program's shared library, of units that compile side by side."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from ccodegen.backend.compilers import find_compiler
from ccodegen.backend.toolchain import (
    CompilerRun,
    blame,
    build_key,
    link_flags,
    object_command,
    own_flags,
    runtime_files,
    unit_flags,
)
from ccodegen.emit.unit import Unit
from ccodegen.support.cache import Cache, digest
from ccodegen.support.collection import collect_meanwhile
from ccodegen.target import Target


class Library:
    """A shared library under way. Units that are added compile while the caller makes more of them,
    on the processors that it leaves; with a cache, only those that it has no objects of.

    `folder`: where the library is; it lives as long as this object of it. Leaving the context stops
    compilers.
    """

    def __init__(self, target: Target, strict: bool, cache: Cache | None) -> None:
        self._target, self._cache = target, cache
        self._compiler = find_compiler(target)
        self._flags = target.compile_flags(strict)
        self._own = own_flags(self._compiler)
        self._built_by = build_key(self._compiler, target, strict)
        self._processors = max(1, (os.cpu_count() or 1) - 1)
        self._beside = ThreadPoolExecutor(self._processors)
        self._runs: dict[Unit, CompilerRun] = {}
        self._results: dict[Unit, Future[None]] = {}
        self._objects: dict[Unit, Path] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="ccodegen-")

    def add(self, unit: Unit) -> None:
        """Compiles a unit, as soon as a processor is free."""
        found = self._cache.find(self._key(unit)) if self._cache else None
        if found is not None:
            self._objects[unit] = found
            return
        source = self._place(unit.name)
        source.write_text(unit.text, encoding="utf-8")
        for name, text in runtime_files([unit]).items():
            if not self._place(name).exists():
                self._place(name).write_text(text, encoding="utf-8")
        self._objects[unit] = source.with_suffix(".o")
        flags = (*self._flags, *self._own, *unit_flags(self._compiler, unit))
        command = object_command(self._compiler, flags, source)
        self._runs[unit] = CompilerRun(command)
        if sum(not result.done() for result in self._results.values()) < self._processors:
            self._runs[unit].begin()  # here: another thread waits 5 ms for Python's lock
        self._results[unit] = self._beside.submit(self._runs[unit].finish)

    def link(self, units: Sequence[Unit]) -> Path:
        """The library of units that have been added; waits for their compilers.

        Raises InternalError for units that do not compile, InputError for a compiler that compiles
        nothing, or a header of the user's that may be the reason.
        """
        needed = sorted((u for u in units if u in self._runs), key=_length, reverse=True)
        for unit in needed:
            if self._results[unit].cancel():  # not begun: the longest are first from now on
                self._results[unit] = self._beside.submit(self._runs[unit].finish)
        with blame(self._compiler, self._flags):
            for unit in needed:
                if self._results[unit].cancel():  # this processor is free now
                    self._runs[unit].begin()
                    collect_meanwhile()
                    self._runs[unit].finish()
            collect_meanwhile()
            for unit in needed:
                if not self._results[unit].cancelled():
                    self._results[unit].result()
        library = self._place("library.so")
        objects = [str(self._objects[unit]) for unit in units]
        links = link_flags(self._compiler, self._target, self._flags, runtime_files(units))
        command = [*self._compiler.words, *self._flags, *objects, *links, "-o", str(library)]
        linker = CompilerRun(command)
        linker.begin()
        try:
            for unit in needed if self._cache else ():
                self._keep(unit)
        finally:
            linker.finish()
        return library

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for unit, run in self._runs.items():
            if not run.has_begun:  # the others are waited for
                self._results[unit].cancel()
            run.stop()
        self._beside.shutdown()

    def _key(self, unit: Unit) -> str:
        """The C, the runtime's files it includes, and what compiles it."""
        runtime = runtime_files([unit])
        flags = unit_flags(self._compiler, unit)
        parts = (unit.text, *flags, *runtime, *runtime.values())
        return digest("object", self._built_by, *parts)

    def _keep(self, unit: Unit) -> None:
        assert self._cache is not None
        data = self._objects[unit].read_bytes()
        self._objects[unit] = self._cache.write(self._key(unit), data)

    def _place(self, name: str) -> Path:
        return Path(self.folder.name) / name


def _length(unit: Unit) -> int:
    """Of what the compiler reads, which tells how long it takes."""
    return len(unit.text) + sum(map(len, runtime_files([unit]).values()))
