"""Rows: all reduces of a fusion over the same rows, one row after the other.

Softmax over x[R, C]: for each row the maximum, then the sum of the exponentials, then the
quotients; nothing of size R × C lies in memory but x and the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Expr, Index, Load, LoopKind
from ccodegen.loop.linear import delinearize
from ccodegen.lower.chunks import in_chunks
from ccodegen.lower.extremum import extremum_in_lanes, find_extremum
from ccodegen.lower.in_place import read_elsewhere
from ccodegen.lower.job import Output, Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction, reduce_in_lanes
from ccodegen.lower.row_lanes import kind_of_lanes, lane_count, lane_ways, lanes_together
from ccodegen.lower.row_steps import Pass, computed_twice, is_row_value, reductions, row_steps

Place: TypeAlias = Callable[[Index], Load]  # of an element that is kept, by its index

_MOST_TOGETHER = 4


def row_plan(work: Work) -> None:
    """for each row: every reduce in order, then the outputs.

    What depends on the row alone is computed once a row; what is dear and read by several reduces
    or outputs is computed once an element, into a buffer of one row.
    """
    first = reductions(work)[0]
    rows = first.kept_dimensions
    steps = row_steps(work, partial(_passes, work))
    twice = computed_twice(work, steps)
    housed = _housed(work, first.dimensions, twice)
    with _loops(work, rows, apart=len(twice) > len(housed)) as (row, place, places):
        for instruction in steps:
            if isinstance(instruction, tuple):
                for reduction, values in _reduced(work, instruction, row):
                    work.elements.know(reduction.instruction, row, values)
            elif instruction in housed:
                _keep_row(work, first, instruction, row, _in_output(work, housed[instruction]))
            elif instruction in twice:
                scratch = _in_scratch(work, first, instruction, (place, places))
                _keep_row(work, first, instruction, row, scratch)
            elif is_row_value(instruction, rows):
                value = work.elements.value(instruction, row)
                work.elements.know(instruction, row, (work.builder.let(value, instruction.name),))
        for output in work.job.outputs:
            if output.shape.dimensions == rows:
                work.store(output, row)
        whole = [o for o in work.job.outputs if o.shape.dimensions != rows]
        left = [o for o in whole if housed.get(o.instruction) is not o]
        _store_whole_rows(work, first, left, row)


def _passes(work: Work, found: Sequence[Reduction]) -> list[Pass]:
    """Reduces over one operand in lanes share a pass while their accumulators fit registers."""
    passes: list[Pass] = []
    together: dict[int, list[Reduction]] = {}
    for reduction in found:
        lanes = lane_count(work, reduction)
        if lanes == 1 or len(reduction.inputs) > 1:
            passes.append((reduction,))
        else:
            together.setdefault(lanes, []).append(reduction)
    for same in together.values():
        passes += (tuple(same[n : n + _MOST_TOGETHER]) for n in range(0, len(same), _MOST_TOGETHER))
    return passes


@contextmanager
def _loops(
    work: Work, rows: tuple[int, ...], apart: bool
) -> Iterator[tuple[Index, Expr, int]]:
    """Loops over rows: which row, in which of how many chunks that have memory of their own, if
    they are to be `apart`."""
    if not apart or work.job.target.machine.threads == 1:
        with work.builder.loops(rows, "row", LoopKind.PARALLEL) as row:
            yield row, index(0), 1
        return
    with in_chunks(work, math.prod(rows), "row") as (number, chunk, chunks):
        yield delinearize(number, rows, work.builder.ranges), chunk, chunks


def _housed(
    work: Work, whole: tuple[int, ...], kept: set[Instruction]
) -> dict[Instruction, Output]:
    """The instructions whose rows can be kept where those of an output will lie: outputs
    themselves; or, where there is one, what is read nowhere but at the place that is then written.
    The output's memory is near by then, too."""
    outputs = [o for o in work.job.outputs if o.shape.dimensions == whole]
    free = [o for o in outputs if o.buffer not in work.job.read]
    own = {o.instruction: o for o in free if o.instruction in kept}
    if own or len(outputs) != 1 or not free:
        return own
    after = [i for i in work.job.fused if i.op != "reduce"]  # those are done before
    moved = read_elsewhere(after, whole)
    for instruction in work.job.fused:
        same_type = instruction in kept and (
            instruction.array_shape.element_type is outputs[0].shape.element_type
        )
        if same_type and instruction not in moved:
            return {instruction: outputs[0]}
    return {}


def _in_output(work: Work, output: Output) -> Place:
    return lambda at: work.elements.load(output.buffer, output.shape.dimensions, at)


def _in_scratch(
    work: Work, first: Reduction, instruction: Instruction, chunk: tuple[Expr, int]
) -> Place:
    """The memory of one of so many chunks, for a row."""
    number, chunks = chunk
    element_type = instruction.array_shape.element_type
    buffer = work.new_scratch(element_type, (chunks, *first.reduced_dimensions))
    return lambda at: Load(buffer, (number, *(at[d] for d in first.reduced)))


def _keep_row(
    work: Work, first: Reduction, instruction: Instruction, row: Index, place: Place
) -> None:
    """Computes one row of an instruction into memory, from which it is read from now on."""
    with work.builder.loops(first.reduced_dimensions, "i", LoopKind.PARALLEL) as inner:
        at = first.input_index(row, inner)
        value, target = work.elements.value(instruction, at), place(at)
        work.builder.store(target.buffer, target.indices, value)
    here = work.builder.simplify(row)

    def read(at: Index) -> Values:
        if tuple(at[d] for d in first.kept) != here:
            return work.elements.computed(instruction, at)
        return (place(at),)

    work.elements.stored[instruction] = read


def _store_whole_rows(
    work: Work, first: Reduction, outputs: list[Output], row: Index
) -> None:
    if not outputs:
        return
    with work.builder.loops(first.reduced_dimensions, "i", LoopKind.PARALLEL) as inner:
        for output in outputs:
            work.store(output, first.input_index(row, inner))


def _reduced(work: Work, found: Pass, row: Index) -> Iterator[tuple[Reduction, Values]]:
    """What the reduces of a pass give."""
    first = found[0]
    lanes = lane_count(work, first)
    if lanes == 1:
        yield first, work.elements.values(first.instruction, row)
    elif len(first.inputs) > 1:
        operator = find_extremum(first)
        yield first, extremum_in_lanes(work.elements, first, operator, row, lanes)
    else:
        lanes = lanes_together(found, lanes)
        ways = lane_ways(work, found, lanes)
        kind = kind_of_lanes(work, found, lanes)
        totals = reduce_in_lanes(work.elements, found, row, lanes, ways, kind)
        yield from ((r, (total,)) for r, total in zip(found, totals, strict=True))
