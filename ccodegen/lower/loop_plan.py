"""Plain loops: each output element by itself, one nest per shape of output."""

from __future__ import annotations

from ccodegen.loop.ir import LoopKind
from ccodegen.lower.job import Output, Work


def loop_plan(work: Work) -> None:
    """for every index: store the value of each output of that shape."""
    groups: dict[tuple[int, ...], list[Output]] = {}
    for output in work.job.outputs:
        groups.setdefault(output.shape.dimensions, []).append(output)
    for dimensions, outputs in groups.items():
        with work.builder.loops(dimensions, "i", LoopKind.PARALLEL) as at:
            work.compute_straight(outputs, at)
            for output in outputs:
                work.store(output, at)
