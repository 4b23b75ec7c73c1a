"""Loops whose turns make each element of those at its place: all turns for a block of elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction, post_order
from ccodegen.loop.builder import in_blocks, index
from ccodegen.loop.ir import Buffer, Expr, Index, LoopKind
from ccodegen.lower.elements import Elements, OperandScope, use_counts
from ccodegen.lower.job import Output, Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.dynamic_slice import start_indices
from ccodegen.ops.index import plus
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.constants import array_of, integer_range
from ccodegen.passes.element_loops import row_dimensions, weight, written_rows
from ccodegen.passes.loops import Loop, as_loop, needed, state_index, step_of, trip_count

_BLOCKS = 8  # or more, for threads to share
_LEAST = 256  # elements of a block, if a cache has them: to begin a turn takes little of its time
_FEW = 14  # instructions for each array of the state
_EVEN = 16  # elements, that fill vectors


def turns_plan(work: Work, instruction: Instruction) -> None:
    """for each block of elements: take the state; for each turn: for each element: make the next
    state; store it. Scalars that are wanted of the state are made by themselves, in as many turns.
    Rows are read, and written, by the turns.
    """
    loop = as_loop(instruction)
    assert loop is not None
    row = row_dimensions(loop)
    arrays: dict[int, Output] = {}
    scalars: dict[int, Output] = {}
    for output in work.job.outputs:
        number = attributes_of(output.instruction, GetTupleElement).index
        (arrays if row and output.shape.rank else scalars)[number] = output
    if row and arrays:
        size = _size(work, loop, row[0])

        def emit(first: Expr, count: int) -> None:
            _Block(work, loop, arrays, first, count).write()

        in_blocks(work.builder, row[0], size, "block", emit, LoopKind.PARALLEL)
    if scalars:
        _Block(work, loop, scalars, index(0), 0).write()


def _size(work: Work, loop: Loop, total: int) -> int:
    """Elements of a block, of half a first-level cache; one, in registers, where there are no
    vectors to fill."""
    machine = work.job.target.machine
    if not machine.has_vectors:
        return 1
    arrays = [loop.initial(n).array_shape for n in _lines(loop)]
    of_cache = machine.cache_bytes // 2 // max(1, sum(a.element_type.bytes for a in arrays))
    most = min(of_cache, max(_LEAST, -(-total // _BLOCKS)))
    most = max(_EVEN, most // _EVEN * _EVEN)
    even = (size for size in range(most, most // 2, -_EVEN) if total % size == 0)
    return next(even, most)


def _lines(loop: Loop) -> list[int]:
    """The numbers in the state of the arrays, which blocks have as lines of their own."""
    rows = written_rows(loop)
    changing = [n for n in range(len(loop.shapes)) if not loop.is_invariant(n) and n not in rows]
    return [n for n in changing if loop.initial(n).array_shape.rank]


def _at_once(work: Work, loop: Loop, turns: int) -> int:
    """Turns between which an element stays in registers, of those that compute little for what
    they would load and store; not of those that choose, which take longer one behind the other."""
    chooses = any(i.op == "select" for i in loop.body.instructions)
    if chooses or not work.job.target.machine.has_vectors:
        return 1
    most = int(_FEW * len(_lines(loop)) // max(1, weight(loop.body, rows=True)))
    return next((count for count in range(most, 1, -1) if turns % count == 0), 1)


class _Block:
    """What is kept of some elements: the state, as far as the outputs (by their numbers in it) are
    made of it. `count`: of the elements, 0 for the scalars alone."""

    def __init__(
        self, work: Work, loop: Loop, outputs: Mapping[int, Output], first: Expr, count: int
    ) -> None:
        self._work, self._builder, self._loop = work, work.builder, loop
        self._outputs, self._first, self._count = outputs, first, count
        self._rows = {n: row for n, row in written_rows(loop).items() if n in outputs}
        invariant = [n for n in range(len(loop.shapes)) if loop.is_invariant(n)]
        made = sorted(needed(loop, outputs, invariant))
        self._lines = [n for n in _lines(loop) if n in made]
        self._scalars = [n for n in made if not loop.initial(n).array_shape.rank]
        self._kept = {n: self._local(n) for n in (*self._lines, *self._scalars)}

    def write(self) -> None:
        """All turns."""
        turns = trip_count(self._loop) or 0
        at_once = _at_once(self._work, self._loop, turns)
        self._fill()
        self._each(self._take)
        with self._builder.loop(turns // at_once, "turn"):
            self._each(partial(self._advance, at_once))
        self._each(self._give)

    def _each(self, do: Callable[[Sequence[int], Index], None]) -> None:
        """Does it with the numbers of the arrays at each index, then with those of the scalars."""
        if self._count:
            with self._builder.loop(self._count, "i", LoopKind.PARALLEL) as i:
                do(self._lines, (i,))
        if self._scalars or not self._count:
            do(self._scalars, ())

    def _fill(self) -> None:
        """Rows that no turn may write are as they have been."""
        for n in self._rows:
            if not _writes_all_rows(self._loop, n):
                count = self._loop.initial(n).array_shape.dimensions[0]
                with self._builder.loop(count, "row") as row:
                    self._each(partial(self._fill_row, n, row))

    def _fill_row(self, number: int, row: Expr, _: Sequence[int], at: Index) -> None:
        if self._is_of_rows(at):
            self._store(number, (row, *at), self._initial(number, (row, *at)))

    def _take(self, numbers: Sequence[int], at: Index) -> None:
        for n in numbers:
            self._keep(n, at, self._initial(n, at))

    def _advance(self, turns: int, numbers: Sequence[int], at: Index) -> None:
        state = {n: self._value(n, at) for n in dict.fromkeys((*numbers, *self._scalars))}
        for _ in range(turns):
            state = self._following(state, at)
        for n in numbers:
            self._keep(n, at, state[n])

    def _give(self, numbers: Sequence[int], at: Index) -> None:
        for n in numbers:
            if n in self._outputs:
                self._store(n, at, self._value(n, at))

    def _is_of_rows(self, at: Index) -> bool:
        """Whether rows have an element there: the scalars' have one."""
        return bool(at) is bool(self._count)

    def _following(self, state: Mapping[int, Expr], at: Index) -> dict[int, Expr]:
        """What a turn makes of the state's elements with these numbers; it writes its rows."""
        body = self._loop.body
        elements = Elements(self._builder, self._work.job.strict, uses=use_counts(body))
        for instruction in body.instructions:
            number = state_index(instruction, body)
            if number is not None:
                elements.stored[instruction] = partial(self._read, state, number)
        rows = self._rows if self._is_of_rows(at) else {}
        following = {n: self._loop.next[n] for n in state}
        for instruction in post_order((*following.values(), *rows.values())):
            if opdef.is_elementwise(instruction):  # operands first, as chains are deep
                elements.value(instruction, _place(instruction, at))
        for number, update in rows.items():
            row = update.operands[1]
            sizes = row.array_shape.dimensions
            start, *_ = start_indices(OperandScope(elements, update), update, 2, sizes)
            place = (self._builder.let(start, "start"), *at)
            value = elements.value(row, _place(row, at))
            self._store(number, place, self._builder.let(value, update.name))
        return {
            n: self._builder.let(elements.value(made, _place(made, at)), made.name)
            for n, made in following.items()
        }

    def _read(self, state: Mapping[int, Expr], number: int, at: Index) -> Values:
        return (state[number] if number in state else self._initial(number, at),)

    def _store(self, number: int, at: Index, value: Expr) -> None:
        to = self._outputs[number]
        place = self._work.elements.load(to.buffer, to.shape.dimensions, self._whole(at))
        self._builder.store(to.buffer, place.indices, value)

    def _local(self, number: int) -> Buffer:
        shape = self._loop.initial(number).array_shape
        dimensions = (self._count,) if shape.rank and self._count > 1 else ()
        return self._builder.local(shape.element_type, dimensions, self._loop.next[number].name)

    def _keep(self, number: int, at: Index, value: Expr) -> None:
        buffer = self._kept[number]
        self._builder.store(buffer, at[: len(buffer.dimensions)], value)

    def _value(self, number: int, at: Index) -> Expr:
        buffer = self._kept[number]
        return self._builder.load(buffer, at[: len(buffer.dimensions)])

    def _initial(self, number: int, at: Index) -> Expr:
        return self._work.elements.value(self._loop.initial(number), self._whole(at))

    def _whole(self, at: Index) -> Index:
        """The index in whole arrays; in rows it is the last one that counts elements."""
        return (*at[:-1], plus(self._first, at[-1])) if at and self._count else at


