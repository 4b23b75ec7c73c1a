"""Outputs that are padded: edges and gaps are filled first, and elements stored as their plan has
them.

A plan that makes elements in an order of its own so need not know where they go.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ir import Index, LoopKind
from ccodegen.lower.job import Output, Work
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import plus, times
from ccodegen.ops.movement import Pad
from ccodegen.ops.pad import is_frame


def is_framed(work: Work, output: Output) -> bool:
    """Whether the kernel itself puts edges around what it computes."""
    return output.instruction in work.job.fused and is_frame(output.instruction)


def pays_to_frame(pad: Instruction) -> bool:
    """Whether it adds gaps, or edges though none along the last dimension: long lines are better
    cut where vectors begin. It takes nothing away."""
    if not isinstance(pad.attributes, Pad):
        return False
    padding = pad.attributes.padding
    if any(p.low < 0 or p.high < 0 for p in padding):
        return False
    if any(p.interior for p in padding):
        return True
    return len(padding) > 1 and not (padding[-1].low or padding[-1].high)


def frame_plan(work: Work) -> None:
    """The edges, or all where there are gaps too, then what is inside: no element has to ask
    whether it is padding."""
    (output,) = work.job.outputs
    if is_frame(output.instruction):
        fill_edges(work, output)
    else:
        fill(work, output, output.shape.dimensions, [0] * output.shape.rank)
    inside = output.instruction.operands[0].array_shape.dimensions
    with work.builder.loops(inside, "i", LoopKind.PARALLEL) as at:
        store_inside(work, output, at)


def fill_edges(work: Work, output: Output) -> None:
    """Dimension by dimension: all before it inside of their edges, all behind it whole."""
    operand, _ = output.instruction.operands
    padding = attributes_of(output.instruction, Pad).padding
    inside = list(operand.array_shape.dimensions)
    for d, edges in enumerate(padding):
        before = [p.low for p in padding[:d]]
        after = list(output.shape.dimensions[d + 1 :])
        for size, start in ((edges.low, 0), (edges.high, edges.low + inside[d])):
            extents, starts = [*inside[:d], size, *after], [*before, start, *(0 for _ in after)]
            if size:
                fill(work, output, extents, starts)


def fill(work: Work, output: Output, extents: Sequence[int], starts: Sequence[int]) -> None:
    """Stores the padding's value in so many places of each dimension."""
    _, filler = output.instruction.operands
    with work.builder.loops(extents, "i", LoopKind.PARALLEL) as at:
        place = tuple(map(plus, at, starts))
        to = work.elements.load(output.buffer, output.shape.dimensions, place)
        work.builder.store(output.buffer, to.indices, work.elements.value(filler, ()))


def store_inside(work: Work, output: Output, at: Index) -> None:
    """Stores the element of what is padded that has this index."""
    padding = attributes_of(output.instruction, Pad).padding
    steps = (times(i, p.interior + 1) for i, p in zip(at, padding, strict=True))
    place = tuple(plus(step, p.low) for step, p in zip(steps, padding, strict=True))
    value = work.elements.value(output.instruction.operands[0], at)
    to = work.elements.load(output.buffer, output.shape.dimensions, place)
    work.builder.store(output.buffer, to.indices, value)
