"""`ccodegen run`: a program over arrays in files."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ccodegen.backend import host
from ccodegen.backend.build import bind
from ccodegen.backend.interfaces import Options
from ccodegen.backend.memory_form import caller_shape
from ccodegen.backend.options import BuildOptions
from ccodegen.commands import common
from ccodegen.commands.common import Array
from ccodegen.frontends.read import read
from ccodegen.hlo.evaluate import evaluate, value_leaves
from ccodegen.loop.ir import Program
from ccodegen.ops.custom_call import with_hosts
from ccodegen.package import write_file
from ccodegen.random_inputs import random_arrays, random_inputs
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import NO_IO

TEXT = """\
Runs a program here, over arrays from files or random ones, and prints or writes its results.
Parameters that --constant binds take no input.

  ccodegen run model.hlo
  ccodegen run model.hlo --input x.npy --output y.npz
  ccodegen run model.hlo --input inputs.npz --reference
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "run", "run a program over arrays in files", TEXT)
    common.add_program(parser)
    common.add_start(parser)
    common.add_inputs(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="an .npz, for arrays out0, out1, …, or an .npy where there is one result",
    )
    parser.add_argument(
        "--reference", action="store_true", help="evaluate with NumPy instead of compiling"
    )
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    options = common.options_of(args)
    results = _evaluated(args, options) if args.reference else _compiled(args, options)
    if args.output is None:
        for number, array in enumerate(results):
            print(f"out{number} = {np.array2string(array, threshold=40)}")
    else:
        save(args.output, results)
    return 0


def call(program: Program, options: BuildOptions, inputs: Sequence[Array]) -> list[Array]:
    """The results of a program, compiled and run in this process, by output number."""
    with common.progress("compiling C"):
        settings = Options(strict=options.strict, io=with_hosts(NO_IO))
        executable = host.load(program, options.target, settings)
    results = executable(*(np.array(array, order="C") for array in inputs))
    return list(results) if isinstance(results, tuple) else [results]


def save(path: Path, arrays: Sequence[Array]) -> None:
    """Writes them as .npz or .npy. Raises InputError where that cannot be done."""
    if path.suffix not in (".npz", ".npy"):
        raise InputError(f"--output {path}: the name must end in .npz or .npy")
    if path.suffix == ".npy" and len(arrays) != 1:
        raise InputError(f"--output {path}: the program has {len(arrays)} results, take an .npz")
    data = io.BytesIO()
    if path.suffix == ".npy":
        np.save(data, arrays[0])
    else:
        named: dict[str, Any] = {f"out{n}": array for n, array in enumerate(arrays)}
        np.savez(data, **named)
    write_file(path, data.getvalue())


def _compiled(args: argparse.Namespace, options: BuildOptions) -> list[Array]:
    if not options.target.runner.in_process:
        hint = f"ccodegen verify {args.program} --target {args.target} runs it there"
        raise InputError(f"target {args.target} does not run in this process", hint=hint)
    program = common.program_from(args.program, args.start_from, options)
    inputs = common.inputs_from(args.input)
    return call(program, options, _random(program, args.seed) if inputs is None else inputs)


def _random(program: Program, seed: int) -> list[Array]:
    own = (a for a in program.arguments if not a.initial and not a.size_of)
    taken = [a for a in own if a.parameter is not None]
    taken.sort(key=lambda argument: argument.parameter or 0)
    shapes = map(caller_shape, taken)
    return random_arrays([(s.element_type, s.dimensions) for s in shapes], seed)


def _evaluated(args: argparse.Namespace, options: BuildOptions) -> list[Array]:
    if args.start_from == "loop":
        raise InputError("--reference needs a program in HLO")
    module = bind(read(Path(args.program)), options).module
    inputs = common.inputs_from(args.input)
    if inputs is None:
        inputs = random_inputs(module, args.seed)
    with common.progress("evaluating"):
        results = evaluate(module, *inputs, io=with_hosts(NO_IO))
    return [value for value in value_leaves(results) if value is not None]
