"""Runs a target's C compiler."""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from ccodegen.backend.compilers import CompilerCommand, find_compiler, machine
from ccodegen.emit.effort import Effort
from ccodegen.emit.runtime import closure, includes
from ccodegen.emit.unit import POOL_HEADER, Unit
from ccodegen.support.errors import InputError, InternalError
from ccodegen.support.runtime_c import added_headers
from ccodegen.target import Target

_SHOWN_LINES = 20
_LITTLE = ("-Og",)  # half the time of -O3
# To compute ahead what one arm makes constant, or narrows the range of, gcc chooses between
# conditions.
_MASKS_OF_GCC = ("-fno-tree-pre", "-fno-tree-vrp")
# A third less than -O3: of what that adds, what finds vectors, where they pay, and what joins
# products with sums.
_SOME_OF_GCC = (
    "-O1", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fexpensive-optimizations",
    "--param", "iv-consider-all-candidates-bound=4",
)
_OF_GCC = {Effort.SOME: _SOME_OF_GCC, Effort.MASKS: _MASKS_OF_GCC}
# Else each line of a tile's sums that is stored as it is, be it of eight, is a call of memcpy, or
# what an x86 processor has in its place, which takes as long to begin.
_TILES_OF_GCC = ("-fno-tree-loop-distribute-patterns",)
# Of gcc: two that take an eighth of its time for no better code, and the assembler starts with it;
# loops with selects stay without branches, which else no vectors are made of; and so with calls of
# a loop with many: by default a function may not grow to more than twice its size.
_FLAGS_OF_GCC = (
    "-fno-tree-bit-ccp", "-fno-aggressive-loop-optimizations", "-pipe", "-fno-thread-jumps",
    "--param", "large-function-growth=1000",
)
# By default products that are summed up become one operation with the sum in long vectors only,
# and bits depend on how much of a loop is left for short ones, or for another thread; and two turns
# of a loop around a loop become one, in which each element of rows that are looked up asks anew
# where its row is.
_FLAGS_OF_GCC_9 = ("--param", "avoid-fma-max-bits=0", "-fno-loop-unroll-and-jam")

_WITH_LIBRARIES = ("-fsanitize", "-fopenmp", "-fprofile", "--coverage", "-pg")


@functools.cache
def _version(compiler: CompilerCommand, stamp: str) -> str:
    """What the compiler says of itself; `stamp`: its stamp now."""
    return subprocess.run([*compiler.words, "--version"], capture_output=True, text=True).stdout


def own_flags(compiler: CompilerCommand) -> tuple[str, ...]:
    """That make the compiler, or what it makes, quicker, and results the same in whatever loop they
    are computed."""
    if not _is_gcc(compiler):
        return ()
    said = _version(compiler, compiler.stamp)
    number = re.search(r"\) (\d+)\.", said)  # behind the name of the package
    return (*_FLAGS_OF_GCC, *(_FLAGS_OF_GCC_9 if number and int(number[1]) >= 9 else ()))


def _is_gcc(compiler: CompilerCommand) -> bool:
    return "Free Software Foundation" in _version(compiler, compiler.stamp)


def unit_flags(compiler: CompilerCommand, unit: Unit) -> tuple[str, ...]:
    """That come behind the target's own, by what the unit is worth and has in it."""
    if unit.effort is Effort.LITTLE:
        return _LITTLE
    if not _is_gcc(compiler):
        return ()
    return (*_OF_GCC.get(unit.effort, ()), *(_TILES_OF_GCC if "ccg_tile_" in unit.text else ()))


def link_flags(
    compiler: CompilerCommand, target: Target, flags: Sequence[str], runtime: Collection[str]
) -> tuple[str, ...]:
    """That make a library of objects which were compiled by these flags, and include these runtime
    files.

    To read libc takes a linker longer than all else. Python's process has it, and functions of
    which any version does are found there, which for threads are all of 64-bit processors; users'
    own may need who knows what.
    """
    links = "-shared", *target.compiler.link_flags
    has_threads = POOL_HEADER in runtime
    elsewhere = sys.platform != "linux" or not _is_gcc(compiler)
    needs_versions = has_threads and sys.maxsize <= 1 << 32
    has_libraries = added_headers() or any(f.startswith(_WITH_LIBRARIES) for f in flags)
    if elsewhere or needs_versions or has_libraries:
        return (*links, "-pthread") if has_threads else links
    return (*links, "-nostdlib", "-lgcc")


