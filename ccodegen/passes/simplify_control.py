"""Control flow that is decided at compile time."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.control import Conditional
from ccodegen.passes.constants import uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.flatten_calls import expand_calls
from ccodegen.passes.inline import Inlined, inline
from ccodegen.passes.loops import as_loop, trip_count


def simplify_control(module: Module, context: PassContext) -> Module:
    """conditional by a constant → that branch; while of no turn → its operand; of one turn → its
    body. Other loops whose number of turns is known are marked with it, in XLA's way:

    `%w = while(%init), …` → `%w = while(%init), …, backend_config={"known_trip_count":{"n":"10"}}`
    """
    shorter = expand_calls(module, _expansion, context.inlining_limit)
    return rewrite_module(shorter, _counted)


def _expansion(instruction: Instruction) -> Inlined | None:
    if isinstance(instruction.attributes, Conditional):
        return _conditional(instruction, instruction.attributes)
    loop = as_loop(instruction)
    turns = None if loop is None else trip_count(loop)
    if loop is None or turns is None or turns > 1:
        return None
    if turns == 0:
        return Inlined(loop.init, ())
    return inline(loop.body, (loop.init,))


def _conditional(instruction: Instruction, attributes: Conditional) -> Inlined | None:
    selector = uniform(instruction.operands[0])
    if selector is None:
        return None
    number = attributes.chosen(selector)
    branch, operand = attributes.branches()[number], instruction.operands[1 + number]
    operands = (operand,) if branch.parameters else ()
    return inline(branch, operands, instruction.control_predecessors)


def _counted(instruction: Instruction) -> Instruction:
    loop = as_loop(instruction)
    if loop is None or instruction.annotation("backend_config") is not None:
        return instruction
    turns = trip_count(loop)
    if turns is None:
        return instruction
    note = ("backend_config", f'{{"known_trip_count":{{"n":"{turns}"}}}}')
    return replace(instruction, annotations=(*instruction.annotations, note))
