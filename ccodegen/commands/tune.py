"""`ccodegen tune`: a target of its own for a program, by measurement on this machine."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.table import Table

from ccodegen.commands import common
from ccodegen.package import write_file
from ccodegen.tuning import Tuned, tune

TEXT = """\
Measures in which register tiles the matrix products and convolutions of a program are fastest on
this machine, and writes a target that says so. Results keep their bits.

  ccodegen tune model.hlo -o tuned.toml
  ccodegen run model.hlo --target tuned.toml
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "tune", "measure what is fastest on this machine", TEXT)
    common.add_program(parser)
    parser.add_argument("-o", "--output", type=Path, help="the target's file, NAME.toml")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    options = common.options_of(args)
    with common.progress(f"measuring {args.program}"):
        tuned = tune(Path(args.program), options)
    if args.output:
        write_file(args.output, target_text(args.target, args.output, tuned).encode())
    table = Table("contraction", "rows", "vectors", "gain", box=None, pad_edge=False)
    for t in tuned:
        gain = f"{t.default_seconds / t.seconds:.2f}"
        table.add_row(t.contraction, str(t.tile.rows), str(t.tile.vectors), gain)
    console = common.printer()
    console.print(table if tuned else "the default tiles are the fastest", markup=False)
    return 0


def target_text(target: str, path: Path, tuned: list[Tuned]) -> str:
    """What stands in a target's file: the other target, and tiles of its own."""
    if target.endswith(".toml"):
        target = Path(os.path.relpath(target, path.parent)).with_suffix("").as_posix()
    lines = [f'inherits = "{target}"']
    for t in tuned:
        gain = f"{t.default_seconds / t.seconds:.2f} times as fast as the default"
        lines += ["", f"[tiles.{t.contraction}]  # {gain}"]
        lines += [f"rows = {t.tile.rows}", f"vectors = {t.tile.vectors}"]
    return "\n".join(lines) + "\n"
