"""`ccodegen demo`: one small model through everything, in a few seconds."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from ccodegen.backend.compilers import find_compiler
from ccodegen.backend.runner import run_program
from ccodegen.backend.toolchain import CompilerRun, build_program, finish_all
from ccodegen.commands import common
from ccodegen.commands.common import bytes_text
from ccodegen.commands.inspect import memory_table
from ccodegen.jit import Executable, compile
from ccodegen.package import export
from ccodegen.reference import evaluate
from ccodegen.report import report
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError
from ccodegen.target import Target, load
from ccodegen.tolerance import compare, tolerance

TEXT = """\
Takes a small neural network, a classifier of handwritten digits, through everything: compiles it
for this machine and runs it, checks it against the NumPy reference, writes a package of C files
for a microcontroller, and runs that in an emulator if there is one. Needs a C compiler.

  ccodegen demo
  ccodegen demo -o somewhere
"""
DATA = Path(__file__).resolve().parents[1] / "demo"
MODEL = DATA / "digits.hlo"
_CALLS = 2000


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "demo", "a tour in a few seconds", TEXT)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("ccodegen-demo"),
        metavar="DIR",
        help="where the C files go; default: %(default)s",
    )
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    console = common.printer()
    console.print("A classifier of handwritten digits, 64-32-10 neurons, trained with JAX:")
    _show_model(console)
    executable = _compile(console)
    _classify(executable, console)
    _check(executable, console)
    _firmware(args.output, console)
    _memory(executable, console)
    console.print("\nNext: ccodegen --help, or ccodegen.compile and ccodegen.export in Python.")
    return 0


def drawings() -> list[np.ndarray[Any, Any]]:
    """Digits of 8×8 pixels: 64 values of 0 or 1 each."""
    blocks = (DATA / "digits.txt").read_text().strip().split("\n\n")
    return [np.array([c == "#" for c in block if c in ".#"], np.float32) for block in blocks]


def _show_model(console: Console) -> None:
    lines = MODEL.read_text().splitlines()
    entry = [line for line in lines[lines.index("") :] if " dot(" in line or "exponential(" in line]
    for line in entry:
        console.print(Text(f"  {line.partition(', metadata')[0].strip()}", "dim"))


def _compile(console: Console) -> Executable:
    _step(console, "Compile for this machine")
    compiler = " ".join(find_compiler(load("host")).words)
    start = time.perf_counter()
    executable = compile(MODEL)
    elapsed = time.perf_counter() - start
    kernels = len(executable.build.program.kernels)
    console.print(f"  {kernels} kernels of C, compiled by {compiler} in {elapsed:.2f} s")
    image = drawings()[0]
    start = time.perf_counter()
    for _ in range(_CALLS):
        executable(image)
    each = (time.perf_counter() - start) / _CALLS
    console.print(f"  a call from Python takes {1e6 * each:.1f} µs")
    return executable


def _classify(executable: Executable, console: Console) -> None:
    _step(console, "Run it over some drawings")
    panels = []
    for image in drawings():
        rows = ["".join("██" if pixel else "  " for pixel in row) for row in image.reshape(8, 8)]
        scores = executable(image)
        best = int(np.argmax(scores))
        panels.append(Panel.fit("\n".join(rows), subtitle=f"{best}, {100 * scores[best]:.0f} %"))
    console.print(Columns(panels))


def _check(executable: Executable, console: Console) -> None:
    _step(console, "Check it against the NumPy reference")
    relative = tolerance(ElementType.F32, strict=False)
    for number, image in enumerate(drawings()):
        result = compare(executable(image), evaluate(MODEL, image), relative)
        verdict = "ok" if result.passed else "wrong"
        console.print(f"  drawing {number}: largest difference {result.difference:.2g}, {verdict}")


def _firmware(folder: Path, console: Console) -> None:
    target = load("cortex-m4")
    _step(console, "Write C files for a microcontroller (Cortex-M4)")
    made = export(MODEL, target, "digits", folder, inputs=drawings()[:1])
    console.print(f"  {len(made.files)} files in {folder}; the interface is include/digits.h:")
    header = (folder / "include" / "digits.h").read_text()
    prototype = next(line for line in header.splitlines() if line.startswith("int digits_run("))
    console.print(Text(f"    {prototype}", "bold"))
    try:
        _try_firmware(folder, target, console)
    except InputError as error:
        console.print(f"  not compiled: {error.message}\n  {error.hint}")


def _try_firmware(folder: Path, target: Target, console: Console) -> None:
    """Compiles the package, says how large it is, and runs its test in the emulator."""
    compiler = find_compiler(target)
    include = [folder / name for name in ("include", "runtime")]
    flags = [*target.compile_flags(strict=False), *(f"-I{path}" for path in include)]
    sources = sorted((folder / "src").glob("*.c"))
    with tempfile.TemporaryDirectory(prefix="ccodegen-") as temporary:
        objects = [str(Path(temporary) / f"{source.stem}.o") for source in sources]
        pairs = zip(sources, objects, strict=True)
        commands = [[*compiler.words, *flags, "-c", str(s), "-o", o] for s, o in pairs]
        finish_all([CompilerRun(command) for command in commands])
        _show_size(compiler.words[0], objects, console)
        program = Path(temporary) / "test"
        sources.append(folder / "test" / "digits_test.c")
        build_program(sources, program, target, include=include)
        done = run_program(program, target)
    console.print(f"  its test, in {target.runner.command[0]}:")
    for line in done.output.splitlines():
        console.print(f"    {line}")


def _show_size(compiler: str, objects: list[str], console: Console) -> None:
    """Flash and RAM of object files, where the compiler's `size` is installed."""
    tool = f"{compiler.removesuffix('gcc')}size"
    if shutil.which(tool) is None:
        return
    printed = subprocess.run([tool, *objects], capture_output=True, text=True).stdout
    rows = [line.split() for line in printed.splitlines()[1:]]
    text, data, bss = (sum(int(row[column]) for row in rows) for column in range(3))
    console.print(f"  flash {bytes_text(text + data)}, static RAM {bytes_text(data + bss)}")


def _memory(executable: Executable, console: Console) -> None:
    _step(console, "Memory, known before it runs")
    facts = report(executable.build, "digits", "host", strict=False, digest="")
    console.print(
        f"  arena {bytes_text(facts.arena)}, weights {bytes_text(facts.constants)}, "
        f"input {bytes_text(facts.inputs_bytes)}, output {bytes_text(facts.outputs_bytes)}"
    )
    if facts.buffers:
        console.print(memory_table(facts))


def _step(console: Console, title: str) -> None:
    console.print(Text(f"\n{title}", "bold"))
