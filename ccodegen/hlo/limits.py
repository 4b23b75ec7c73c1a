"""Sizes that we refuse: no program means them, and they would exhaust memory or the stack."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ccodegen.hlo.ir import Computation
from ccodegen.support.errors import InputError

MAX_RANK = 64
MAX_ELEMENTS = 2**40  # of one array
MAX_NESTING = 100  # tuples in tuples, operands in operands
MAX_CALLS = 100  # computations that call one another in a row
MAX_INSTRUCTIONS = 2**20  # with each computation counted as often as it is called


def check_dimensions(dimensions: tuple[int, ...]) -> None:
    """Raises InputError (without a location) for a rank or a number of elements over the limit.

    An empty dimension counts as one element, so that it cannot hide absurd ones.
    """
    if len(dimensions) > MAX_RANK:
        raise InputError(f"the shape has {len(dimensions)} dimensions; at most {MAX_RANK} may be")
    if math.prod(max(1, d) for d in dimensions) > MAX_ELEMENTS:
        raise InputError("the shape has more than 2^40 elements")


def check_calls(computations: Iterable[Computation]) -> None:
    """Raises InputError for calls that go too deep, or run too much in all.

    Computations come after those that they call.
    """
    depths: dict[Computation, int] = {}
    sizes: dict[Computation, int] = {}
    for computation in computations:
        depths[computation], sizes[computation] = 1, len(computation.instructions)
        for instruction in computation.instructions:
            for called in instruction.attributes.computations():
                depths[computation] = max(depths[computation], 1 + depths[called])
                sizes[computation] += sizes[called]
            if depths[computation] > MAX_CALLS:
                message = f"computations call one another more than {MAX_CALLS} deep"
                raise InputError(message, instruction.location)
            if sizes[computation] > MAX_INSTRUCTIONS:
                message = "with what it calls, the program has more than 2^20 instructions"
                raise InputError(message, instruction.location)
