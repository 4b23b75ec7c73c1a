"""Windows as long as the axis, padded so that each output folds one more element: cumsum and kin.

A prefix window has size n and n - 1 elements of low padding, so output i folds the init value
n - 1 - i times and then elements 0 … i. Where the computation leaves the init value as it is when
applied to it twice, that is what a single running fold holds after element i, bit for bit. A
suffix window (high padding) folds elements i … n-1. Run from the end they come in the same order,
but are combined in another one, which StableHLO's specification leaves open: computation and init
value have to be a monoid. Of one op, where it is known to be no monoid's, they are not run so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ccodegen.hlo.attributes import Window, WindowDimension
from ccodegen.hlo.evaluate import Evaluator
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops import fold
from ccodegen.ops.creation import Constant
from ccodegen.ops.shape_checks import result_types
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_T = TypeVar("_T")

_ASSOCIATIVE = frozenset(["add", "multiply", "and", "or", "xor", "minimum", "maximum"])
_ANY_ORDER_FLOATS = frozenset({"minimum", "maximum"})


@immutable
class RunningFold:
    """`dimension`: the axis. `backwards`: a suffix window. `exact`: the running fold gives the
    very bits of the windows; else it gives another rounding, as of the same sums or products."""

    dimension: int
    backwards: bool
    exact: bool

    def arguments(self, before: Sequence[_T], elements: Sequence[_T]) -> tuple[_T, ...]:
        """The accumulators before a turn and its elements, in the order of the axis."""
        return (*elements, *before) if self.backwards else (*before, *elements)


def find(
    window: Window, computation: Computation, sizes: Sequence[int]
) -> RunningFold | None:
    """The running fold that equals the windows over an input of these sizes, provided that the
    init value is neutral (`is_neutral`)."""
    long = [d for d, w in enumerate(window.dimensions) if w != WindowDimension()]
    if len(long) != 1:
        return None
    d, n = long[0], sizes[long[0]]
    if window.dimensions[d] == WindowDimension(size=n, pad_low=n - 1):
        return RunningFold(d, backwards=False, exact=True)
    if window.dimensions[d] == WindowDimension(size=n, pad_high=n - 1):
        types, operator = result_types(computation), fold.operator_name(computation)
        scalars = [p.array_shape for p in computation.parameters]
        if scalars != 2 * [ArrayShape(t) for t in types] or operator not in (*_ASSOCIATIVE, ""):
            return None
        return RunningFold(d, backwards=True, exact=operator in _any_order(types[0]))
    return None


def _any_order(element_type: ElementType) -> frozenset[str]:
    """The operators that give the same bits in any order."""
    if element_type.is_complex:
        return frozenset()
    return _ANY_ORDER_FLOATS if element_type.is_float else _ASSOCIATIVE


def is_neutral(evaluator: Any, computation: Computation, initial: fold.Arrays) -> bool:
    """Whether the computation of the init values and themselves gives them back, bit for bit."""
    results = fold.as_tuple(evaluator.call(computation, *initial, *initial))
    return all(
        a.dtype == b.dtype and a.tobytes() == b.tobytes()
        for a, b in zip(results, initial, strict=True)
    )


def with_constant_init(
    window: Window, computation: Computation, operands: Sequence[Instruction]
) -> RunningFold | None:
    """`find` for a reduce-window's operands whose init values are neutral constants."""
    count = len(operands) // 2
    found = find(window, computation, operands[0].array_shape.dimensions)
    initial = [o.attributes for o in operands[count:]]
    arrays = tuple(a.literal.array for a in initial if isinstance(a, Constant))
    if found is None or len(arrays) < count:
        return None
    return found if is_neutral(Evaluator(), computation, arrays) else None


def evaluate(
    evaluator: Any,
    computation: Computation,
    running: RunningFold,
    inputs: fold.Arrays,
    initial: fold.Arrays,
) -> fold.Arrays:
    moved = tuple(np.moveaxis(x, running.dimension, 0) for x in inputs)
    ordered = tuple(x[::-1] if running.backwards else x for x in moved)
    starts = [np.broadcast_to(init, ordered[0].shape[1:]) for init in initial]
    results = fold.running(evaluator, computation, starts, ordered)
    restored = (r[::-1] if running.backwards else r for r in results)
    return tuple(np.moveaxis(r, 0, running.dimension) for r in restored)
