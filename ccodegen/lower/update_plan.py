"""dynamic-update-slice in place: only the window is written."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, LoopKind
from ccodegen.lower.job import Work
from ccodegen.ops.dynamic_slice import start_place
from ccodegen.ops.index import clamped


def update_plan(work: Work, update: Instruction) -> None:
    """The output's buffer already holds operand 0."""
    (output,) = work.job.outputs
    starts = [_start(work, update, d) for d in range(update.array_shape.rank)]
    window = update.operands[1].array_shape.dimensions
    with work.builder.loops(window, "i", LoopKind.PARALLEL) as offset:
        at = tuple(apply("add", s, o) for s, o in zip(starts, offset, strict=True))
        value = work.elements.value(update.operands[1], offset)
        place = work.elements.load(output.buffer, output.shape.dimensions, at)
        work.builder.store(output.buffer, place.indices, value)


def _start(work: Work, update: Instruction, dimension: int) -> Expr:
    """Where the window begins: clamped, so that it fits."""
    room = update.array_shape.dimensions[dimension]
    room -= update.operands[1].array_shape.dimensions[dimension]
    if room == 0:
        return index(0)
    number, at = start_place(update, 2, dimension)
    start = work.elements.value(update.operands[number], at)
    return work.builder.let(clamped(start, room), "start")
