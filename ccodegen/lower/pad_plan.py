"""pad by edges: loops over the edges, and in them one over what is inside."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ir import Expr, Index, LoopKind
from ccodegen.lower.job import Work
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import plus
from ccodegen.ops.movement import Pad
from ccodegen.ops.pad import is_frame


def has_edges(instruction: Instruction) -> bool:
    """Whether it is a pad that adds edges, though none along the last dimension: long lines are
    better cut where vectors begin."""
    if not is_frame(instruction):
        return False
    padding = attributes_of(instruction, Pad).padding
    return len(padding) > 1 and not (padding[-1].low or padding[-1].high)


def pad_plan(work: Work, pad: Instruction) -> None:
    """No element has to ask whether it is padding."""
    (output,) = work.job.outputs
    operand, filler = pad.operands
    padding = attributes_of(pad, Pad).padding

    def store(at: Index, value: Expr) -> None:
        to = work.elements.load(output.buffer, output.shape.dimensions, at)
        work.builder.store(output.buffer, to.indices, value)

    def edge(outer: Index, start: int, count: int) -> None:
        extents = (count, *output.shape.dimensions[len(outer) + 1 :])
        with work.builder.loops(extents, "i", LoopKind.PARALLEL) as (first, *rest):
            store((*outer, plus(first, start), *rest), work.elements.value(filler, ()))

    def inside(outer: Index, at: Index) -> None:
        if len(at) == len(padding):
            store(outer, work.elements.value(operand, at))
            return
        size, edges = operand.array_shape.dimensions[len(at)], padding[len(at)]
        edge(outer, 0, edges.low)
        with work.builder.loop(size, "i", LoopKind.PARALLEL) as i:
            inside((*outer, plus(i, edges.low)), (*at, i))
        edge(outer, edges.low + size, edges.high)

    inside((), ())
