"""Loops whose turns make each element of the state of those at its place."""

from __future__ import annotations

import math

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.passes.fusion_group import is_written_out
from ccodegen.passes.loops import Loop, invariant_parts

_NOT_MADE = ("parameter", "get-tuple-element", "tuple")
_MOST_INSTRUCTIONS = 500  # of a body: beyond, kernels of its parts are compiled faster


def made_elsewhere(loop: Loop) -> list[Instruction]:
    """What is computed elementwise from, the same in all turns, and lies in another order."""
    invariant = set(invariant_parts(loop))
    read = (o for i in loop.body.instructions if _is_straight(i) for o in i.operands)
    return [i for i in dict.fromkeys(read) if i in invariant and not _is_straight(i)]


def _is_straight(instruction: Instruction) -> bool:
    """Whether it makes element n of elements n, or of scalars."""
    if instruction.op == "broadcast":
        return not instruction.operands[0].array_shape.dimensions
    is_plain = instruction.op in _NOT_MADE or is_written_out(instruction)
    return is_plain or opdef.is_elementwise(instruction)


def is_elementwise(loop: Loop) -> bool:
    """Whether what changes are scalars, and arrays of one shape of which each turn makes element n
    of elements n alone."""
    if loop.body.side_roots or loop.condition.side_roots:
        return False
    changing = [s for n, s in enumerate(loop.shapes) if not loop.is_invariant(n)]
    sizes = {s.dimensions for s in changing if isinstance(s, ArrayShape)} - {()}
    if len(sizes) > 1 or not all(isinstance(s, ArrayShape) for s in loop.shapes):
        return False
    dimensions = next(iter(sizes), ())
    made = [i for i in loop.body.instructions if i.op not in _NOT_MADE]
    if not math.prod(dimensions) or len(made) > _MOST_INSTRUCTIONS:
        return False
    return all(_is_at_its_place(i, dimensions) for i in made)


def _is_at_its_place(instruction: Instruction, dimensions: tuple[int, ...]) -> bool:
    return _is_straight(instruction) and all(
        isinstance(i.shape, ArrayShape) and i.shape.dimensions in ((), dimensions)
        for i in (instruction, *instruction.operands)
    )
