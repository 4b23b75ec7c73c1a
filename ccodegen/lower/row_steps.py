"""What a fusion with reduces over the same rows computes, in which order, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeAlias

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.lower.job import Output, Work
from ccodegen.lower.reduction import Reduction, is_extremum, reduce_levels
from ccodegen.lower.softmax_shift import is_only_shift
from ccodegen.ops.cost import DEAR, is_dear
from ccodegen.ops.cost import work as work_of

Pass: TypeAlias = tuple[Reduction, ...]


def reductions(work: Work) -> tuple[Reduction, ...]:
    """The reduces that the kernel computes, operands first."""
    return tuple(_reduction(work, i) for i in work.job.fused if i.op == "reduce")


def _reduction(work: Work, instruction: Instruction) -> Reduction:
    reduction = Reduction(instruction)
    shifts = is_extremum(reduction) and is_only_shift(work.job, instruction)
    return Reduction(instruction, shifts)


def row_outputs_fit(outputs: tuple[Output, ...], all_reductions: tuple[Reduction, ...]) -> bool:
    """Whether these are reduces over the same rows, and outputs are rows, or whole arrays."""
    first = all_reductions[0]
    rows = first.kept_dimensions
    same = all(r.dimensions == first.dimensions and r.kept == first.kept for r in all_reductions)
    return same and all(o.shape.dimensions in (rows, first.dimensions) for o in outputs)


def is_row_value(instruction: Instruction, rows: tuple[int, ...]) -> bool:
    """Whether it is one value a row, of others."""
    is_array = isinstance(instruction.shape, ArrayShape)
    return is_array and opdef.is_elementwise(instruction) and (
        instruction.array_shape.dimensions == rows
    )


def row_steps(
    work: Work, passes: Callable[[Sequence[Reduction]], Sequence[Pass]]
) -> list[Instruction | Pass]:
    """The instructions in an order in which they can be computed, and in it the `passes` of reduces
    that need nothing of each other."""
    levels = reduce_levels(work.job.fused)
    ordered = sorted(work.job.fused, key=lambda i: (levels[i], i.op == "reduce"))
    steps: list[Instruction | Pass] = []
    for (_, is_reduce), group in groupby(ordered, lambda i: (levels[i], i.op == "reduce")):
        if is_reduce:
            steps += passes([_reduction(work, i) for i in group])
        else:
            steps += group
    return steps


def computed_twice(work: Work, steps: Sequence[Instruction | Pass]) -> set[Instruction]:
    """Elements of whole rows that are dear, or stored and made with as much work, which more than
    one pass over the row would compute, or a pass and what keeps another such element."""
    passes = [step for step in steps if isinstance(step, tuple)]
    number = {r.instruction: n for n, p in enumerate(passes) for r in p}
    whole = passes[0][0].dimensions
    readers: dict[Instruction, set[object]] = {o.instruction: {None} for o in work.job.outputs}
    stored = set(readers)
    twice: set[Instruction] = set()
    for instruction in reversed(work.job.fused):
        through = readers.get(instruction, set())
        if instruction.op == "reduce":
            through = {number[instruction]}
        elif len(through) > 1 and _is_kept(work, instruction, whole, instruction in stored):
            twice.add(instruction)
            through = {instruction}
        for operand in instruction.operands:
            readers.setdefault(operand, set()).update(through)
    return twice


def _is_kept(work: Work, instruction: Instruction, whole: tuple[int, ...], stored: bool) -> bool:
    is_long = is_dear(instruction) or (stored and _takes_long(work, instruction))
    return is_long and instruction.array_shape.dimensions == whole


def _takes_long(work: Work, output: Instruction) -> bool:
    """Whether an element is made of others with as much work as a dear one."""
    fused, size = set(work.job.fused), output.array_shape.size
    pending, seen, total = [output], {output}, 0
    while pending and total < DEAR:
        instruction = pending.pop()
        total += work_of(instruction)
        made = (o for o in instruction.operands if o in fused and o.op != "reduce")
        new = {o for o in made if o.array_shape.size == size} - seen
        seen |= new
        pending += new
    return total >= DEAR
