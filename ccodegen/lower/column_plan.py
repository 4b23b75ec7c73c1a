"""Columns: reduces that keep the last dimension, a block of columns side by side.

sum over rows of x[R, C]: for each block of columns, one accumulator a column; each row adds to
all of them, which is a vector operation. The block is long, because memory is read best in long
pieces, and takes several rows at a time, because its accumulators lie in the nearest cache. Of an
array that no cache keeps these rows are far apart: processors follow a few readers of long pieces
faster than one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import groupby

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, even_width, in_blocks, index
from ccodegen.loop.cost import FAR
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.lower.column_accumulators import Accumulators, accumulators_of
from ccodegen.lower.elements import leaf_dimensions
from ccodegen.lower.job import Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction, accumulator_count, has_any_order, reduce_levels
from ccodegen.ops.cost import is_dear
from ccodegen.ops.index import times

_VECTORS_OF_ACCUMULATORS = 64
_MOST_FAR_VECTORS = 256  # of columns; one accumulator takes half of a small cache
_MOST_ORDERED_VECTORS = 128  # of far columns where only columns are shared by threads
_VECTORS_OF_FAR_ACCUMULATORS = 1024
_VECTORS_OF_A_PIECE = 4
_FEW_VECTORS = 4  # of columns, of which one more that is not full is a large part
_MANY_ROWS = 16
_NEAR = 1 << 15  # bytes that the nearest cache keeps
# With more on each element, the code of one row is long enough.
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
    kept = first.kept_dimensions
    same = all(r.dimensions == first.dimensions and r.kept == first.kept for r in reductions)
    return same and all(o.shape.dimensions == kept for o in work.job.outputs)


def column_plan(work: Work, reductions: tuple[Reduction, ...]) -> None:
    first = reductions[0]
    *outer, columns = first.kept_dimensions
    widest = max(t.bytes for r in reductions for t in r.types)
    vector = work.job.target.machine.vector_elements(widest)
    piece = _VECTORS_OF_A_PIECE * vector if _is_far(first) else 0
    vectors = -(-columns // vector)
    blocks = -(-vectors // _most_vectors(work, reductions))
    block = -(-vectors // blocks) * vector
    block = even_width(columns, block, math.prod(outer), work.job.target.machine.threads)
    with work.builder.loops(outer, "i", LoopKind.PARALLEL) as before:

        def compute(start: Expr, width: int) -> None:
            _Block(work, before, start, width, piece).compute(reductions)

        if _may_overlap(work, first, vector):
            with work.builder.loop(vectors, "block") as number:
                start = apply("minimum", times(number, vector), index(columns - vector))
                compute(work.builder.let(start, "start"), vector)
        else:
            in_blocks(work.builder, columns, block, "block", compute, LoopKind.PARALLEL)


def _may_overlap(work: Work, first: Reduction, vector: int) -> bool:
    """Whether columns that vectors leave over are better taken in one more, with columns again that
    the one before has had: where they are a large part or take long, rows are near, and nothing is
    stored that is read."""
    *_, columns = first.dimensions
    left = columns % vector
    if columns < vector or left < 2 or left % (vector // 2) == 0:
        return False
    rows = math.prod(first.reduced_dimensions)
    is_large_part = columns < _FEW_VECTORS * vector and rows >= _MANY_ROWS
    if not is_large_part and not any(map(is_dear, _whole(work, first))):
        return False
    is_apart = {*work.job.read}.isdisjoint(o.buffer for o in work.job.outputs)
    return is_apart and rows * columns * first.types[0].bytes <= _NEAR


def _whole(work: Work, first: Reduction) -> list[Instruction]:
    """What has an element for each one of the rows."""
    size = math.prod(first.dimensions)
    return [i for i in work.job.fused if [*map(math.prod, leaf_dimensions(i))] == [size]]


def _most_vectors(work: Work, reductions: tuple[Reduction, ...]) -> int:
    """Of columns in a block."""
    count = sum(map(accumulator_count, reductions))
    if _is_far(reductions[0]):
        most = _MOST_FAR_VECTORS if _is_free(work, reductions) else _MOST_ORDERED_VECTORS
        return max(1, min(most, _VECTORS_OF_FAR_ACCUMULATORS // count))
    return max(1, _VECTORS_OF_ACCUMULATORS // count)


def _is_far(first: Reduction) -> bool:
    return math.prod(first.dimensions) * first.types[0].bytes >= FAR


def _is_free(work: Work, reductions: tuple[Reduction, ...]) -> bool:
    """Whether rows may be taken in any order."""
    return not work.job.strict and all(map(has_any_order, reductions))


class _Block:
    """`width` columns from `start` on, at an index `before` them. Of far ones a row is taken in
    pieces of `piece` columns, for the next of which the processor is asked; else it is 0."""

    def __init__(self, work: Work, before: Index, start: Expr, width: int, piece: int) -> None:
        self._work, self._builder = work, work.builder
        self._before, self._start, self._width, self._piece = before, start, width, piece

    def compute(self, reductions: tuple[Reduction, ...]) -> None:
        """The reduces, those together that need nothing of each other, then the outputs."""
        levels = reduce_levels(self._work.job.fused)
        ordered = sorted(reductions, key=lambda r: levels[r.instruction])
        for _, found in groupby(ordered, lambda r: levels[r.instruction]):
            self._reduce(tuple(found))
        with self._builder.loop(self._width, "j", LoopKind.VECTOR) as j:
            for output in self._work.job.outputs:
                self._work.store(output, self._column(j))

    def _column(self, j: Expr) -> Index:
        return (*self._before, apply("add", self._start, j))

    def _reduce(self, found: tuple[Reduction, ...]) -> None:
        """One pass over the rows."""
        work, builder, first = self._work, self._builder, found[0]
        kept = [(r, accumulators_of(work, r, self._width)) for r in found]
        few = len(_whole(work, first)) + len(found) <= _MOST_INSTRUCTIONS
        *outer, extent = first.reduced_dimensions
        most = min(accumulators.most_rows() for _, accumulators in kept)
        together = most if few and extent >= most else 1
        groups = extent // together
        apart = groups if self._piece and _is_free(work, found) else 1
        with builder.loops(outer, "r") as turns:
            with builder.loop(groups, "r") as r:
                base = r if apart > 1 else apply("multiply", r, index(together))
                rows = [apply("add", base, index(n * apart)) for n in range(together)]
                self._take(kept, [(*turns, row) for row in rows])
            for rest in range(groups * together, extent):
                self._take(kept, [(*turns, index(rest))])
        for reduction, accumulators in kept:
            self._remember(reduction, accumulators.finish())

    def _take(self, kept: Sequence[tuple[Reduction, Accumulators]], rows: Sequence[Index]) -> None:
        take = partial(self._take_columns, kept, rows)
        in_blocks(self._builder, self._width, self._piece or self._width, "piece", take)

    def _take_columns(
        self,
        kept: Sequence[tuple[Reduction, Accumulators]],
        rows: Sequence[Index],
        begin: Expr,
        count: int,
    ) -> None:
        with self._builder.loop(count, "j", LoopKind.VECTOR) as j:
            column = apply("add", begin, j)
            for reduction, accumulators in kept:
                places = [reduction.input_index(self._column(column), row) for row in rows]
                values = [self._values(reduction, place) for place in places]
                accumulators.take(column, values)

    def _values(self, reduction: Reduction, place: Index) -> Values:
        return tuple(self._work.elements.value(i, place) for i in reduction.inputs)

    def _remember(self, reduction: Reduction, results: tuple[Buffer, ...]) -> None:
        def stored(at: Index) -> Values:
            (column,) = self._builder.simplify((apply("subtract", at[-1], self._start),))
            return tuple(Load(b, (column,)) for b in results)

        self._work.elements.stored[reduction.instruction] = stored
