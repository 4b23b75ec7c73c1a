"""Control flow that is decided at compile time."""

from __future__ import annotations

import functools
from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.control import Conditional
from ccodegen.passes.constants import uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.element_loops import is_kernel, weight
from ccodegen.passes.flatten_calls import expand_calls
from ccodegen.passes.inline import Inlined, inline
from ccodegen.passes.loops import as_loop, trip_count
from ccodegen.support.decisions import decided

_MOST_UNROLLED = 400  # instructions of all turns
_MOST_ALONE = 100  # where the loop could be one kernel: more wait for one another


def simplify_control(module: Module, context: PassContext) -> Module:
    """conditional by a constant → that branch; while of no turn → its operand; of one turn → its
    body; of a few turns over single elements → the body as often, whose arrays then need not lie in
    memory. Other loops whose number of turns is known are marked with it, in XLA's way:

    `%w = while(%init), …` → `%w = while(%init), …, backend_config={"known_trip_count":{"n":"10"}}`
    """
    most = _MOST_UNROLLED if context.has_vectors else 0
    shorter = expand_calls(module, functools.partial(_expansion, most), context.inlining_limit)
    return rewrite_module(shorter, _counted)


def _expansion(most_unrolled: int, instruction: Instruction) -> Inlined | None:
    if isinstance(instruction.attributes, Conditional):
        return _conditional(instruction, instruction.attributes)
    loop = as_loop(instruction)
    turns = None if loop is None else trip_count(loop)
    if loop is None or turns is None:
        return None
    is_alone = is_kernel(loop, has_vectors=True)
    most = min(most_unrolled, _MOST_ALONE) if is_alone else most_unrolled
    if turns > 1 and turns * weight(loop.body) > most:
        return None
    if turns > 1:
        decided(instruction.name, f"has its {turns} turns one after the other", "they are short")
    state, side_roots = loop.init, list[Instruction]()
    for _ in range(turns):
        turn = inline(loop.body, (state,))
        state = turn.root
        side_roots += turn.side_roots
    return Inlined(state, tuple(side_roots))


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
