"""Columns: reduces that keep the last dimension, a block of columns side by side.

sum over rows of x[R, C]: for each block of columns, one accumulator a column; each row adds to
all of them, which is a vector operation, and each column still adds its rows in order.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind, Store
from ccodegen.lower.job import Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction

_VECTORS_PER_BLOCK = 8


def columns_fit(work: Work, reductions: tuple[Reduction, ...]) -> bool:
    """Whether all reduces keep the last dimension, and every output has the kept shape."""
    first = reductions[0]
    rank = len(first.dimensions)
    if rank - 1 not in first.kept or not first.reduced or first.dimensions[-1] < 2:
        return False
    kept = tuple(first.dimensions[d] for d in first.kept)
    same = all(r.dimensions == first.dimensions and r.kept == first.kept for r in reductions)
    return same and all(o.shape.dimensions == kept for o in work.job.outputs)


def column_plan(work: Work, reductions: tuple[Reduction, ...]) -> None:
    first = reductions[0]
    *outer, columns = (first.dimensions[d] for d in first.kept)
    machine = work.job.target.machine
    block = max(1, _VECTORS_PER_BLOCK * machine.vector_bytes // first.types[0].bytes)
    block = min(block, columns)
    with work.builder.loops(outer, "i", LoopKind.PARALLEL) as before:
        with work.builder.loop(columns // block, "block", LoopKind.PARALLEL) as number:
            start = apply("multiply", number, index(block))
            _block(work, reductions, before, start, block)
        if columns % block:
            _block(work, reductions, before, index(columns - columns % block), columns % block)


def _block(
    work: Work, reductions: tuple[Reduction, ...], before: Index, start: Expr, width: int
) -> None:
    """One block of columns: the reduces in order, then the outputs."""
    for reduction in reductions:
        accumulators = tuple(
            work.builder.local(t, (width,), f"{reduction.instruction.name}_acc")
            for t in reduction.types
        )
        _initialise(work, reduction, accumulators, width)
        _accumulate(work, reduction, accumulators, (before, start), width)
        _remember(work, reduction, accumulators, start)
    with work.builder.loop(width, "j", LoopKind.VECTOR) as j:
        for output in work.job.outputs:
            work.store(output, (*before, apply("add", start, j)))


def _initialise(
    work: Work, reduction: Reduction, accumulators: tuple[Buffer, ...], width: int
) -> None:
    initial = [work.elements.value(i, ()) for i in reduction.initial]
    with work.builder.loop(width, "j", LoopKind.VECTOR) as j:
        for buffer, value in zip(accumulators, initial, strict=True):
            work.builder.store(buffer, (j,), value)


def _accumulate(
    work: Work,
    reduction: Reduction,
    accumulators: tuple[Buffer, ...],
    place: tuple[Index, Expr],
    width: int,
) -> None:
    before, start = place
    extents = [reduction.dimensions[d] for d in reduction.reduced]
    with (
        work.builder.loops(extents, "r") as turns,
        work.builder.loop(width, "j", LoopKind.VECTOR) as j,
    ):
        at = reduction.input_index((*before, apply("add", start, j)), turns)
        values = tuple(work.elements.value(i, at) for i in reduction.inputs)
        old = tuple(Load(b, (j,)) for b in accumulators)
        new = reduction.combine(work.elements, old, values)
        if len(new) > 1:
            new = tuple(work.builder.let(v, "new") for v in new)
        for buffer, value in zip(accumulators, new, strict=True):
            work.builder.emit(Store(buffer, (j,), value))


def _remember(
    work: Work, reduction: Reduction, accumulators: tuple[Buffer, ...], start: Expr
) -> None:
    def stored(at: Index) -> Values:
        (column,) = work.builder.simplify((apply("subtract", at[-1], start),))
        return tuple(Load(b, (column,)) for b in accumulators)

    work.elements.stored[reduction.instruction] = stored
