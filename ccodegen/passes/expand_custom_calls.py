"""Custom calls that mean ops of HLO, and ops that only tell a compiler something."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import derived
from ccodegen.ops.custom_call import expand
from ccodegen.passes.context import PassContext


def expand_custom_calls(module: Module, context: PassContext) -> Module:
    """`custom-call(%x), custom_call_target="Sharding"` → `%x`; likewise opt-barrier and domain;
    `custom_call_target="TopK"` → `topk(%x), k=3`."""
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    if not instruction.control_predecessors:
        return _meaning(instruction)
    meaning = _meaning(instruction)
    if meaning is instruction:
        return instruction
    # Whoever waits for the call waits for what it waits for.
    waiting = derived(instruction, "copy", meaning.shape, (meaning,))
    return replace(waiting, control_predecessors=instruction.control_predecessors)


def _meaning(instruction: Instruction) -> Instruction:
    if instruction.op in ("opt-barrier", "domain"):
        return instruction.operands[0]
    return expand(instruction)
