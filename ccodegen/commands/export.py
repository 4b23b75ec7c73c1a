"""`ccodegen export`: a program as a folder of C files for a target."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from ccodegen.commands import common
from ccodegen.commands.common import bytes_text
from ccodegen.package import export
from ccodegen.report import Report

TEXT = """\
Writes a folder with the program as C99 for a target: include/NAME.h, src/, the runtime's headers,
a Makefile, a CMakeLists.txt, a test with expected results, and report.json. With --threads 2 or
more, NAME_run takes one more pointer, to threads of the caller's, which share its large loops.

  ccodegen export model.hlo --target cortex-m4 --name model -o firmware
  make -C firmware test
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "export", "write a package of C files", TEXT)
    common.add_program(parser, target="cortex-m4")
    common.add_inputs(parser)
    parser.add_argument(
        "--name", default="model", help="prefix of files and C names; default: %(default)s"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="the folder, made if missing; default: %(default)s",
    )
    parser.add_argument(
        "--weights-binary",
        action="store_true",
        help="constants go to NAME_weights.bin, and the C takes a pointer to them",
    )
    parser.add_argument("--no-test", action="store_true", help="leave out test/")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    options = common.options_of(args)
    with common.progress(f"compiling {args.program}"):
        made = export(
            Path(args.program),
            options.target,
            args.name,
            args.output,
            options.constants,
            options.donate,
            options.strict,
            weights_binary=args.weights_binary,
            test=not args.no_test,
            inputs=common.inputs_from(args.input),
            seed=args.seed,
            threads=args.threads > 1,
        )
    print_summary(made, args.output, common.printer())
    return 0


def print_summary(made: Report, folder: Path, console: Console) -> None:
    console.print(made.signature, markup=False)
    console.print(f"{len(made.files)} files in {folder}", markup=False)
    console.print(f"arena      {bytes_text(made.arena)}")
    console.print(f"constants  {bytes_text(made.constants)}")
    console.print(f"arguments  {bytes_text(made.inputs_bytes + made.outputs_bytes)}")
    console.print(f"kernels    {len(made.kernels)}")
    for note in made.notes:
        console.print(note, markup=False)
