"""`ccodegen compile`: a program through all stages, or up to one of them."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ccodegen.backend import host
from ccodegen.backend.interfaces import Options
from ccodegen.backend.options import BuildOptions
from ccodegen.commands import common
from ccodegen.commands.common import bytes_text
from ccodegen.emit.source import emit
from ccodegen.loop import text as loop_text
from ccodegen.loop.ir import Program
from ccodegen.package import write_file
from ccodegen.support.errors import InputError

STAGES = ("hlo", "optimized", "loop", "c")

TEXT = """\
Compiles a program and says what it needs; for the host also with the C compiler, into the cache.
With --stop-after it prints the program at a stage instead: hlo (as read), optimized (HLO after all
passes), loop (loop nests over planned memory) or c.

  ccodegen compile model.hlo
  ccodegen compile model.hlo --target cortex-m4 --stop-after c
  ccodegen compile model.hlo --stop-after loop -o model.loop
  ccodegen compile model.loop --start-from loop --stop-after c
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "compile", "compile a program, or print a stage", TEXT)
    common.add_program(parser)
    common.add_start(parser)
    parser.add_argument("--stop-after", choices=STAGES, help="print the program at this stage")
    parser.add_argument("-o", "--output", type=Path, help="print to this file, not to stdout")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    if args.output and not args.stop_after:
        raise InputError("--output is for what --stop-after prints", hint="add --stop-after c")
    options = common.options_of(args)
    if args.stop_after:
        _print(stage_text(args, options), args.output)
        return 0
    start = time.perf_counter()
    program = common.program_from(args.program, args.start_from, options)
    planned = time.perf_counter()
    console = common.printer()
    console.print(program.signature or program.name, markup=False)
    console.print(f"kernels    {len(program.kernels)}")
    console.print(f"arena      {bytes_text(program.arena_size)}")
    constants = sum(constant.buffer.bytes for constant in program.constants)
    console.print(f"constants  {bytes_text(constants)}")
    console.print(f"passes     {planned - start:.2f} s")
    if options.target.runner.in_process:
        with common.progress("compiling C"):
            host.load(program, options.target, Options(strict=options.strict))
        console.print(f"C          {time.perf_counter() - planned:.2f} s")
    return 0


def stage_text(args: argparse.Namespace, options: BuildOptions) -> str:
    """The program at the stage `args.stop_after`."""
    stage, start = args.stop_after, args.start_from
    if STAGES.index(stage) < STAGES.index(start):
        raise InputError(f"--stop-after {stage} comes before --start-from {start}")
    if stage in ("hlo", "optimized"):
        built = common.build_from(args.program, start, options)
        return (built.module if stage == "hlo" else built.optimized).to_text()
    program = common.program_from(args.program, start, options)
    return loop_text.to_text(program) if stage == "loop" else c_text(program, options)


def c_text(program: Program, options: BuildOptions) -> str:
    """All files of the C library, one after the other."""
    sources = emit(program, options.target, "model", options.strict)
    return "\n".join(f"/* {path} */\n{text}" for path, text in sources.files.items())


def _print(text: str, output: Path | None) -> None:
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    write_file(output, text.encode())
