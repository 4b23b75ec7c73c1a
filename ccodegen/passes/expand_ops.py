"""Puts other ops in the place of those whose definition says how (OpDef.expand)."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.devices import check_one_device
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.passes.context import PassContext


def expand_ops(module: Module, context: PassContext) -> Module:
    """`all-reduce(%x)` → `%x`, on one device; `scaled-dot(%x, %y, %s, %t)` → a dot of products.

    Raises UnsupportedError for a collective of several devices.
    """
    check_one_device(module)
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    definition = opdef.find(instruction.op)
    if definition is None or definition.expand is None:
        return instruction
    return definition.expand(instruction)
