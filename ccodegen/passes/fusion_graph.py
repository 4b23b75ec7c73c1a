"""What fusion asks of a computation: which instructions read and need each other."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from operator import or_

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.passes.fusion_group import is_fusible, is_written_out
from ccodegen.passes.fusion_reads import MOVEMENT, reads_nothing


class Graph:
    """`users`: readers of each instruction; `ancestors`, `sources`: bit sets, see below."""

    def __init__(self, computation: Computation) -> None:
        self.users = computation.users
        self.ancestors = _ancestor_sets(computation)
        self.sources = _source_sets(computation)

    def number(self, instruction: Instruction) -> int:
        """Its place in the computation, and its bit in the sets."""
        return self.ancestors[instruction].bit_length() - 1

    def holds(self, bits: int, instructions: Iterable[Instruction]) -> bool:
        """Whether any of these is in a bit set."""
        return any(bits >> self.number(instruction) & 1 for instruction in instructions)

    def all_ancestors(self, instructions: Iterable[Instruction]) -> int:
        return functools.reduce(or_, (self.ancestors[i] for i in instructions))


def _ancestor_sets(computation: Computation) -> dict[Instruction, int]:
    """Per instruction a bit set of itself, which is the highest bit, and all it depends on."""
    found: dict[Instruction, int] = {}
    for number, instruction in enumerate(computation.instructions):
        bits = 1 << number
        for before in (*instruction.operands, *instruction.control_predecessors):
            bits |= found[before]
        found[instruction] = bits
    return found


def _source_sets(computation: Computation) -> dict[Instruction, int]:
    """Per instruction a bit set, by the same numbers, of the arrays that it is made of element by
    element, or of itself alone."""
    found: dict[Instruction, int] = {}
    for number, instruction in enumerate(computation.instructions):
        moved = instruction.op in MOVEMENT or instruction.op == "concatenate"
        cheap = moved or opdef.is_elementwise(instruction)
        if is_written_out(instruction) or reads_nothing(instruction):
            found[instruction] = 0
        elif cheap and is_fusible(instruction):
            found[instruction] = functools.reduce(or_, (found[o] for o in instruction.operands), 0)
        else:
            found[instruction] = 1 << number
    return found
