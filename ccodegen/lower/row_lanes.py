"""How many accumulators the reduces of rows take side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ccodegen.loop.builder import vector_kind
from ccodegen.loop.ir import LoopKind
from ccodegen.lower.extremum import LEAST_LANES, find_extremum
from ccodegen.lower.job import Work
from ccodegen.lower.reduction import Reduction, accumulator_count, has_any_order, is_extremum

_VECTORS_OF_LANES = 4
_MOST_WAYS = 4
_FEW_TURNS = 4


def lane_count(work: Work, reduction: Reduction) -> int:
    """How many accumulators pay: 1 for combiners that we do not know, and for those whose order
    counts in strict mode."""
    if not reduction.reduced or reduction.reduced[-1] != len(reduction.dimensions) - 1:
        return 1
    vector_elements = work.job.target.machine.vector_elements(reduction.types[0].bytes)
    if vector_elements == 1 or not _any_order(work, reduction):
        return 1
    least = 4 if len(reduction.inputs) == 1 else LEAST_LANES
    wanted = LEAST_LANES if is_extremum(reduction) else least
    lanes = max(_VECTORS_OF_LANES * vector_elements, wanted)
    turns = 1 if is_extremum(reduction) or _turns_around(reduction) > 1 else 2
    while lanes > 1 and lanes * turns > reduction.dimensions[-1]:
        lanes //= 2
    return lanes if lanes >= least else 1  # fewer are no gain


def lane_ways(work: Work, found: Sequence[Reduction], lanes: int) -> int:
    """How many turns around the last reduced dimension have lanes of their own, where there are
    fewer than would pay: else each turn waits for the one before."""
    vector_elements = work.job.target.machine.vector_elements(found[0].types[0].bytes)
    most = lanes_together(found, _VECTORS_OF_LANES * vector_elements) // lanes
    ways = 1
    while 2 * ways <= min(most, _MOST_WAYS, _turns_around(found[0])):
        ways *= 2
    return ways


def kind_of_lanes(work: Work, found: Sequence[Reduction], lanes: int) -> LoopKind:
    """Of loops over lanes. Sums gcc keeps in registers where it unrolls the lanes; of short rows it
    does so in any case, and makes a vector out of single elements where the last turn has fewer."""
    vector = work.job.target.machine.vector_elements(found[0].types[0].bytes)
    is_short = lanes <= 2 * vector and found[0].dimensions[-1] < _FEW_TURNS * lanes
    return vector_kind(lanes) if is_short or any(map(is_extremum, found)) else LoopKind.VECTOR


def _turns_around(reduction: Reduction) -> int:
    return math.prod(reduction.reduced_dimensions[-2:-1])


def _any_order(work: Work, reduction: Reduction) -> bool:
    """Whether we may combine elements in any order, and know how."""
    if len(reduction.inputs) > 1:
        return bool(find_extremum(reduction))
    return not work.job.strict and has_any_order(reduction)


def lanes_together(found: Sequence[Reduction], lanes: int) -> int:
    """How many of the lanes that each may have the reduces of one pass take: what each element
    takes needs registers."""
    accumulators = sum(map(accumulator_count, found))
    return lanes // 2 if accumulators > 2 and lanes // 2 >= LEAST_LANES else lanes
