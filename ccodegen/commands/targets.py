"""`ccodegen targets`: what programs can be compiled for here."""

from __future__ import annotations

import argparse
import shutil

from rich.table import Table
from rich.text import Text

from ccodegen.backend.compilers import find_compiler
from ccodegen.commands import common
from ccodegen.support.errors import CcodegenError
from ccodegen.target import Target, load, names

TEXT = """\
Lists the targets: a name for --target, what it is, and whether this machine has what it takes to
compile for it and to run it. A target of your own is a .toml file: --target path/to/mine.toml.

  ccodegen targets
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "targets", "list the targets", TEXT)
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    table = Table("target", "what it is", "compiler", "runs by", box=None, pad_edge=False)
    for name in names():
        target = load(name)
        table.add_row(name, target.description, _compiler(target), _runner(target))
    common.printer().print(table)
    return 0


def _compiler(target: Target) -> Text:
    try:
        return Text(" ".join(find_compiler(target).words), "green")
    except CcodegenError:
        return Text(f"missing: {target.compiler.install}", "red")


def _runner(target: Target) -> Text:
    if target.runner.in_process:
        return Text("loading it here", "green")
    command = target.runner.command[0]
    if command == "{program}" or shutil.which(command):
        return Text("itself" if command == "{program}" else command, "green")
    return Text(f"missing: {target.runner.install}", "red")
