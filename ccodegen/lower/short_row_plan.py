"""Short rows: a block of rows side by side, one in each lane of a vector.

argmax over x[20000, 10]: sixteen rows of ten are turned into ten lines of sixteen, and reduced as
columns are. What the fusion stores for whole rows is turned back. Turning takes shuffles, of half
a block with the other half, as often as two divides the lanes: less than rows of ten elements lose
in vectors of sixteen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import apply, in_blocks, index, vector_kind
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import delinearize, linearize
from ccodegen.lower.chunks import in_chunks
from ccodegen.lower.column_accumulators import accumulators_of
from ccodegen.lower.elements import leaf_dimensions
from ccodegen.lower.job import Output, Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction, is_extremum
from ccodegen.lower.row_steps import Pass, computed_twice, is_row_value, reductions, row_steps
from ccodegen.ops.cost import is_dear
from ccodegen.ops.creation import Iota
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.movement import Broadcast
from ccodegen.support.element_type import ElementType

Pair: TypeAlias = tuple[Expr, Expr]

_LEAST_ELEMENTS = 5  # of a row; shorter ones are written out
_SHORT = 32
_MOST_ELEMENTS = 64
_MOST_OF_ONE = 48  # where one reduce over one operand is all
_MOST_BYTES = 4096  # of a tile
_LEAST_LANES = 8
_LEAST_BLOCKS = 4
_OF_PLACES = frozenset(("broadcast", "constant", "iota", "reduce", "tuple", "get-tuple-element"))


def short_rows_fit(work: Work, found: Sequence[Reduction]) -> bool:
    """Whether reduces over the same rows are over few elements of many rows, and all that the
    kernel computes stays in its row."""
    first, machine = found[0], work.job.target.machine
    rank = len(first.dimensions)
    if not machine.has_vectors or first.reduced != (*range(len(first.kept), rank),):
        return False
    if not first.kept or math.prod(_split(work)[1]) < _LEAST_BLOCKS * _lanes(work):
        return False
    read = [b for buffers in work.job.inputs.values() for b in buffers]
    written = [o.buffer for o in work.job.outputs]
    if any(b.type.is_complex for b in (*read, *written)) or any(b in read for b in written):
        return False
    return _is_short(work, found) and all(_stays(i) for i in work.job.fused)


def _is_short(work: Work, found: Sequence[Reduction]) -> bool:
    """Rows of two vectors are well reduced along the row, but for the largest element and its
    place; what is turned back for more than that is too much for the nearest cache."""
    size = math.prod(_row(found[0]))
    if size < _SHORT:
        return size >= _LEAST_ELEMENTS
    only_rows = all(o.shape.dimensions != found[0].dimensions for o in work.job.outputs)
    most = _MOST_ELEMENTS if sum(len(r.inputs) for r in found) > 1 else _MOST_OF_ONE
    return size <= most and only_rows and any(map(_looks_for_extremum, found))


def _looks_for_extremum(reduction: Reduction) -> bool:
    return len(reduction.inputs) > 1 or is_extremum(reduction)


def _stays(instruction: Instruction) -> bool:
    return instruction.op in _OF_PLACES or opdef.get(instruction.op).elementwise


def _row(first: Reduction) -> tuple[int, ...]:
    """The dimensions of a row."""
    return tuple(first.dimensions[d] for d in first.reduced)


def _split(work: Work) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions of rows: those that have loops of their own, and those whose rows are one
    line. These are all, unless something depends on some of them alone."""
    first = reductions(work)[0]
    rows, kept = tuple(first.dimensions[d] for d in first.kept), {*first.kept}
    for instruction in work.job.fused:
        if leaf_dimensions(instruction) not in ((first.dimensions,), (rows,)):
            continue
        match instruction.attributes:
            case Broadcast(dimensions) if {*dimensions} & kept not in (set(), kept):
                return rows[:-1], rows[-1:]
            case Iota(dimension) if dimension in kept:
                return rows[:-1], rows[-1:]
    return (), rows