def _place(instruction: Instruction, at: Index) -> Index:
    """Where a scalar, an element or a row of them has what makes the one at an index."""
    rank = instruction.array_shape.rank
    return (*[index(0)] * (rank - len(at)), *at) if rank else ()


def _writes_all_rows(loop: Loop, number: int) -> bool:
    """Whether the turns write one row after the other, from the first or the last one on."""
    start = loop.next[number].operands[2]
    rows, *_ = loop.initial(number).array_shape.dimensions
    if trip_count(loop) != rows or rows > integer_range(start.array_shape.element_type)[1]:
        return False
    places = [_at_turn(loop, start, turn) for turn in (0, 1, rows - 1)]
    return places in ([0, 1, rows - 1], [rows - 1, rows - 2, 0])


def _at_turn(loop: Loop, scalar: Instruction, turn: int) -> int | None:
    """The value of a sum of constants and counters in a turn, where it is one."""
    values: dict[Instruction, int] = {}
    for instruction in post_order((scalar,)):
        constant, number = array_of(instruction), state_index(instruction, loop.body)
        operands = [values[o] for o in instruction.operands if o in values]
        if constant is not None:
            values[instruction] = int(constant)
        elif number is not None:
            start, step = array_of(loop.initial(number)), step_of(loop, number)
            if start is not None and step is not None:
                values[instruction] = int(start) + turn * step
        elif instruction.op in ("add", "subtract") and len(operands) == 2:
            a, b = operands
            values[instruction] = a + b if instruction.op == "add" else a - b
    return values.get(scalar)
