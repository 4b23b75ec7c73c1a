"""How many accumulators the reduces of rows take side by side, and from how many places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.neutral import neutral
from ccodegen.lower.extremum import LEAST_LANES, find_extremum
from ccodegen.lower.job import Work
from ccodegen.lower.reduction import Reduction, is_extremum
from ccodegen.ops.cost import FAR, is_dear
from ccodegen.ops.fold import operator_name

_VECTORS_OF_LANES = 4
_LONG, _STREAMS = 1 << 20, 8  # bytes of a row
_SHORT, _FEW_STREAMS = 1 << 14, 2


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


def is_kept(instruction: Instruction, whole: tuple[int, ...]) -> bool:
    """Whether an element of such an array costs so much that it is kept rather than computed
    twice."""
    return is_dear(instruction) and instruction.array_shape.dimensions == whole


def streams(work: Work, found: Sequence[Reduction], lanes: int) -> tuple[int, int]:
    """At how many places of a row reduces of one pass read at once, and with how many of the lanes
    that each may have: memory gives up to twice as much so, if computing does not take longer."""
    first = found[0]
    accumulators = sum(3 if is_extremum(r) else 1 for r in found)
    registers = work.job.target.machine.vector_registers // accumulators
    count = 1
    if not any(is_kept(i, first.dimensions) for i in work.job.fused):
        fits = 1 << max(registers // 2, 1).bit_length() - 1
        count = min(_most_streams(first, accumulators), fits)
    if accumulators > 2 or count * _VECTORS_OF_LANES > registers:
        lanes //= 2  # what each element takes needs registers
    return count, lanes


def _most_streams(reduction: Reduction, accumulators: int) -> int:
    element = reduction.types[0].bytes
    row = reduction.dimensions[-1] * element
    if math.prod(reduction.dimensions) * element < FAR:
        return 1
    if row >= _LONG:
        return _STREAMS
    return _FEW_STREAMS if row >= _SHORT and accumulators == 1 else 1
