"""`ccodegen reduce`: the smallest program that still shows a fault."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from pathlib import Path

from ccodegen.commands import common
from ccodegen.commands.symptoms import symptom_of
from ccodegen.frontends.read import read
from ccodegen.hlo.ir import Module
from ccodegen.package import write_file
from ccodegen.passes.reducing import reduce
from ccodegen.support.errors import InputError
from ccodegen.support.naming import counted

TEXT = """\
Shrinks a program that shows a fault to a few lines of HLO that still show it: removes instructions,
calls and control flow, then makes arrays, attributes, values and types simpler. Every step is a
valid program, and the same program gives the same result.

  --check differs    the compiled program and the reference differ (default)
  --check crashes    the compiler has a bug, or the compiled program crashes or hangs
  --check xla        XLA:CPU and the reference differ (needs jax)
  --check COMMAND    a shell command in which {} stands for a file; exit status 0: shows the fault

  ccodegen reduce model.hlo --strict
  ccodegen reduce model.hlo --check crashes -o small.hlo
  ccodegen reduce model.hlo --check 'my_compiler {} 2>&1 | grep -q "unknown layout"'
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "reduce", "shrink a program that shows a fault", TEXT)
    common.add_program(parser)
    parser.add_argument("--check", default="differs", help="the fault; default: %(default)s")
    parser.add_argument(
        "--seconds", type=_seconds, default=60.0, help="of one check; default: %(default)s"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    module = read(Path(args.program))
    symptom = symptom_of(args.check, common.options_of(args), args.seconds)
    fault = symptom(module)
    if not fault:
        hint = "see `ccodegen reduce --help` for what --check may be"
        raise InputError(f"{args.program} does not show the fault '{args.check}'", hint=hint)
    print(f"the fault: {fault}", file=sys.stderr)
    text = reduce(module, lambda m: symptom(m) == fault, _tell).to_text()
    if args.output:
        write_file(Path(args.output), text.encode())
    else:
        print(text, end="")
    return 0


def _tell(module: Module) -> None:
    count = sum(len(c.instructions) for c in module.computations)
    print(counted(count, "instruction"), file=sys.stderr)


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"expected seconds, more than 0, got '{text}'")
