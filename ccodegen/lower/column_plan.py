"""Columns: reduces that keep the last dimension, a block of columns side by side.

sum over rows of x[R, C]: for each block of columns, one accumulator a column; each row adds to
all of them, which is a vector operation, and each column still adds its rows in order. The block
is long, because memory is read best in long pieces, and takes several rows at a time, because its
accumulators lie in the nearest cache.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.lower.extremum import find_extremum, keep_better
from ccodegen.lower.job import Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction

_VECTORS_OF_ACCUMULATORS = 64
_ROWS_TOGETHER = 4
# Over longer chains of selects gcc 12 sits for seconds.
_ROWS_OF_EXTREMA_TOGETHER = 2
# In a fusion of more, the code of one row is long enough.
_MOST_INSTRUCTIONS = 8


def columns_fit(work: Work, reductions: tuple[Reduction, ...]) -> bool:
    """Whether all reduces keep the last dimension, every output has the kept shape, and vectors
    make it pay."""
    first = reductions[0]
    rank = len(first.dimensions)
    if work.job.target.machine.vector_elements(first.types[0].bytes) == 1:
        return False
    if rank - 1 not in first.kept or not first.reduced or first.dimensions[-1] < 2:
        return False
    kept = tuple(first.dimensions[d] for d in first.kept)
    same = all(r.dimensions == first.dimensions and r.kept == first.kept for r in reductions)
    return same and all(o.shape.dimensions == kept for o in work.job.outputs)


def column_plan(work: Work, reductions: tuple[Reduction, ...]) -> None:
    first = reductions[0]
    *outer, columns = (first.dimensions[d] for d in first.kept)
    vectors = max(1, _VECTORS_OF_ACCUMULATORS // sum(len(r.types) for r in reductions))
    vector_elements = work.job.target.machine.vector_elements(first.types[0].bytes)
    block = min(vectors * vector_elements, columns)
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
    builder, before, start = work.builder, *place
    *outer, extent = (reduction.dimensions[d] for d in reduction.reduced)
    operator = _extremum(work, reduction)
    together = _rows_together(work, reduction, operator, extent)

    def add(turns: Index, first: Expr, count: int) -> None:
        """Combines `count` rows with the accumulators, one after the other, and one store."""
        with builder.loop(width, "j", LoopKind.VECTOR) as j:
            total: Values = tuple(Load(b, (j,)) for b in accumulators)
            for n in range(count):
                row = (*turns, apply("add", first, index(n)))
                at = reduction.input_index((*before, apply("add", start, j)), row)
                values = tuple(work.elements.value(i, at) for i in reduction.inputs)
                if operator:
                    total = keep_better(builder, operator, total, values)
                else:
                    total = reduction.combine(work.elements, total, values)
            if len(total) > 1:
                total = tuple(builder.let(v, "new") for v in total)
            for buffer, value in zip(accumulators, total, strict=True):
                builder.store(buffer, (j,), value)

    with builder.loops(outer, "r") as turns:
        with builder.loop(extent // together, "r") as r:
            add(turns, apply("multiply", r, index(together)), together)
        for rest in range(extent - extent % together, extent):
            add(turns, index(rest), 1)


def _rows_together(work: Work, reduction: Reduction, operator: str, extent: int) -> int:
    """How many rows are combined with one store; `operator`: that of an extremum, if it is one."""
    most = _ROWS_OF_EXTREMA_TOGETHER if operator else _ROWS_TOGETHER
    straight = len(reduction.inputs) == 1 or operator
    few = len(work.job.fused) <= _MOST_INSTRUCTIONS
    return most if straight and few and extent >= most else 1


def _extremum(work: Work, reduction: Reduction) -> str:
    """The operator of an extremum, where it does not matter which zero or which NaN is found."""
    exact = work.job.strict and reduction.types[0].is_float
    return "" if len(reduction.inputs) == 1 or exact else find_extremum(reduction)


def _remember(
    work: Work, reduction: Reduction, accumulators: tuple[Buffer, ...], start: Expr
) -> None:
    def stored(at: Index) -> Values:
        (column,) = work.builder.simplify((apply("subtract", at[-1], start),))
        return tuple(Load(b, (column,)) for b in accumulators)

    work.elements.stored[reduction.instruction] = stored
