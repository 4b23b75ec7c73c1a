"""`ccodegen verify`: a compiled program against the reference."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count
from pathlib import Path
from typing import Any

from ccodegen.backend import host
from ccodegen.backend.build import Build
from ccodegen.backend.interfaces import Options
from ccodegen.backend.memory_form import inputs_in_memory
from ccodegen.backend.options import BuildOptions
from ccodegen.backend.runner import run_program
from ccodegen.backend.toolchain import build_program
from ccodegen.commands import common
from ccodegen.commands.run import call
from ccodegen.emit.selftest import Expectation
from ccodegen.loop import interpret
from ccodegen.loop.ir import Argument, CallKernel, Kernel, Program, Space
from ccodegen.ops.custom_call import with_hosts
from ccodegen.package import expectation, export
from ccodegen.support.element_type import array_text, from_dtype
from ccodegen.support.errors import InputError, InternalError
from ccodegen.support.hooks import NO_IO
from ccodegen.support.immutable import frozen
from ccodegen.tolerance import Comparison, compare, tolerance

TEXT = """\
Compiles a program, runs it on the target or its emulator, and compares each result with the NumPy
reference's. A difference is allowed that fused and reordered sums explain; none in --strict. Exits
with 3 where there is a greater one.

  ccodegen verify model.hlo
  ccodegen verify model.hlo --target cortex-m4 --strict
  ccodegen verify model.hlo --per-kernel
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "verify", "compare with the NumPy reference", TEXT)
    common.add_program(parser)
    common.add_inputs(parser)
    parser.add_argument(
        "--per-kernel",
        action="store_true",
        help="compare each kernel with the loop interpreter, over the values it gets in the"
        " program (host only, slow)",
    )
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    options = common.options_of(args)
    in_process = options.target.runner.in_process
    if args.per_kernel and not in_process:
        raise InputError("--per-kernel needs the target host")
    built = common.build_from(args.program, "hlo", options)
    inputs = common.inputs_from(args.input)
    with common.progress("evaluating"):
        expected = expectation(built.module, options.strict, inputs, args.seed)
    passed = _verify_here(built, options, expected) if in_process else _verify_there(args, options)
    if args.per_kernel:
        inputs_there = inputs_in_memory(built.program, expected.inputs)
        passed &= _verify_kernels(built.program, options, inputs_there)
    print("PASS" if passed else "FAIL")
    return 0 if passed else common.MISMATCH


def show(name: str, result: Comparison) -> bool:
    verdict = "ok" if result.passed else f"wrong ({result.wrong} elements)"
    figures = f"largest difference {result.difference:.3g}, limit {result.limit:.3g}"
    print(f"{name}: {figures}: {verdict}")
    return result.passed


def _verify_here(built: Build, options: BuildOptions, expected: Expectation) -> bool:
    results = call(built.program, options, expected.inputs)
    rows = zip(results, expected.outputs, expected.tolerances, strict=True)
    passed = [show(f"out{n} {array_text(a)}", compare(a, e, t)) for n, (a, e, t) in enumerate(rows)]
    return all(passed)


def _verify_there(args: argparse.Namespace, options: BuildOptions) -> bool:
    """Builds the package's own test and runs it where the target runs."""
    with tempfile.TemporaryDirectory(prefix="ccodegen-") as folder:
        package, program = Path(folder) / "package", Path(folder) / "program"
        made = export(
            Path(args.program),
            options.target,
            "model",
            package,
            options.constants,
            options.donate,
            options.strict,
            inputs=common.inputs_from(args.input),
            seed=args.seed,
        )
        if not (package / "test").is_dir():
            raise InputError(f"verify cannot run it on {options.target.name}: {made.notes[0]}")
        sources = [*sorted((package / "src").glob("*.c")), package / "test" / "model_test.c"]
        include = [package / name for name in ("include", "runtime")]
        with common.progress(f"running on {options.target.name}"):
            build_program(sources, program, options.target, options.strict, include)
            done = run_program(program, options.target)
    lines = done.output.splitlines()
    if not lines or lines[-1] not in ("PASS", "FAIL"):
        raise InternalError(f"the program ended with code {done.code}:\n{done.output}")
    print("\n".join(lines[:-1]))
    return lines[-1] == "PASS"


@frozen
class _Seen:
    """The first call of a kernel: its buffers before and after, by the interpreter."""

    kernel: Kernel
    before: list[common.Array]
    after: list[common.Array]


def _verify_kernels(
    program: Program, options: BuildOptions, inputs: Sequence[common.Array]
) -> bool:
    seen: dict[Kernel, _Seen] = {}

    def observe(called: CallKernel, before: list[Any], after: list[Any]) -> None:
        if called.kernel not in seen:
            copies = [array.copy() for array in after]
            seen[called.kernel] = _Seen(called.kernel, before, copies)

    with common.progress("interpreting"):
        interpret.run(program, inputs, observe, io=with_hosts(NO_IO))
    with common.progress("compiling kernels"), ThreadPoolExecutor(cpu_count()) as pool:
        ran = list(pool.map(lambda one: _run_alone(one, program.alignment, options), seen.values()))
    rows = zip(seen.values(), ran, strict=True)
    passed = [show(*row) for one, arrays in rows for row in _compared(one, arrays, options)]
    return all(passed)


def _run_alone(seen: _Seen, alignment: int, options: BuildOptions) -> list[common.Array]:
    """The kernel's buffers after one call of its C."""
    buffers = tuple(replace(b, space=Space.ARGUMENT) for b in seen.kernel.buffers)
    arguments = tuple(Argument(b.name, b, n, n) for n, b in enumerate(buffers))
    steps = (CallKernel(seen.kernel, buffers),)
    program = Program(seen.kernel.name, arguments, (), 0, alignment, (seen.kernel,), steps)
    executable = host.load(program, options.target, Options(strict=options.strict))
    arrays = [a.reshape(b.dimensions).copy() for a, b in zip(seen.before, buffers, strict=True)]
    executable(*arrays)
    return arrays


def _compared(
    seen: _Seen, ran: list[common.Array], options: BuildOptions
) -> Iterator[tuple[str, Comparison]]:
    """A comparison for each buffer that the kernel changed, its scratch memory left out."""
    rows = zip(seen.kernel.buffers, seen.before, seen.after, ran, strict=True)
    for buffer, before, after, actual in rows:
        flat = actual.reshape(-1)
        if buffer.space is Space.ARENA:
            continue
        if before.tobytes() == after.tobytes() == flat.tobytes():
            continue
        relative = tolerance(from_dtype(after.dtype), options.strict)
        yield f"{seen.kernel.name} {buffer.name}", compare(flat, after, relative)
