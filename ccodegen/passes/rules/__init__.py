"""Local rewrites: a rule looks at an instruction and its operands and gives a better one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.passes.context import PassContext

Rule: TypeAlias = Callable[[Instruction, PassContext], Instruction | None]
Rules: TypeAlias = Mapping[str, tuple[Rule, ...]]
ANY_OP = "*"

# A guard against rules that undo each other; real chains at one instruction are far shorter.
_STEPS = 50


def apply_rules(module: Module, context: PassContext, rules: Rules) -> Module:
    """One sweep in which each instruction is rewritten until no rule of its op has more to say.

    A rule returns None for "no"; those under ANY_OP are asked for every instruction. What waits
    for others (control predecessors) stays as it is.
    """

    def visit(instruction: Instruction) -> Instruction:
        if instruction.control_predecessors or has_side_effect(instruction):
            return instruction
        for _ in range(_STEPS):
            better = _first(instruction, rules, context)
            if better is None:
                break
            instruction = better
        return instruction

    return rewrite_module(module, visit)


def merged(tables: Iterable[Rules]) -> Rules:
    """One table of all, in order."""
    found: dict[str, tuple[Rule, ...]] = {}
    for table in tables:
        for op, rules in table.items():
            found[op] = found.get(op, ()) + rules
    return found


def _first(instruction: Instruction, rules: Rules, context: PassContext) -> Instruction | None:
    for rule in (*rules.get(ANY_OP, ()), *rules.get(instruction.op, ())):
        better = rule(instruction, context)
        # Operands may be of another precision or have other bounds than the result.
        if better is not None and better.shape == instruction.shape:
            return better
    return None
