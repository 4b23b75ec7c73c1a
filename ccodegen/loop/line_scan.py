"""What a running sum along a line gives, in the very order of the C function of that name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.loop.operators import evaluate
from ccodegen.support.element_type import from_dtype
from ccodegen.support.pattern import pattern

Array: TypeAlias = np.ndarray[Any, Any]

_NAME = pattern(r"ccg_scan_(back_)?([a-z]+)_([fsu]\d+)_(\d+)")


def is_line_scan(function: str) -> bool:
    """Whether a C function of this name is one that `scan` does."""
    return _NAME.fullmatch(function) is not None


def scan(function: str, arrays: Sequence[Array], scalars: Sequence[Any]) -> None:
    """See emit/line_scan.py for the arguments: results and values, then offset, count, initial."""
    match = _NAME.fullmatch(function)
    assert match is not None, function
    results, values = (a.reshape(-1) for a in arrays)
    offset, count = map(int, scalars[:2])
    step = -1 if match[1] else 1
    line = values[offset : offset + count][::step]
    scanned = _scanned(match[2], line, np.asarray(scalars[2], line.dtype), int(match[4]))
    results[offset : offset + count][::step] = scanned


def _scanned(operator: str, line: Array, initial: Array, lanes: int) -> Array:
    """The groups by themselves, all at once; then what each makes of those before."""
    whole = line.size - line.size % lanes
    groups = line[:whole].reshape(-1, lanes).copy()
    distance = 1
    while distance < lanes:
        groups[:, distance:] = _joined(operator, groups[:, :-distance], groups[:, distance:])
        distance *= 2
    parts = []
    for part in (*groups, *line[whole:, None]):
        parts.append(_joined(operator, np.broadcast_to(initial, part.shape), part))
        initial = parts[-1][-1]
    return np.concatenate([line[:0], *parts])


def _joined(operator: str, a: Array, b: Array) -> Array:
    return evaluate(operator, (a, b), from_dtype(b.dtype))