def build_key(compiler: CompilerCommand, target: Target, strict: bool) -> str:
    """What the code depends on besides its C: the compiler, its flags, the machine."""
    flags = shlex.join([*target.compile_flags(strict), *own_flags(compiler)])
    version = _version(compiler, compiler.stamp).partition("\n")[0]
    return "\n".join([shlex.join(compiler.words), version, flags, machine(target)])


def runtime_files(units: Sequence[Unit]) -> dict[str, str]:
    """The runtime's files that the units need, by name."""
    return closure(name for unit in units for name in includes(unit.text))


def build_program(
    sources: Iterable[Path],
    output: Path,
    target: Target,
    strict: bool = False,
    include: Iterable[Path] = (),
) -> None:
    """A program for the target, with the start-up code and memory layout of its board."""
    compiler, board = find_compiler(target), target.board
    startup = [str(target.directory / file) for file in board.startup]
    flags = [*target.compile_flags(strict), *(f"-I{folder}" for folder in include)]
    layout = ["-T", str(target.directory / board.linker_script)] if board.linker_script else []
    files = [*startup, *map(str, sources)]
    command = [*compiler.words, *flags, *files, *layout, "-o", str(output)]
    with blame(compiler, target.compile_flags(strict)):
        CompilerRun([*command, *target.compiler.link_flags]).finish()


@contextmanager
def blame(compiler: CompilerCommand, flags: Sequence[str]) -> Iterator[None]:
    """Raises InputError for a compiler that fails, with these flags, on any C."""
    try:
        yield
    except InternalError as error:
        if _works(compiler, flags):
            raise
        hint = "mend the flags in the target's .toml file, or take another compiler by CC"
        raise InputError(error.message, hint=hint) from None


def _works(compiler: CompilerCommand, flags: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory(prefix="ccodegen-") as folder:
        source = Path(folder) / "works.c"
        source.write_text("int works;\n", encoding="utf-8")
        command = object_command(compiler, flags, source)
        return subprocess.run(command, capture_output=True).returncode == 0


class CompilerRun:
    """One run of a compiler, which another thread may stop."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[str] | None = None

    @property
    def has_begun(self) -> bool:
        return self._process is not None

    def begin(self) -> subprocess.Popen[str]:
        """Begins it, if that has not been done."""
        if self._process is None:
            both = subprocess.STDOUT
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=both, text=True, errors="replace"
            )
        return self._process

    def finish(self) -> None:
        """Waits for its end. Raises InternalError with the command and its first lines if it fails;
        InputError where the header of a user's C function may be the reason."""
        process = self.begin()
        said, _ = process.communicate()
        if process.returncode:
            raise _failure(self._command, said)

    def stop(self) -> None:
        """Ends it, wherever it is; does nothing before it has begun."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()


def finish_all(runs: Sequence[CompilerRun]) -> None:
    """Runs compilers side by side, as many as there are processors. Raises as the first one that
    fails."""
    workers = max(1, min(len(runs), os.cpu_count() or 1))
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(CompilerRun.finish, runs):
            pass


def _failure(command: Sequence[str], said: str) -> InputError | InternalError:
    message = "\n".join(
        [f"the C compiler failed: {shlex.join(command)}", *said.splitlines()[:_SHOWN_LINES]]
    )
    for header in added_headers():
        if header in said:
            hint = f"it names {header}, which register_custom_call was given as c_header"
            return InputError(message, hint=hint)
    return InternalError(message)


def object_command(compiler: CompilerCommand, flags: Sequence[str], source: Path) -> list[str]:
    return [*compiler.words, *flags, "-c", str(source), "-o", f"{source.with_suffix('.o')}"]
