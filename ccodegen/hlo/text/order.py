"""Which instructions a computation keeps, and in which order it is written."""

from __future__ import annotations

from collections.abc import Iterable

from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Computation, Instruction, Module, called_first, post_order


def side_roots(instructions: Iterable[Instruction], root: Instruction) -> tuple[Instruction, ...]:
    """What nobody uses and what has a side effect, in order; parameters and the root aside."""
    instructions = tuple(instructions)
    used = {o for i in instructions for o in (*i.operands, *i.control_predecessors)}
    return tuple(
        i
        for i in instructions
        if i is not root and i.op != "parameter" and (i not in used or has_side_effect(i))
    )


def parameter_number(instruction: Instruction) -> int:
    """The number of a parameter instruction."""
    number = getattr(instruction.attributes, "number", None)
    assert isinstance(number, int), instruction
    return number


def written_instructions(computation: Computation) -> tuple[Instruction, ...]:
    """The instructions in the order in which they are written.

    Reading them back in this order gives the same side roots, and so the same order again.
    """
    roots = side_roots(computation.instructions, computation.root)
    return post_order((*computation.parameters, *roots, computation.root))


def written_computations(module: Module) -> tuple[Computation, ...]:
    """The computations in the order in which they are written, called ones first."""
    called = {
        callee
        for computation in module.computations
        for instruction in computation.instructions
        for callee in instruction.attributes.computations()
    }
    uncalled = (c for c in module.extra_computations if c not in called and c is not module.entry)
    return called_first((*dict.fromkeys(uncalled), module.entry))
