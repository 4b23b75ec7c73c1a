"""concatenate: nests that store to one operand's part of the output each, or to several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import LoopKind
from ccodegen.lower.job import Job, Work
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.movement import Concatenate

_MOST_TOGETHER = 8  # streams that are written side by side


def concatenate_plan(work: Work, concatenate: Instruction) -> None:
    """No element has to ask which operand it comes from."""
    (axis,) = attributes_of(concatenate, Concatenate).dimensions
    (output,) = work.job.outputs
    start = 0
    for group in _groups(work.job, concatenate.operands):
        dimensions = group[0].array_shape.dimensions
        with work.builder.loops(dimensions, "i", LoopKind.PARALLEL) as at:
            for number, operand in enumerate(group):
                place = list(at)
                first = index(start + number * dimensions[axis])
                place[axis] = apply("add", at[axis], first)
                to = work.elements.load(output.buffer, output.shape.dimensions, tuple(place))
                work.builder.store(output.buffer, to.indices, work.elements.value(operand, at))
        start += len(group) * dimensions[axis]


def _groups(job: Job, operands: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Neighbours of one shape that are computed from the same values: those are computed once."""
    fused = set(job.fused)
    group: list[Instruction] = []
    values: set[Instruction] = set()
    for operand in operands:
        computed = _computed(operand, fused)
        alike = group and operand.array_shape.dimensions == group[0].array_shape.dimensions
        if group and not (alike and values & computed and len(group) < _MOST_TOGETHER):
            yield group
            group, values = [], set()
        group.append(operand)
        values |= computed
    yield group


def _computed(value: Instruction, fused: set[Instruction]) -> set[Instruction]:
    """What the kernel computes elementwise to have a value."""
    found: set[Instruction] = set()
    pending = [value]
    while pending:
        instruction = pending.pop()
        if instruction in fused and instruction not in found:
            found.add(instruction)
            pending += instruction.operands
    return {i for i in found if opdef.get(i.op).elementwise}
