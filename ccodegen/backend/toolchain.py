"""Finds and runs a target's C compiler."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccodegen.emit.runtime import closure, includes
from ccodegen.emit.table import Unit
from ccodegen.support.errors import InputError, InternalError
from ccodegen.support.runtime_c import added_headers
from ccodegen.target import Target, native

_SHOWN_LINES = 20
_LIGHT = "-O1"  # for code that runs once over little data: half the time of -O3 to compile


@dataclass(frozen=True)
class CompilerCommand:
    """A compiler that is installed: the words of its command line."""

    words: tuple[str, ...]

    @functools.cached_property
    def identity(self) -> str:
        """Tells apart two compilers that may give different code."""
        version = subprocess.run([*self.words, "--version"], capture_output=True, text=True)
        return f"{shlex.join(self.words)} {version.stdout.partition(chr(10))[0]}"


def find_compiler(target: Target) -> CompilerCommand:
    """The target's compiler: $CC where the target allows it, else the first one installed.

    Raises InputError that says what to install.
    """
    chosen = shlex.split(os.environ.get("CC", "")) if target.compiler.environment else []
    if chosen and shutil.which(chosen[0]) is None:
        raise InputError(f"the compiler in CC is not installed: {chosen[0]}")
    for words in [chosen, *([command] for command in target.compiler.commands)]:
        if words and shutil.which(words[0]):
            return CompilerCommand(tuple(words))
    names = " or ".join(target.compiler.commands)
    hint = f"install it: {target.compiler.install}" if target.compiler.install else ""
    raise InputError(f"target {target.name} needs the C compiler {names}", hint=hint)


def build_key(compiler: CompilerCommand, target: Target, strict: bool) -> str:
    """What the code depends on besides its C: the compiler, its flags, the machine."""
    flags = shlex.join(target.compile_flags(strict))
    return "\n".join([compiler.identity, flags, machine(target)])


def machine(target: Target) -> str:
    """This machine, where the target's code is for no other."""
    return native.identity() if "-march=native" in target.compiler.flags else ""


def build_library(units: Sequence[Unit], target: Target, strict: bool) -> bytes:
    """The units as a shared library. They compile side by side."""
    compiler = find_compiler(target)
    with tempfile.TemporaryDirectory(prefix="ccodegen-") as folder:
        root = Path(folder)
        texts = runtime_files(units) | {unit.name: unit.text for unit in units}
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8")
        flags = target.compile_flags(strict)
        jobs = [_object_command(compiler, flags, root / unit.name, unit.hot) for unit in units]
        with _blame(compiler, flags):
            run_all(jobs)
        library = root / "library.so"
        objects = [str((root / unit.name).with_suffix(".o")) for unit in units]
        link = [*compiler.words, "-shared", *flags, *objects, "-o", str(library)]
        pool = ["-pthread"] if "ccg_pool.h" in texts else []
        run_all([[*link, *target.compiler.link_flags, *pool]])
        return library.read_bytes()


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
    with _blame(compiler, target.compile_flags(strict)):
        run_all([[*command, *target.compiler.link_flags]])


@contextmanager
def _blame(compiler: CompilerCommand, flags: Sequence[str]) -> Iterator[None]:
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
        command = _object_command(compiler, flags, source, hot=True)
        return subprocess.run(command, capture_output=True).returncode == 0


def run_all(commands: Sequence[Sequence[str]]) -> None:
    """Runs compilers side by side, as many as there are processors.

    Raises InternalError with the command and its first lines for the first one that fails;
    InputError where the header of a user's C function may be the reason.
    """
    workers = max(1, min(len(commands), os.cpu_count() or 1))
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(_run, commands):
            pass


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return
    said = done.stderr or done.stdout
    message = "\n".join(
        [f"the C compiler failed: {shlex.join(command)}", *said.splitlines()[:_SHOWN_LINES]]
    )
    for header in added_headers():
        if header in said:
            hint = f"it names {header}, which register_custom_call was given as c_header"
            raise InputError(message, hint=hint)
    raise InternalError(message)


def _object_command(
    compiler: CompilerCommand, flags: Sequence[str], source: Path, hot: bool
) -> list[str]:
    level = [] if hot else [_LIGHT]
    return [*compiler.words, *flags, *level, "-c", str(source), "-o", f"{source.with_suffix('.o')}"]
