"""`ccodegen ops`: which ops of HLO there are, and what we do with them."""

from __future__ import annotations

import argparse

from rich.table import Table

import ccodegen.ops  # noqa: F401  # fills the registry
from ccodegen.commands import common, support_matrix
from ccodegen.hlo.opdef import OpDef, all_ops

TEXT = """\
Lists the ops of HLO: whether the NumPy reference evaluates them, and how they become C.
  element   a formula for each element; fuses with its neighbours
  nest      loops of its own
  steps     control flow and calls of the program, or no code at all
  caller    a call of the caller's ccg_io
  rewritten as other ops, by a pass; of custom-call, the targets that we know

  ccodegen ops
  ccodegen ops --missing
  ccodegen ops --markdown     the page docs/support.md: element types, and the bounds of errors
"""
# What the passes and the lowering of a program take care of, rather than the op's own loops.
_STEPS = """
after-all add-dependency async-done async-start async-update bitcast call conditional constant
copy-done copy-start domain fusion get-tuple-element opt-barrier parameter tuple while
"""
_CALLER = "infeed outfeed recv recv-done send send-done"
_REWRITTEN = """
batch-norm-grad batch-norm-inference batch-norm-training custom-call dynamic-reshape
get-dimension-size rng-get-and-update-state set-dimension-size
"""


def add(commands: common.Subparsers) -> None:
    parser = common.new_parser(commands, "ops", "list the ops and their support", TEXT)
    parser.add_argument("--missing", action="store_true", help="only what is not compiled yet")
    parser.add_argument("--markdown", action="store_true", help="the support matrix, as a page")
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    if args.markdown:
        print(support_matrix.markdown(), end="")
        return 0
    table = Table("op", "reference", "C", box=None, pad_edge=False)
    shown = [op for op in all_ops() if not (args.missing and lowering(op))]
    for op in shown:
        table.add_row(op.opcode, "yes" if op.evaluate else "-", lowering(op) or "-")
    console = common.printer()
    console.print(table)
    compiled = sum(1 for op in all_ops() if lowering(op))
    evaluated = sum(1 for op in all_ops() if op.evaluate)
    console.print(f"{len(all_ops())} ops: {evaluated} evaluated, {compiled} compiled")
    return 0


def lowering(op: OpDef) -> str:
    """How an op becomes C; empty where it does not yet."""
    ways = [name for name in ("element", "nest") if getattr(op, name) is not None]
    if op.expand is not None or op.opcode in _REWRITTEN.split():
        ways.append("rewritten")
    if op.opcode in _CALLER.split():
        ways.append("caller")
    return ", ".join(ways) or ("steps" if op.opcode in _STEPS.split() else "")
