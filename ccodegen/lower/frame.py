"""Outputs that are padded: the edges are filled apart, and elements stored as their plan has them.

A plan that makes elements in an order of its own so need not know where they go.
"""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ir import Index, LoopKind
from ccodegen.lower.job import Output, Work
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import plus
from ccodegen.ops.movement import Pad
from ccodegen.ops.pad import is_frame


def is_framed(work: Work, output: Output) -> bool:
    """Whether the kernel itself puts edges around what it computes."""
    return output.instruction in work.job.fused and is_frame(output.instruction)


def frames_lines(pad: Instruction) -> bool:
    """Whether it adds edges, though none along the last dimension: long lines are better cut where
    vectors begin."""
    if not is_frame(pad):
        return False
    padding = attributes_of(pad, Pad).padding
    return len(padding) > 1 and not (padding[-1].low or padding[-1].high)


def frame_plan(work: Work) -> None:
    """The edges, then what is inside: no element has to ask whether it is padding."""
    (output,) = work.job.outputs
    fill_edges(work, output)
    inside = output.instruction.operands[0].array_shape.dimensions
    with work.builder.loops(inside, "i", LoopKind.PARALLEL) as at:
        store_inside(work, output, at)


def fill_edges(work: Work, output: Output) -> None:
    """Dimension by dimension: all before it inside of their edges, all behind it whole."""
    operand, filler = output.instruction.operands
    padding = attributes_of(output.instruction, Pad).padding
    inside = list(operand.array_shape.dimensions)
    for d, edges in enumerate(padding):
        before = [p.low for p in padding[:d]]
        after = list(output.shape.dimensions[d + 1 :])
        for size, start in ((edges.low, 0), (edges.high, edges.low + inside[d])):
            extents, starts = [*inside[:d], size, *after], [*before, start, *(0 for _ in after)]
            if not size:
                continue
            with work.builder.loops(extents, "i", LoopKind.PARALLEL) as at:
                place = tuple(map(plus, at, starts))
                to = work.elements.load(output.buffer, output.shape.dimensions, place)
                value = work.elements.value(filler, ())
                work.builder.store(output.buffer, to.indices, value)


def store_inside(work: Work, output: Output, at: Index) -> None:
    """Stores the element of what is padded that has this index."""
    padding = attributes_of(output.instruction, Pad).padding
    place = tuple(plus(i, p.low) for i, p in zip(at, padding, strict=True))
    value = work.elements.value(output.instruction.operands[0], at)
    to = work.elements.load(output.buffer, output.shape.dimensions, place)
    work.builder.store(output.buffer, to.indices, value)
