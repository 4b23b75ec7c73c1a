"""Sizes that we refuse: no program means them, and they would exhaust memory or the stack."""

from __future__ import annotations

import math

from ccodegen.support.errors import InputError

MAX_RANK = 64
MAX_ELEMENTS = 2**40  # of one array
MAX_NESTING = 100  # tuples in tuples, operands in operands, computations in computations


def check_dimensions(dimensions: tuple[int, ...]) -> None:
    """Raises InputError (without a location) for a rank or a number of elements over the limit.

    An empty dimension counts as one element, so that it cannot hide absurd ones.
    """
    if len(dimensions) > MAX_RANK:
        raise InputError(f"the shape has {len(dimensions)} dimensions; at most {MAX_RANK} may be")
    if math.prod(max(1, d) for d in dimensions) > MAX_ELEMENTS:
        raise InputError("the shape has more than 2^40 elements")
