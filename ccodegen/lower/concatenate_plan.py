"""concatenate: one nest per operand, each storing to its own part of the output."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import LoopKind
from ccodegen.lower.job import Work
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.movement import Concatenate


def concatenate_plan(work: Work, concatenate: Instruction) -> None:
    """No element has to ask which operand it comes from."""
    (axis,) = attributes_of(concatenate, Concatenate).dimensions
    (output,) = work.job.outputs
    start = 0
    for operand in concatenate.operands:
        dimensions = operand.array_shape.dimensions
        with work.builder.loops(dimensions, "i", LoopKind.PARALLEL) as at:
            place = list(at)
            place[axis] = apply("add", at[axis], index(start))
            to = work.elements.load(output.buffer, output.shape.dimensions, tuple(place))
            work.builder.store(output.buffer, to.indices, work.elements.value(operand, at))
        start += dimensions[axis]
