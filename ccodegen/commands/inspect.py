"""`ccodegen inspect`: the graph, the kernels and the memory plan of a program."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ccodegen.backend.build import Build
from ccodegen.commands import common
from ccodegen.commands.common import bytes_text
from ccodegen.commands.page import page
from ccodegen.hlo.ir import Module
from ccodegen.package import write_file
from ccodegen.report import Report, report

TEXT = """\
Shows what becomes of a program: its graph before and after the passes, the kernels with their
cost, and who lies where in the arena at which steps. --html writes one page with all of it, with
the C of each kernel.

  ccodegen inspect model.hlo
  ccodegen inspect model.hlo --target cortex-m4 --html model.html
"""
_MOST_OPS = 12


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "inspect", "show graph, kernels and memory", TEXT)
    common.add_program(parser)
    common.add_start(parser, ("hlo", "optimized"))
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page instead")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    options = common.options_of(args)
    built = common.build_from(args.program, args.start_from, options)
    facts = report(built, built.module.name, options.target.name, options.strict, "")
    if args.html:
        write_file(args.html, page(built, facts, options, Path(args.program)).encode())
        print(f"wrote {args.html}")
        return 0
    show(built, facts, common.printer())
    return 0


def show(built: Build, facts: Report, console: Console) -> None:
    console.print(Text(facts.signature, "bold"))
    console.print(_graph(built))
    console.print(_arguments(facts))
    console.print(_kernels(facts))
    console.print(memory_table(facts))
    console.print(
        f"arena {bytes_text(facts.arena)} (no placement of these buffers needs less than "
        f"{bytes_text(facts.lower_bound)}), constants {bytes_text(facts.constants)}"
    )


def memory_table(facts: Report) -> Table:
    table = _table("Arena", "buffer", "shape", "offset", "bytes", "steps")
    for buffer in sorted(facts.buffers, key=lambda b: (b.first, b.offset)):
        steps = f"{buffer.first} to {buffer.last}"
        table.add_row(
            Text(buffer.name), buffer.shape, str(buffer.offset), str(buffer.size), steps
        )
    return table


def _graph(built: Build) -> Table:
    table = _table("Graph", "stage", "instructions", "ops")
    for stage, module in (("as read", built.module), ("optimized", built.optimized)):
        table.add_row(stage, str(sum(_counts(module).values())), _ops_text(module))
    return table


def _counts(module: Module) -> Counter[str]:
    return Counter(i.op for c in module.computations for i in c.instructions)


def _ops_text(module: Module) -> str:
    common_ops = _counts(module).most_common(_MOST_OPS)
    return ", ".join(f"{count} {op}" for op, count in common_ops)


def _arguments(facts: Report) -> Table:
    table = _table("Arguments", "name", "direction", "shape", "bytes")
    for argument in facts.arguments:
        table.add_row(
            Text(argument.name), argument.direction, argument.shape, str(argument.bytes)
        )
    return table


def _kernels(facts: Report) -> Table:
    table = _table("Kernels", "kernel", "operations", "math calls", "bytes moved", "computes")
    for kernel in facts.kernels:
        moved = kernel.bytes_read + kernel.bytes_written
        table.add_row(
            Text(kernel.name),
            f"{kernel.operations:,}",
            f"{kernel.transcendental:,}",
            f"{moved:,}",
            Text(kernel.origin),
        )
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        numeric = column in ("offset", "bytes", "operations", "math calls", "bytes moved")
        table.add_column(column, justify="right" if numeric else "left")
    return table
