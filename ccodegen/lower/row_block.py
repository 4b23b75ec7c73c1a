"""A block of short rows, one row in each lane of a vector.

Sixteen rows of ten elements are turned into a tile: element 0 of all rows, then element 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import in_blocks, vector_kind
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind, Var
from ccodegen.loop.linear import delinearize, linearize
from ccodegen.loop.shuffle import shuffle
from ccodegen.lower.column_accumulators import accumulators_of
from ccodegen.lower.elements import leaf_dimensions
from ccodegen.lower.job import Output, Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction, is_extremum
from ccodegen.lower.row_steps import Pass, computed_twice, is_row_value, reductions, row_steps
from ccodegen.ops.cost import is_dear
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.movement import Transpose
from ccodegen.support.element_type import ElementType

Pair: TypeAlias = tuple[Expr, Expr]

_OF_PLACES = frozenset(("broadcast", "constant", "iota", "reduce", "tuple", "get-tuple-element"))


def stays(instruction: Instruction) -> bool:
    """Whether what it makes of a row is in that row, or in all."""
    is_one = all(math.prod(dimensions) == 1 for dimensions in leaf_dimensions(instruction))
    return is_one or instruction.op in _OF_PLACES or opdef.is_elementwise(instruction)


def turned(work: Work) -> list[Instruction]:
    """What has an element for each one of the rows, and is read row after row: inputs, and what is
    made of elements at other places, unless rows are columns there."""
    first = reductions(work)[0]
    pending = [o.instruction for o in work.job.outputs]
    pending += [r.instruction for r in reductions(work)]
    seen: dict[Instruction, None] = {}
    while pending:
        instruction = pending.pop()
        if instruction in seen:
            continue
        seen[instruction] = None
        if _is_made_in_rows(work, instruction):
            pending += reversed(instruction.operands)
    leaves = (i for i in seen if not _is_made_in_rows(work, i) and not _turns(i, first))
    return [i for i in leaves if leaf_dimensions(i) == (first.dimensions,)]


def _is_made_in_rows(work: Work, instruction: Instruction) -> bool:
    return instruction not in work.job.inputs and stays(instruction)


def _turns(instruction: Instruction, reduction: Reduction) -> bool:
    """Whether it is a transpose in whose operand neighbouring rows lie side by side."""
    if not isinstance(instruction.attributes, Transpose):
        return False
    from_dimension = instruction.attributes.dimensions[reduction.kept[-1]]
    return from_dimension == instruction.array_shape.rank - 1


def _is_rounded(instruction: Instruction, fused: Sequence[Instruction]) -> bool:
    """Whether it would be rounded again for each element of a row."""
    is_narrow = instruction.array_shape.element_type.is_narrow_float
    return is_narrow and any(i.op == "broadcast" and instruction in i.operands for i in fused)


class RowBlock:
    """So many rows of those of the `merged` dimensions from `start` on, at an index `before` them,
    one in each lane. A tile holds, for each element of a row, those of all lanes."""

    def __init__(
        self, work: Work, before: Index, merged: Sequence[int], start: Expr, lanes: int
    ) -> None:
        self._work, self._builder = work, work.builder
        self._before, self._merged, self._start, self._lanes = before, merged, start, lanes
        self._first = reductions(work)[0]
        self._row = self._first.reduced_dimensions
        self._places: set[Expr] = set()  # of rows in the block, where loops over lanes are open
        self._spare: list[Buffer] = []

    def compute(self) -> None:
        job, rows, whole = self._work.job, self._first.kept_dimensions, self._first.dimensions
        for instruction in turned(self._work):
            self._read(instruction)
        steps = row_steps(self._work, lambda found: [tuple(found)])
        twice = computed_twice(self._work, steps)
        for step in steps:
            if isinstance(step, tuple):
                self._reduce(step)
            elif step in twice:
                self._remember(step, self._computed(step))
            elif is_row_value(step, rows) and (is_dear(step) or _is_rounded(step, job.fused)):
                self._keep_row_value(step)
        with self._lane_loop() as lane:
            for output in job.outputs:
                if output.shape.dimensions == rows:
                    self._work.store(output, self._rows_index(lane))
        for output in job.outputs:
            if output.shape.dimensions == whole:
                self._write(output)

    def _read(self, instruction: Instruction) -> None:
        """Turns the elements of what lies, or is made, row after row."""
        self._builder.note(f"{instruction.name}, {self._lanes} rows side by side")
        tile = self._tile(instruction.array_shape.element_type)
        with self._half_rows() as (rows, element, together):
            for row, place in zip(rows, together, strict=True):
                value = self._work.elements.value(instruction, self._index(row, element))
                self._builder.store(tile, (place,), value)
        for _ in range(self._lanes.bit_length() - 2):
            tile = self._shuffled(tile, back=False)
        self._remember(instruction, tile)

    def _write(self, output: Output) -> None:
        """Computes the elements of an output, and turns them back."""
        tile, dimensions = self._computed(output.instruction), output.shape.dimensions
        self._builder.note(f"{output.instruction.name}, row after row again")
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
            place = times(linearize((row, *element), (half, *self._row)), 2)
            yield (row, plus(row, half)), tuple(element), (place, plus(place, 1))

    def _shuffled(self, tile: Buffer, back: bool) -> Buffer:
        """Another tile where what is half a tile apart is next to each other; or back."""
        shuffled = self._tile(tile.type)
        place = Var(self._builder.fresh("place"))
        self._builder.emit(shuffle(tile, shuffled, place, back))
        self._spare.append(tile)
        return shuffled

    def _reduce(self, found: Pass) -> None:
        for reduction in filter(is_extremum, found):
            self._compute_apart(reduction.inputs[0])
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

    def _compute_apart(self, instruction: Instruction) -> None:
        """Before choices between its elements: where it is a choice too, as the larger of two,
        compilers see branches in both together, and make no vectors."""
        if instruction not in self._work.elements.stored:
            self._remember(instruction, self._computed(instruction))

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
        return self._builder.local(element_type, (math.prod(self._row) * self._lanes,), "tile")

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

