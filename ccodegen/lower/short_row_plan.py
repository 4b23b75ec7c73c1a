"""Short rows: a block of rows side by side, one in each lane of a vector.

argmax over x[20000, 10]: sixteen rows of ten are turned into ten lines of sixteen, and reduced as
columns are. What the fusion stores for whole rows is turned back. That takes four shuffles of the
block each way: less than rows of ten elements lose in vectors of sixteen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, LoopKind
from ccodegen.lower.chunks import in_chunks
from ccodegen.lower.elements import leaf_dimensions
from ccodegen.lower.job import Work
from ccodegen.lower.reduction import Reduction, is_extremum
from ccodegen.lower.row_block import RowBlock, stays, turned
from ccodegen.lower.row_steps import reductions
from ccodegen.ops.creation import Iota
from ccodegen.ops.index import times
from ccodegen.ops.movement import Broadcast
from ccodegen.support.element_type import ElementType

_LEAST_ELEMENTS = 5  # of a row; shorter ones are written out, if they are reduced to one value
_SHORT = 32
_MOST_ELEMENTS = 64
_MOST_OF_ONE = 40  # where one reduce over one operand is all
_MOST_STORED = 24  # and whole rows are stored besides
_MOST_BYTES = 4096  # of a tile
_LEAST_LANES = 8
_LEAST_BLOCKS = 4


def short_rows_fit(work: Work, found: Sequence[Reduction]) -> bool:
    """Whether reduces over the same rows are over few elements of many rows, and all that the
    kernel computes stays in its row."""
    first, machine = found[0], work.job.target.machine
    rank = len(first.dimensions)
    if not machine.has_vectors or first.reduced != (*range(len(first.kept), rank),):
        return False
    if not first.kept or not _is_short(work, found):
        return False
    rows = math.prod(_split(work)[1])
    if rows < _LEAST_BLOCKS * _lanes(work, rows):
        return False
    read = work.job.read
    written = [o.buffer for o in work.job.outputs]
    types = [*(b.type for b in (*read, *written)), *_element_types(turned(work))]
    if any(t.is_complex for t in types) or any(b in read for b in written):
        return False
    return all(map(stays, _made_of_results(work)))


def _is_short(work: Work, found: Sequence[Reduction]) -> bool:
    """Rows of two vectors or more are short only where the largest element is looked for; whole
    vectors, besides, only where no whole rows are stored. What is reduced once and then stored is
    turned twice for little; not at all where rows are vectors, or halves where several arrays are
    turned, and do not wait for what they are reduced to."""
    first = found[0]
    size, vector = math.prod(first.reduced_dimensions), _vector(work, first)
    is_one = sum(len(r.inputs) for r in found) == 1
    is_simple = all(len(r.inputs) == 1 for r in found)
    whole = [o.instruction for o in work.job.outputs if o.shape.dimensions == first.dimensions]
    if is_one and whole:
        waits = not _made_of_results(work).isdisjoint(whole)
        step = vector if len(turned(work)) == 1 else max(1, vector // 2)
        return _LEAST_ELEMENTS <= size <= _MOST_STORED and (waits or size % step != 0)
    if size < _SHORT:
        return size >= (_LEAST_ELEMENTS if is_simple else 2)
    most = _MOST_OF_ONE if is_one else _MOST_ELEMENTS
    if size > most or not any(map(_looks_for_extremum, found)):
        return False
    return not whole or size % vector != 0


def _vector(work: Work, reduction: Reduction) -> int:
    """Elements of a vector."""
    return work.job.target.machine.vector_elements(reduction.types[0].bytes)


def _looks_for_extremum(reduction: Reduction) -> bool:
    return len(reduction.inputs) > 1 or is_extremum(reduction)


def _made_of_results(work: Work) -> set[Instruction]:
    """The reduces, and what the kernel makes of them."""
    made: set[Instruction] = set()
    for instruction in work.job.fused:
        if instruction.op == "reduce" or not made.isdisjoint(instruction.operands):
            made.add(instruction)
    return made


def _split(work: Work) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions of rows: those that have loops of their own, and those whose rows are one
    line. These are all, unless something depends on some of them alone."""
    first = reductions(work)[0]
    rows, kept = first.kept_dimensions, {*first.kept}
    for instruction in work.job.fused:
        if leaf_dimensions(instruction) not in ((first.dimensions,), (rows,)):
            continue
        match instruction.attributes:
            case Broadcast(dimensions) if {*dimensions} & kept not in (set(), kept):
                return rows[:-1], rows[-1:]
            case Iota(dimension) if dimension in kept:
                return rows[:-1], rows[-1:]
    return (), rows


def _element_types(values: Sequence[Instruction]) -> list[ElementType]:
    return [value.array_shape.element_type for value in values]


def _lanes(work: Work, rows: int) -> int:
    """As many as the vectors of what is turned have, or twice as many where half a block would end
    with half a vector; fewer where tiles would be large or blocks of so many rows few."""
    first, machine = reductions(work)[0], work.job.target.machine
    size = math.prod(first.reduced_dimensions)
    read = [t.bytes for t in _element_types(turned(work))]
    widest = max([*read, *(t.bytes for r in reductions(work) for t in r.types)])
    lanes = max(_LEAST_LANES, machine.vector_elements(min(read, default=widest)))
    lanes *= 1 + size % 2
    most = min(_MOST_BYTES // (size * widest), rows // _LEAST_BLOCKS)
    while _LEAST_LANES < lanes > most:
        lanes //= 2
    return lanes


def short_row_plan(work: Work) -> None:
    """for each block of rows: its elements turned, every reduce in order, then the outputs."""
    outer, merged = _split(work)
    rows = math.prod(merged)
    lanes, outside = _lanes(work, rows), work.builder.loops(outer, "i", LoopKind.PARALLEL)
    with outside as before, _starts(work, rows, lanes) as start:
        RowBlock(work, before, merged, start, lanes).compute()


@contextmanager
def _starts(work: Work, rows: int, lanes: int) -> Iterator[Expr]:
    """Loops over blocks: where they begin. Where rows are left over the last one begins earlier,
    and the thread that computes it has computed the one before."""
    if rows % lanes == 0:
        with work.builder.loop(rows // lanes, "block", LoopKind.PARALLEL) as number:
            yield times(number, lanes)
        return
    count = rows // lanes + 1
    with in_chunks(work, count, "block", LoopKind.APART, last=2) as (number, _, _):
        start = apply("minimum", times(number, lanes), index(rows - lanes))
        yield work.builder.let(start, "start")
