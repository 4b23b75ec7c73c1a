"""dynamic-update-slice in place: only the window is written."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import LoopKind
from ccodegen.lower.elements import OperandScope
from ccodegen.lower.job import Work
from ccodegen.ops.dynamic_slice import clamped_starts


def update_plan(work: Work, update: Instruction) -> None:
    """The output's buffer already holds operand 0."""
    (output,) = work.job.outputs
    window = update.operands[1].array_shape.dimensions
    scope = OperandScope(work.elements, update)
    starts = [work.builder.let(s, "start") for s in clamped_starts(scope, update, 2, window)]
    with work.builder.loops(window, "i", LoopKind.PARALLEL) as offset:
        at = tuple(apply("add", s, o) for s, o in zip(starts, offset, strict=True))
        value = work.elements.value(update.operands[1], offset)
        place = work.elements.load(output.buffer, output.shape.dimensions, at)
        work.builder.store(output.buffer, place.indices, value)