def _lanes(work: Work) -> int:
    """As many as the vectors of what is turned have, or twice as many where half a block would end
    with half a vector."""
    first, machine = reductions(work)[0], work.job.target.machine
    size = math.prod(_row(first))
    turned = [b.type.bytes for i in _turned(work) for b in work.job.inputs[i]]
    widest = max([*turned, *(t.bytes for r in reductions(work) for t in r.types)])
    lanes = max(_LEAST_LANES, machine.vector_elements(min(turned, default=widest)))
    lanes *= 1 + size % 2
    most = min(_MOST_BYTES // (size * widest), math.prod(_split(work)[1]) // _LEAST_BLOCKS)
    while _LEAST_LANES < lanes > most:
        lanes //= 2
    return lanes


def _turned(work: Work) -> list[Instruction]:
    """The inputs that have an element for each one of the rows."""
    whole = reductions(work)[0].dimensions
    return [i for i in work.job.inputs if leaf_dimensions(i) == (whole,)]


def short_row_plan(work: Work) -> None:
    """for each block of rows: its elements turned, every reduce in order, then the outputs."""
    outer, merged = _split(work)
    lanes, outside = _lanes(work), work.builder.loops(outer, "i", LoopKind.PARALLEL)
    with outside as before, _starts(work, math.prod(merged), lanes) as start:
        _Block(work, before, merged, start, lanes).compute()


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


class _Block:
    """So many rows of those of the `merged` dimensions from `start` on, at an index `before` them,
    one in each lane. A tile holds, for each element of a row, those of all lanes."""

    def __init__(
        self, work: Work, before: Index, merged: Sequence[int], start: Expr, lanes: int
    ) -> None:
        self._work, self._builder = work, work.builder
        self._before, self._merged, self._start, self._lanes = before, merged, start, lanes
        self._row = _row(reductions(work)[0])
        self._half = math.prod(self._row) * lanes // 2
        self._places: set[Expr] = set()  # of rows in the block, where loops over lanes are open
        self._spare: list[Buffer] = []

    def compute(self) -> None:
        first, job, elements = reductions(self._work)[0], self._work.job, self._work.elements
        rows = first.dimensions[: len(first.kept)]
        stored = dict(elements.stored)
        for instruction in _turned(self._work):
            self._read(instruction)
        steps = row_steps(self._work, lambda found: [tuple(found)])
        twice = computed_twice(self._work, steps)
        for step in steps:
            if isinstance(step, tuple):
                self._reduce(step)
            elif step in twice:
                self._remember(step, self._computed(step))
            elif is_row_value(step, rows) and is_dear(step):
                self._keep_row_value(step)
        with self._lane_loop() as lane:
            for output in job.outputs:
                if output.shape.dimensions == rows:
                    self._work.store(output, self._rows_index(lane))
        for output in job.outputs:
            if output.shape.dimensions == first.dimensions:
                self._write(output)
        elements.stored = stored

    def _read(self, instruction: Instruction) -> None:
        """Turns the elements of an input: the upper bit of each place becomes the lowest, until
        those of the row are."""
        (buffer,) = self._work.job.inputs[instruction]
        dimensions = instruction.array_shape.dimensions
        tile = self._tile(buffer.type)
        with self._half_rows() as (rows, element, together):
            for row, place in zip(rows, together, strict=True):
                value = self._work.elements.load(buffer, dimensions, self._index(row, element))
                self._builder.store(tile, (place,), value)
        for _ in range(self._lanes.bit_length() - 2):
            tile = self._shuffled(tile, back=False)
        self._remember(instruction, tile)

    def _write(self, output: Output) -> None:
        """Computes the elements of an output, and turns them back."""
        tile, dimensions = self._computed(output.instruction), output.shape.dimensions
        for _ in range(self._lanes.bit_length() - 2):
            tile = self._shuffled(tile, back=True)
        with self._half_rows() as (rows, element, together):
            for row, place in zip(rows, together, strict=True):
                at = self._index(row, element)
                target = self._work.elements.load(output.buffer, dimensions, at)
                self._builder.store(target.buffer, target.indices, Load(tile, (place,)))
        self._spare.append(tile)

    @contextmanager
    def _half_rows(self) -> Iterator[tuple[Pair, Index, Pair]]:
        """Loops over the first half of rows: the row and the one as far in the other half, an
        element of both, and its places next to each other."""
        half = self._lanes // 2
        with self._builder.loops((half, *self._row), "r", LoopKind.PARALLEL) as (row, *element):
            place = linearize((row, *element), (half, *self._row))
            yield (row, plus(row, half)), tuple(element), _next_to_each_other(place)

    def _shuffled(self, tile: Buffer, back: bool) -> Buffer:
        """Another tile where what is half a tile apart is next to each other; or back."""
        shuffled = self._tile(tile.type)
        with self._builder.loop(self._half, "place", LoopKind.PARALLEL) as place:
            apart, together = (place, plus(place, self._half)), _next_to_each_other(place)
            for source, target in zip(apart, together, strict=True):
                if back:
                    source, target = target, source
                self._builder.store(shuffled, (target,), Load(tile, (source,)))
        self._spare.append(tile)
        return shuffled

    def _reduce(self, found: Pass) -> None:
        kept = [(r, accumulators_of(self._work, r, self._lanes)) for r in found]
        single = all(len(r.inputs) == 1 for r in found)  # compilers sit over chains of selects
        most = min(accumulators.most_rows() for _, accumulators in kept) if single else 1
        *outer, extent = self._row
        with self._builder.loops(outer, "e") as before:

            def take(first: Expr, count: int) -> None:
                with self._lane_loop() as lane:
                    places = [self._index(lane, (*before, plus(first, n))) for n in range(count)]
                    for reduction, accumulators in kept:
                        accumulators.take(lane, [self._values(reduction, at) for at in places])

            in_blocks(self._builder, extent, most, "e", take)
        for reduction, accumulators in kept:
            self._remember(reduction.instruction, *accumulators.finish())

    def _values(self, reduction: Reduction, at: Index) -> Values:
        return tuple(self._work.elements.value(i, at) for i in reduction.inputs)

    def _computed(self, instruction: Instruction) -> Buffer:
        """A tile with all elements of an array."""
        tile = self._tile(instruction.array_shape.element_type)
        with self._builder.loops(self._row, "e") as element, self._lane_loop() as lane:
            value = self._work.elements.value(instruction, self._index(lane, element))
            self._builder.store(tile, (self._place(element, lane),), value)
        return tile

    def _keep_row_value(self, instruction: Instruction) -> None:
        element_type = instruction.array_shape.element_type
        buffer = self._builder.local(element_type, (self._lanes,), instruction.name)
        with self._lane_loop() as lane:
            value = self._work.elements.value(instruction, self._rows_index(lane))
            self._builder.store(buffer, (lane,), value)
        self._remember(instruction, buffer)

    def _remember(self, instruction: Instruction, *buffers: Buffer) -> None:
        """Says in which tiles, or in buffers of a value for each lane, the block's results lie."""
        elements, count = self._work.elements, len(self._before) + len(self._merged)
        elsewhere = elements.stored.get(instruction) or partial(elements.computed, instruction)

        def stored(at: Index) -> Values:
            lane = self._lane(at[:count])
            if lane is None:
                return elsewhere(at)
            place = self._place(at[count:], lane) if at[count:] else lane
            return tuple(self._builder.let(Load(b, (place,)), instruction.name) for b in buffers)

        elements.stored[instruction] = stored

    def _tile(self, element_type: ElementType) -> Buffer:
        """A spare one, or a new one."""
        for tile in self._spare:
            if tile.type is element_type:
                self._spare.remove(tile)
                return tile
        return self._builder.local(element_type, (2 * self._half,), "tile")

    def _place(self, element: Index, lane: Expr) -> Expr:
        """In a tile."""
        return linearize((*element, lane), (*self._row, self._lanes))

    @contextmanager
    def _lane_loop(self) -> Iterator[Expr]:
        with self._builder.loop(self._lanes, "lane", vector_kind(self._lanes)) as lane:
            self._places.update(self._builder.simplify((lane,)))
            yield lane

    def _lane(self, rows: Index) -> Expr | None:
        """The lane of a row of the block; of any other row nothing."""
        count = len(self._before)
        position = minus(linearize(rows[count:], self._merged), self._start)
        (lane,) = self._builder.simplify((position,))
        here = rows[:count] == self._builder.simplify(self._before)
        return lane if here and lane in self._places else None

    def _index(self, row: Expr, element: Index) -> Index:
        """Of an element of a row of the block."""
        return (*self._rows_index(row), *element)

    def _rows_index(self, row: Expr) -> Index:
        position = plus(self._start, row)
        return (*self._before, *delinearize(position, self._merged, self._builder.ranges))


def _next_to_each_other(place: Expr) -> Pair:
    twice = times(place, 2)
    return twice, plus(twice, 1)
