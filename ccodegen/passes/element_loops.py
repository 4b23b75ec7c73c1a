"""Loops whose turns make each element of the state of those at its place."""

from __future__ import annotations

import math

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.passes.fusion_group import is_written_out
from ccodegen.passes.loops import Loop, invariant_parts, state_index
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
OF_ROWS = frozenset({"dynamic-slice", "dynamic-update-slice"})


def weight(body: Computation, rows: bool = False) -> float:
    """How many instructions compute; infinite where some look at more than one element. `rows`:
    but for rows that they read and write."""
    others = _SIMPLE | OF_ROWS if rows else _SIMPLE
    computing = [i for i in body.instructions if i.op not in others]
    if body.side_roots or not all(opdef.get(i.op).elementwise for i in computing):
        return math.inf
    return sum(_LONG if i.op in TRANSCENDENTAL else 1 for i in computing)


def is_kernel(loop: Loop, has_vectors: bool) -> bool:
    """Whether the loop pays as one kernel. Without vectors it always does; with them not where
    turns are long, or of f16, whose lines are rounded together."""
    if not is_elementwise(loop):
        return False
    if not has_vectors:
        return True
    types = {s.element_type for s in loop.shapes if isinstance(s, ArrayShape)}
    return ElementType.F16 not in types and weight(loop.body, rows=True) <= _MOST_WEIGHT


def made_elsewhere(loop: Loop) -> list[Instruction]:
    """What is computed elementwise from, the same in all turns, and lies in another order."""
    invariant = set(invariant_parts(loop))
    read = (o for i in loop.body.instructions if _is_straight(i) for o in i.operands)
    return [i for i in dict.fromkeys(read) if i in invariant and not _is_straight(i)]


def is_elementwise(loop: Loop) -> bool:
    """Whether what changes are scalars, and arrays of one shape of which each turn makes element n
    of elements n alone; and rows of that shape, of which a turn writes one, or reads one of those
    that do not change."""
    if loop.body.side_roots or loop.condition.side_roots:
        return False
    if not all(isinstance(s, ArrayShape) for s in loop.shapes):
        return False
    row = row_dimensions(loop)
    made = [i for i in loop.body.instructions if i.op not in _NOT_MADE]
    updates = written_rows(loop).values()
    return row is not None and all(_is_in_row(i, row) for i in made if i not in updates)


def row_dimensions(loop: Loop) -> tuple[int, ...] | None:
    """The shape of the arrays that change, and of rows of those that turns write; () for scalars
    alone. None if they have several, or no elements."""
    rows, found = written_rows(loop), set()
    for n in range(len(loop.shapes)):
        dimensions = loop.initial(n).array_shape.dimensions
        if n in rows:
            found.add(dimensions[1:])
        elif dimensions and not loop.is_invariant(n):
            found.add(dimensions)
    row = found.pop() if found else ()
    return None if found or 0 in row else row


def written_rows(loop: Loop) -> dict[int, Instruction]:
    """By number in the state: arrays that each turn updates in one row, and nothing else reads."""
    found = {}
    for n, following in enumerate(loop.next):
        if following.op != "dynamic-update-slice":
            continue
        old, update, *starts = following.operands
        is_own = state_index(old, loop.body) == n and loop.body.users[old] == (following,)
        whole, row = old.array_shape.dimensions, update.array_shape.dimensions
        is_row = row == (1, *whole[1:]) and not any(s.array_shape.rank for s in starts)
        if is_own and is_row and loop.body.users[following] == (loop.body.root,):
            found[n] = following
    return found


def _is_straight(instruction: Instruction) -> bool:
    """Whether it makes element n of elements n, or of scalars."""
    if instruction.op == "broadcast":
        return not instruction.operands[0].array_shape.dimensions
    is_plain = instruction.op in _NOT_MADE or is_written_out(instruction)
    return is_plain or opdef.is_elementwise(instruction)


def _is_in_row(instruction: Instruction, row: tuple[int, ...]) -> bool:
    if instruction.op == "dynamic-slice":
        whole, *starts = (o.array_shape.dimensions for o in instruction.operands)
        is_row = instruction.array_shape.dimensions == (1, *row) and whole[1:] == row
        return is_row and not any(starts)
    is_row = instruction.op == "reshape" or _is_straight(instruction)
    return is_row and all(
        isinstance(i.shape, ArrayShape) and i.shape.dimensions in ((), row, (1, *row))
        for i in (instruction, *instruction.operands)
    )
