"""Loops whose turns make each element of the state of those at its place."""

from __future__ import annotations

import math

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.passes.fusion_group import is_written_out
from ccodegen.passes.loops import Loop, invariant_parts
from ccodegen.support.element_type import ElementType

_NOT_MADE = ("parameter", "get-tuple-element", "tuple")
_MOST_WEIGHT = 100  # of a turn: more wait for one another, so that kernels of its parts take less
_LONG = 20  # instructions that a transcendental one is as much code as
# Of those that move elements, the ones in whose result no element has changed its place.
_SIMPLE = frozenset(
    {
        *("broadcast", "constant", "copy", "get-tuple-element", "iota"),
        *("parameter", "reshape", "slice", "tuple"),
    }
)


def weight(body: Computation) -> float:
    """How many instructions compute; infinite where some look at more than one element."""
    computing = [i for i in body.instructions if i.op not in _SIMPLE]
    if body.side_roots or not all(opdef.get(i.op).elementwise for i in computing):
        return math.inf
    return sum(_LONG if i.op in TRANSCENDENTAL else 1 for i in computing)


def is_kernel(loop: Loop, has_vectors: bool) -> bool:
    """Whether the loop pays as one kernel. Without vectors it always does; with them not where
    turns are long, or of f16, whose lines are rounded together."""
    if not is_elementwise(loop) or not has_vectors:
        return is_elementwise(loop)
    types = {s.element_type for s in loop.shapes if isinstance(s, ArrayShape)}
    return ElementType.F16 not in types and weight(loop.body) <= _MOST_WEIGHT


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
    return math.prod(dimensions) > 0 and all(_is_at_its_place(i, dimensions) for i in made)


def _is_at_its_place(instruction: Instruction, dimensions: tuple[int, ...]) -> bool:
    return _is_straight(instruction) and all(
        isinstance(i.shape, ArrayShape) and i.shape.dimensions in ((), dimensions)
        for i in (instruction, *instruction.operands)
    )
