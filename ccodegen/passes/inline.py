"""Puts a computation's instructions in the place of a call to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.support.immutable import immutable


@immutable
class Inlined:
    """The value of the call, and the instructions that must be kept for their side effects."""

    root: Instruction
    side_roots: tuple[Instruction, ...]


def inline(
    computation: Computation,
    operands: Sequence[Instruction],
    control_predecessors: tuple[Instruction, ...] = (),
) -> Inlined:
    """A copy of the computation's instructions with operands in the place of parameters.

    What has to wait for the call's control predecessors are the instructions with side effects.
    """
    memo = dict(zip(computation.parameters, operands, strict=True))
    side_roots = set(computation.side_roots)
    for old in computation.instructions:
        if old in memo:
            continue
        control = tuple(memo[c] for c in old.control_predecessors)
        waits = control_predecessors if old in side_roots else ()
        memo[old] = replace(
            old,
            operands=tuple(memo[o] for o in old.operands),
            control_predecessors=(*waits, *control),
        )
    kept = tuple(memo[r] for r in computation.side_roots)
    return Inlined(memo[computation.root], kept)
