"""`export`: a program as a folder of C files, with its build files, a test and a report."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ccodegen.backend.build import Build, build
from ccodegen.backend.memory_form import inputs_in_memory, outputs_in_memory
from ccodegen.backend.options import BuildOptions, Parameter, checked_options
from ccodegen.emit.build_files import print_build_files
from ccodegen.emit.hooks import HEADER as IO_HEADER
from ccodegen.emit.names import check_prefix
from ccodegen.emit.parallel import HEADER as THREADS_HEADER
from ccodegen.emit.runtime import closure
from ccodegen.emit.selftest import Expectation, print_test
from ccodegen.emit.source import Sources, emit
from ccodegen.frontends.read import read
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.hlo.ir import Module
from ccodegen.ops.custom_call import with_hosts
from ccodegen.program_digest import program_digest
from ccodegen.random_inputs import random_inputs
from ccodegen.report import Report, report
from ccodegen.support.element_type import from_dtype
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import NO_IO
from ccodegen.target import Target
from ccodegen.tolerance import tolerance


def export(
    source: Any,
    target: str | Path | Target = "cortex-m4",
    name: str = "model",
    directory: str | Path = "out",
    constants: Mapping[Parameter, Any] | None = None,
    donate: Sequence[Parameter] = (),
    strict: bool = False,
    weights_binary: bool = False,
    test: bool = True,
    inputs: Sequence[Any] | None = None,
    seed: int = 0,
    threads: bool = False,
) -> Report:
    """Writes a package: include/NAME.h, src/NAME.c and its weights, the runtime's headers that it
    needs, a Makefile, a CMakeLists.txt, test/ and report.json. Returns what report.json says.

    `source`: anything that `ccodegen.read` takes. `name`: prefix of the files and of all names in
    C. `directory`: made if missing; files of the same names are replaced, all of them or none.
    `constants` and `donate`: as for `compile`. `weights_binary`: constants go to NAME_weights.bin,
    and NAME_run takes a pointer to its contents. `test`: write the test, which gives `inputs`
    (else random arrays from `seed`) and expects what `evaluate` gives for them. `threads`: NAME_run
    takes one more pointer, to the caller's threads, which share its large loops.

    A program that asks its caller (infeed, outfeed, send, recv, custom calls on the host) takes a
    pointer to hooks, which the package's ccg_io.h describes, and gets no test: the report says so.

    The same program and options give the same bytes. Raises InputError for a wrong program, option
    or folder, UnsupportedError for what we cannot compile; then nothing is written.
    """
    # Two or more make no difference to the code: the caller says how many there are.
    options = checked_options(target, constants, donate, 2 if threads else 1, strict)
    options = replace(options, target=_for_another_process(options.target))
    chosen = options.target
    check_prefix(name)
    built = build(read(source), options)
    key = program_digest(source, options)
    sources = emit(built.program, chosen, name, strict, key, weights_binary, threads)
    files = _library_files(sources, name)
    if test and not sources.hooks:
        files |= _test_files(built, sources, name, options, inputs, seed)
    files |= _encoded(print_build_files(chosen, name, tuple(files), strict))
    notes = _notes(sources, test)
    made = report(built, name, chosen.name, strict, key, sorted([*files, "report.json"]), notes)
    write_files(Path(directory), files | _encoded({"report.json": made.to_json()}))
    return made


def _for_another_process(target: Target) -> Target:
    """Without what this process, which is not the package's, has asked the system for."""
    machine = replace(target.machine, matrix_registers=False)
    return replace(target, machine=machine) if target.runner.in_process else target


def _notes(sources: Sources, test: bool) -> list[str]:
    if not sources.hooks:
        return []
    asks = f"the program asks its caller through ccg_io for {', '.join(sources.hooks)}"
    return [f"{asks}: there is no test" if test else asks]


def expectation(
    module: Module, strict: bool, inputs: Sequence[Any] | None = None, seed: int = 0
) -> Expectation:
    """What the reference gives for these inputs, or for random ones."""
    arrays = random_inputs(module, seed) if inputs is None else list(inputs)
    results = evaluate(module, *arrays, io=with_hosts(NO_IO))
    outputs = [value for value in value_leaves(results) if value is not None]
    tolerances = [tolerance(from_dtype(value.dtype), strict) for value in outputs]
    return Expectation(arrays, outputs, tolerances)


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Writes files by their paths in a folder: first beside it, moved in when all are complete.

    Raises InputError where that cannot be done, and leaves nothing new behind.
    """
    try:
        parent = directory.absolute().parent
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".ccodegen-", dir=parent) as folder:
            new = Path(folder) / "new"
            for path, data in files.items():
                (new / path).parent.mkdir(parents=True, exist_ok=True)
                (new / path).write_bytes(data)
            _move(new, directory, files)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write the folder '{directory}': {reason}") from None


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all; into what is there and no file, such as a device or a
    pipe. Raises InputError where that cannot be done."""
    try:
        real = path.resolve()
        if real.exists() and not real.is_file():
            real.write_bytes(data)
            return
        with tempfile.TemporaryDirectory(prefix=".ccodegen-", dir=real.parent) as folder:
            new = Path(folder) / "new"
            new.write_bytes(data)
            os.replace(new, real)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror or error}") from None


def _move(new: Path, directory: Path, files: Mapping[str, bytes]) -> None:
    if not directory.exists():
        shutil.move(new, directory)
        return
    for folder in {(directory / path).parent for path in files}:
        folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        os.replace(new / path, directory / path)


def _library_files(sources: Sources, name: str) -> dict[str, bytes]:
    runtime = {_place(file): text for file, text in closure(sources.runtime).items()}
    files = _encoded({**sources.files, **runtime})
    if sources.weights is not None:
        files[f"{name}_weights.bin"] = sources.weights.data
    return files


def _place(header: str) -> str:
    """Where a file of the runtime goes: what the library's own header includes goes beside it."""
    return f"include/{header}" if header in (THREADS_HEADER, IO_HEADER) else f"runtime/{header}"


def _test_files(
    built: Build,
    sources: Sources,
    name: str,
    options: BuildOptions,
    inputs: Sequence[Any] | None,
    seed: int,
) -> dict[str, bytes]:
    """The test, the headers it needs beyond the library's, and its board's files."""
    logical = expectation(built.module, options.strict, inputs, seed)
    outputs, counts = outputs_in_memory(built.program, logical.outputs)
    expected = replace(
        logical,
        inputs=inputs_in_memory(built.program, logical.inputs),
        outputs=outputs,
        counts=counts,
        tolerances=[*logical.tolerances, *(0.0 for _ in outputs[len(logical.outputs) :])],
    )
    printed = print_test(built.program, name, sources, expected)
    board = options.target.board
    beside = [*board.startup, *([board.linker_script] if board.linker_script else [])]
    copies = {f"test/{Path(f).name}": (options.target.directory / f).read_text() for f in beside}
    runtime = {f"runtime/{file}": text for file, text in closure(printed.headers).items()}
    return _encoded({**printed.files, **copies, **runtime})


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}
