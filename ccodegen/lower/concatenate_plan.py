"""concatenate: nests that store to one operand's part of the output each, or to several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, index
from ccodegen.loop.cost import CACHE_LINE
from ccodegen.loop.ir import LoopKind
from ccodegen.lower.job import Job, Work
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.movement import Concatenate
from ccodegen.support.element_type import ElementType

_MOST_TOGETHER = 8  # streams that are written side by side
_MOST_IN_A_ROW = 32  # parts of one stream


def concatenate_plan(work: Work, concatenate: Instruction) -> None:
    """No element has to ask which operand it comes from."""
    (axis,) = attributes_of(concatenate, Concatenate).dimensions
    (output,) = work.job.outputs
    start = 0
    for group in _groups(work.job, concatenate.operands, axis):
        dimensions = group[0].array_shape.dimensions
        with work.builder.loops(dimensions, "i", LoopKind.PARALLEL) as at:
            for number, operand in enumerate(group):
                place = list(at)
                first = index(start + number * dimensions[axis])
                place[axis] = apply("add", at[axis], first)
                to = work.elements.load(output.buffer, output.shape.dimensions, tuple(place))
                work.builder.store(output.buffer, to.indices, work.elements.value(operand, at))
        start += len(group) * dimensions[axis]


def _groups(
    job: Job, operands: Sequence[Instruction], axis: int
) -> Iterator[list[Instruction]]:
    """Neighbours of one shape of which a cache line has parts of several, as it would be written
    as many times, or that are computed from the same values: those are computed once."""
    fused = set(job.fused)
    group: list[Instruction] = []
    values: set[Instruction] = set()
    for operand in operands:
        computed = _computed(operand, fused)
        shape = operand.array_shape
        part = math.prod(shape.dimensions[axis:]) * shape.element_type.bytes
        short = part <= CACHE_LINE and _become_vectors(shape.element_type, len(operands))
        pays = short or bool(values & computed)
        most = _MOST_IN_A_ROW if short else _MOST_TOGETHER
        alike = group and shape.dimensions == group[0].array_shape.dimensions
        if group and not (alike and pays and len(group) < most):
            yield group
            group, values = [], set()
        group.append(operand)
        values |= computed
    yield group


def _become_vectors(element_type: ElementType, streams: int) -> bool:
    """Whether a loop that stores so many streams side by side is still one of vectors, where floats
    are narrow: alone, each is converted many times as slowly. Compilers interleave three vectors,
    or a power of two."""
    return not element_type.is_narrow_float or streams == 3 or streams.bit_count() == 1


def _computed(value: Instruction, fused: set[Instruction]) -> set[Instruction]:
    """What the kernel computes elementwise to have a value."""
    found: set[Instruction] = set()
    pending = [value]
    while pending:
        instruction = pending.pop()
        if instruction in fused and instruction not in found:
            found.add(instruction)
            pending += instruction.operands
    return {i for i in found if opdef.is_elementwise(i)}
