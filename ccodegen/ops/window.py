"""Where a window reads: what reduce-window, select-and-scatter and convolution have in common.

A window dimension puts `lhs_dilation - 1` holes between the elements of the input and pads its
edges (negative padding crops); at output position p the window's k-th element is at place
`p * stride + k * rhs_dilation` of what comes out of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import WindowDimension
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops.index import at_least, divides, less, minus, plus, quotient, times

Array = np.ndarray[Any, Any]


def dilated_and_padded(array: Array, window: Sequence[WindowDimension], value: Array) -> Array:
    """The array with holes and edges filled with `value`, as the windows see it."""
    holes = _with_holes(array, window, value)
    sizes = [max(0, n + w.pad_low + w.pad_high) for n, w in zip(holes.shape, window, strict=True)]
    result = np.full(sizes, value, array.dtype)
    edges = list(zip(window, holes.shape, sizes, strict=True))
    target = tuple(slice(max(0, w.pad_low), max(0, w.pad_low + n)) for w, n, _ in edges)
    source = tuple(
        slice(max(0, -w.pad_low), max(0, min(n, size - w.pad_low))) for w, n, size in edges
    )
    result[target] = holes[source]
    return result


def _with_holes(array: Array, window: Sequence[WindowDimension], value: Array) -> Array:
    sizes = [
        (n - 1) * w.lhs_dilation + 1 if n else 0 for n, w in zip(array.shape, window, strict=True)
    ]
    result = np.full(sizes, value, array.dtype)
    result[tuple(slice(None, None, w.lhs_dilation) for w in window)] = array
    return result


def strided(
    array: Array, window: Sequence[WindowDimension], at: Sequence[int], sizes: Sequence[int]
) -> Array:
    """Element `at` of each window: a view of `sizes` positions of a dilated and padded array."""
    starts = [k * w.rhs_dilation for k, w in zip(at, window, strict=True)]
    return array[
        tuple(
            slice(start, start + max(0, n - 1) * w.stride + min(n, 1), w.stride)
            for start, w, n in zip(starts, window, sizes, strict=True)
        )
    ]


def input_index(
    window: Sequence[WindowDimension],
    input_sizes: Sequence[int],
    output_sizes: Sequence[int],
    positions: Index,
    offsets: Index,
) -> tuple[Expr | None, Index]:
    """The input element under element `offsets` of the window at output `positions`.

    Returns the condition that there is one (None: always) and its index.
    """
    condition: Expr | None = None
    at = []
    for w, n, m, p, k in zip(window, input_sizes, output_sizes, positions, offsets, strict=True):
        place = _place(w, p, k)
        condition = both(condition, _inside(w, n, m, place))
        at.append(quotient(place, w.lhs_dilation))
    return condition, tuple(at)


def both(first: Expr | None, second: Expr | None) -> Expr | None:
    """The conjunction, where None is true; `second` is evaluated only if `first` holds."""
    if first is None or second is None:
        return first or second
    return apply("and", first, second)


def _place(w: WindowDimension, position: Expr, offset: Expr) -> Expr:
    """The place in the dilated, not yet padded input; may be outside."""
    place = plus(times(position, w.stride), times(offset, w.rhs_dilation))
    return minus(place, w.pad_low)


def _inside(w: WindowDimension, size: int, positions: int, place: Expr) -> Expr | None:
    """The condition that the place is an element of the input; None where it always is."""
    last = (size - 1) * w.lhs_dilation
    condition = None
    if w.pad_low > 0:
        condition = at_least(place, 0)
    if (positions - 1) * w.stride + w.extent - 1 - w.pad_low > last or not size:
        condition = both(condition, less(place, last + 1))
    if w.lhs_dilation > 1:
        condition = both(condition, divides(w.lhs_dilation, place))
    return condition
