"""Which loops run two turns at a time, so that their state goes to and fro and is not copied."""

from __future__ import annotations

from collections.abc import Mapping

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.lower.coalesce import Storage, check, coalesce
from ccodegen.lower.linearize import linearize
from ccodegen.lower.liveness import Lives, lives
from ccodegen.lower.steps import Copy, Loop, StepProgram, Value, walk
from ccodegen.passes.loops import as_loop, trip_count
from ccodegen.support.immutable import immutable

_LEAST_BYTES = 64
_MOST_INSTRUCTIONS = 64


@immutable
class Plan:
    """Steps, and the memory of their values."""

    steps: StepProgram
    life: Lives
    memory: Mapping[Value, Storage]


def plan(module: Module, donated: Mapping[int, int], doubles: bool) -> Plan:
    """The steps of a module with the loops doubled for which that saves copies.

    A turn that makes the new state while it reads the old one, as stencils do, writes it beside
    that, and ends with a copy over it. The turn after it could as well write to the place of the
    old state:

        turn: b = f(a), a = b   →   two turns: b = f(a), a = f(b)

    `doubles`: whether code that is a little longer is worth it.
    """
    once = _plan(module, donated, {})
    copied = _copied(once)
    turns = {i: n for i, bytes_ in copied.items() if bytes_ >= _LEAST_BYTES and (n := _turns(i))}
    if not doubles or not turns:
        return once
    left = _copied(_plan(module, donated, turns))
    paid = {i: n for i, n in turns.items() if left[i] < copied[i]}
    return _plan(module, donated, paid) if paid else once


def _plan(module: Module, donated: Mapping[int, int], doubled: Mapping[Instruction, int]) -> Plan:
    steps = linearize(module, donated, doubled)
    life = lives(steps)
    memory = coalesce(steps, life)
    check(memory, life)
    return Plan(steps, life, memory)


def _copied(plan: Plan) -> dict[Instruction, int]:
    """How many bytes the body of each loop copies."""
    found: dict[Instruction, int] = {}
    for loop in walk(plan.steps.steps):
        if isinstance(loop, Loop):
            copies = [s for s in loop.body if isinstance(s, Copy)]
            moved = (c for c in copies if plan.memory[c.source] is not plan.memory[c.target])
            found[loop.instruction] = sum(c.source.shape.bytes for c in moved)
    return found


def _turns(instruction: Instruction) -> int:
    """The number of turns of a loop that can be doubled, else 0."""
    loop = as_loop(instruction)
    if loop is None or loop.condition.side_roots:
        return 0
    turns = trip_count(loop) or 0
    is_long = len(loop.body.instructions) > _MOST_INSTRUCTIONS
    return turns if turns > 1 and not is_long else 0
