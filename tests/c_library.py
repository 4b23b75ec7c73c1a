"""Compiles many loop programs into one shared library, fast, and calls them through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ccodegen.emit.runtime import closure
from ccodegen.emit.source import MOST_PARAMETERS, emit
from ccodegen.loop.ir import Argument, Program
from ccodegen.support.element_type import Kind
from ccodegen.target import Target

Array = np.ndarray[Any, Any]

FLAGS = ("-std=c99", "-O1", "-fPIC", "-fno-math-errno", "-fno-trapping-math")
STRICT_FLAGS = (*FLAGS, "-ffp-contract=off")


class CLibrary:
    """The programs as functions: `library.run(n, arguments)` calls program n.

    All programs are in one mode. `compilers`: tried in order. tcc takes a tenth of gcc's time, but
    is not everywhere, and fails on some C that is right. `flags`: beside those of the mode.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        target: Target,
        strict: bool = False,
        compilers: Sequence[str] = ("tcc", "gcc"),
        flags: Sequence[str] = (),
    ) -> None:
        self._programs = programs
        with tempfile.TemporaryDirectory() as folder:
            sources = _write(Path(folder), programs, target, strict)
            chosen = (*(STRICT_FLAGS if strict else FLAGS), *flags)
            self._library = _load(Path(folder), sources, compilers, chosen)

    def run(self, number: int, arguments: Sequence[Array]) -> list[Array]:
        """The results by flat output number; `arguments` by flat parameter, left as they are."""
        program = self._programs[number]
        memory = [_memory(argument, arguments) for argument in program.arguments]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in memory]
        if len(pointers) > MOST_PARAMETERS:
            pointers = [ctypes.cast((ctypes.c_void_p * len(memory))(*pointers), ctypes.c_void_p)]
        arena = _aligned(program.arena_size, program.alignment)
        function = self._library[f"p{number}_run"]
        status = function(*pointers, ctypes.c_void_p(arena.ctypes.data))
        assert status == 0, f"p{number}_run returned {status}"
        pairs = zip(program.arguments, memory, strict=True)
        results = {a.output: m for a, m in pairs if a.output is not None and not a.initial}
        return [results[n] for n in sorted(results)]


def _load(
    path: Path, sources: Sequence[str], compilers: Sequence[str], flags: Sequence[str]
) -> ctypes.CDLL:
    errors = []
    for compiler in filter(shutil.which, compilers):
        library = path / f"{compiler}.so"
        command = [compiler, *flags, "-shared", f"-I{path}", *sources, "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        errors.append(done.stderr[:3000])
        if done.returncode == 0:
            try:
                return ctypes.CDLL(str(library))
            except OSError as error:
                errors.append(str(error))
    raise AssertionError("\n".join([f"{sources[0]} does not compile", *errors]))


def _write(path: Path, programs: Sequence[Program], target: Target, strict: bool) -> list[str]:
    """Writes all files into one folder; returns those to compile."""
    runtime: set[str] = set()
    sources = []
    for number, program in enumerate(programs):
        made = emit(program, target, f"p{number}", strict)
        runtime.update(made.runtime)
        for name, text in made.files.items():
            file = path / Path(name).name
            file.write_text(text, encoding="utf-8")
            sources += [str(file)] if file.suffix == ".c" else []
    for name, text in closure(runtime).items():
        (path / name).write_text(text, encoding="utf-8")
    return sources


def _memory(argument: Argument, arguments: Sequence[Array]) -> Array:
    buffer = argument.buffer
    memory = _aligned(max(1, buffer.bytes), 64)
    array = memory[: buffer.bytes].view(buffer.type.dtype).reshape(buffer.dimensions)
    if argument.parameter is not None:
        first = argument.initial or arguments[argument.parameter]
        given = np.asarray(first, buffer.type.dtype).reshape(buffer.dimensions)
        # ml_dtypes keeps a narrow integer in the low bits of its byte, C the whole number.
        narrow = buffer.type.is_integer and buffer.type.bits < 8
        if narrow and buffer.type.kind is Kind.SIGNED:
            array.view(np.int8)[...] = given.astype(np.int8)
        else:
            array[...] = given
    return array


def _aligned(size: int, alignment: int) -> Array:
    """So many bytes of 0xff, whose address is a multiple of the alignment."""
    memory = np.full(size + alignment, 0xFF, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size]
