"""What the functions do that a CallC names, for the interpreter."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.support import c_routine
from ccodegen.support.errors import InternalError

Arrays: TypeAlias = Sequence[np.ndarray[Any, Any]]
Effect: TypeAlias = Callable[[Arrays, Sequence[Any]], None]
"""Of arrays, which it changes in place, and scalars."""

_TILE = re.compile(r"ccg_tile_[a-z]\w+_(\d+)x(\d+)")


def effect_of(function: str) -> Effect:
    """Raises InternalError for a function that is not known here."""
    match = _TILE.fullmatch(function)
    if match is None and c_routine.is_routine(function):
        return functools.partial(c_routine.call, function)
    if match is None:
        raise InternalError(f"the interpreter does not know the function {function}")
    return _tile(int(match[1]), int(match[2]))


def _tile(rows: int, columns: int) -> Effect:
    """sums = lhs · rhs, added in order along the depth; see emit/tile.py for the arguments."""

    def effect(arrays: Arrays, scalars: Sequence[Any]) -> None:
        sums, lhs, rhs = (a.reshape(-1) for a in arrays)
        offset, row_step, depth_step, rhs_offset, depth = map(int, scalars)
        total = np.zeros((rows, columns), sums.dtype)
        for k in range(depth):
            left = lhs[offset + np.arange(rows) * row_step + k * depth_step]
            right = rhs[rhs_offset + k * columns : rhs_offset + (k + 1) * columns]
            total += left[:, None] * right[None, :]
        sums[:] = total.reshape(-1)

    return effect
