"""Rows: all reduces of a fusion over the same rows, one row after the other.

Softmax over x[R, C]: for each row the maximum, then the sum of the exponentials, then the
quotients; nothing of size R × C lies in memory but x and the result.
"""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.ir import Index, Load, LoopKind
from ccodegen.lower.extremum import LEAST_LANES, extremum_in_lanes, find_extremum
from ccodegen.lower.job import Output, Work
from ccodegen.lower.kernel_builder import Values
from ccodegen.lower.reduction import Reduction, neutral, reduce_in_lanes
from ccodegen.ops.cost import is_dear
from ccodegen.ops.fold import operator_name

_VECTORS_OF_LANES = 4


def reductions(work: Work) -> tuple[Reduction, ...]:
    """The reduces that the kernel computes, operands first."""
    return tuple(Reduction(i) for i in work.job.fused if i.op == "reduce")


def row_plan(work: Work) -> None:
    """for each row: every reduce in order, then the outputs.

    What depends on the row alone is computed once a row; what is dear and read by several reduces
    or outputs is computed once an element, into a buffer of one row.
    """
    found = reductions(work)
    first = found[0]
    rows = tuple(first.dimensions[d] for d in first.kept)
    twice = _computed_twice(work, found)
    with work.builder.loops(rows, "row", LoopKind.PARALLEL) as row:
        for instruction in work.job.fused:
            if instruction.op == "reduce":
                values = _reduced(work, Reduction(instruction), row)
                work.elements.know(instruction, row, values)
            elif instruction in twice:
                _keep_row(work, first, instruction, row)
            elif _is_row_value(instruction, rows):
                value = work.elements.value(instruction, row)
                work.elements.know(instruction, row, (work.builder.let(value, instruction.name),))
        for output in work.job.outputs:
            if output.shape.dimensions == rows:
                work.store(output, row)
        _store_whole_rows(work, first, rows, row)


def _is_row_value(instruction: Instruction, rows: tuple[int, ...]) -> bool:
    is_array = isinstance(instruction.shape, ArrayShape)
    return is_array and opdef.get(instruction.op).elementwise and (
        instruction.array_shape.dimensions == rows
    )


def _computed_twice(work: Work, found: tuple[Reduction, ...]) -> set[Instruction]:
    """Dear elements of whole rows that more than one pass over the row would compute."""
    passes = [r.instruction.operands for r in found]
    passes.append(tuple(o.instruction for o in work.job.outputs))
    counts: dict[Instruction, int] = {}
    for roots in passes:
        for instruction in _needed(roots, work):
            counts[instruction] = counts.get(instruction, 0) + 1
    whole = found[0].dimensions
    return {
        i
        for i, count in counts.items()
        if count > 1 and is_dear(i) and i.array_shape.dimensions == whole
    }


def _needed(roots: tuple[Instruction, ...], work: Work) -> set[Instruction]:
    """What a pass computes: up to inputs and to reduces, which earlier passes have computed."""
    needed: set[Instruction] = set()
    pending = list(roots)
    while pending:
        instruction = pending.pop()
        if instruction in needed or instruction in work.job.inputs or instruction.op == "reduce":
            continue
        needed.add(instruction)
        pending += instruction.operands
    return needed


def _keep_row(work: Work, first: Reduction, instruction: Instruction, row: Index) -> None:
    """Computes one row of an instruction into a buffer, from which that row is read from now on."""
    extents = tuple(first.dimensions[d] for d in first.reduced)
    buffer = work.new_scratch(instruction.array_shape.element_type, extents)
    with work.builder.loops(extents, "i", LoopKind.PARALLEL) as inner:
        value = work.elements.value(instruction, first.input_index(row, inner))
        work.builder.store(buffer, inner, value)
    here = work.builder.simplify(row)

    def read(at: Index) -> Values:
        if tuple(at[d] for d in first.kept) != here:
            return work.elements.computed(instruction, at)
        return (Load(buffer, tuple(at[d] for d in first.reduced)),)

    work.elements.stored[instruction] = read


def _store_whole_rows(
    work: Work, first: Reduction, rows: tuple[int, ...], row: Index
) -> None:
    outputs = [o for o in work.job.outputs if o.shape.dimensions != rows]
    if not outputs:
        return
    extents = [first.dimensions[d] for d in first.reduced]
    with work.builder.loops(extents, "i", LoopKind.PARALLEL) as inner:
        for output in outputs:
            work.store(output, first.input_index(row, inner))


def _reduced(work: Work, reduction: Reduction, row: Index) -> Values:
    lanes = lane_count(work, reduction)
    if lanes == 1:
        return work.elements.values(reduction.instruction, row)
    if len(reduction.inputs) > 1:
        operator = find_extremum(reduction)
        return extremum_in_lanes(work.elements, reduction, operator, row, lanes)
    return reduce_in_lanes(work.elements, reduction, row, lanes)


def lane_count(work: Work, reduction: Reduction) -> int:
    """How many accumulators pay: 1 for combiners that we do not know, and for those whose order
    counts in strict mode."""
    if not reduction.reduced or reduction.reduced[-1] != len(reduction.dimensions) - 1:
        return 1
    vector_elements = work.job.target.machine.vector_elements(reduction.types[0].bytes)
    if vector_elements == 1 or not _any_order(work, reduction):
        return 1
    least = 4 if len(reduction.inputs) == 1 else LEAST_LANES
    lanes = max(_VECTORS_OF_LANES * vector_elements, least)
    while lanes > 1 and lanes * 2 > reduction.dimensions[-1]:
        lanes //= 2
    return lanes if lanes >= least else 1  # fewer are no gain


def _any_order(work: Work, reduction: Reduction) -> bool:
    """Whether we may combine elements in any order, and know how."""
    if len(reduction.inputs) > 1:
        return bool(find_extremum(reduction))
    operator = operator_name(reduction.attributes.to_apply)
    return not work.job.strict and neutral(operator, reduction.types[0]) is not None


def row_outputs_fit(outputs: tuple[Output, ...], all_reductions: tuple[Reduction, ...]) -> bool:
    """Whether row_plan can make these outputs: rows, or whole arrays over the same rows."""
    first = all_reductions[0]
    rows = tuple(first.dimensions[d] for d in first.kept)
    same = all(r.dimensions == first.dimensions and r.kept == first.kept for r in all_reductions)
    return same and all(o.shape.dimensions in (rows, first.dimensions) for o in outputs)
