"""rng-get-and-update-state: a counter of 128 bits that lives from one call to the next.

It is read as u64[2], the low word first, then `delta` is added. A program has one counter, from
which its instructions draw in the order in which they run. The evaluator begins each evaluation
with its first value; `passes.thread_random_state` makes it a parameter and a result of the program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, SliceDimension, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.random_state import words
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import constant, derived, slice_of
from ccodegen.ops.elementwise import Compare
from ccodegen.ops.fold import Array
from ccodegen.ops.movement import Concatenate
from ccodegen.ops.shape_checks import require
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen

STATE = ArrayShape(ElementType.U64, (2,))


@frozen
class RngGetAndUpdateState(Attributes):
    """`delta` is added to the state after it is read."""

    delta: int = attr(AttrKind.INT)


def check(instruction: Instruction) -> None:
    shape = instruction.shape
    fits = isinstance(shape, ArrayShape) and shape.dimensions == STATE.dimensions
    require(
        fits and instruction.array_shape.element_type is ElementType.U64,
        f"rng-get-and-update-state gives {STATE}, not {shape}",
    )


def evaluate(evaluator: Any, instruction: Instruction) -> Array:
    delta = attributes_of(instruction, RngGetAndUpdateState).delta
    return np.array(evaluator.random_state.draw(delta), np.uint64)


def state_read(origin: Instruction, delta: int) -> Instruction:
    """The instruction that reads the state, to which `delta` is added then."""
    return derived(origin, "rng-get-and-update-state", STATE, (), RngGetAndUpdateState(delta))


def advanced(origin: Instruction, state: Instruction, delta: int) -> Instruction:
    """The state plus `delta`, as an addition of words with carry."""
    word = ArrayShape(ElementType.U64, (1,))
    low, high = (
        slice_of(origin, state, (SliceDimension(n, n + 1, 1),)) for n in range(2)
    )
    added = [constant(origin, np.array([w], np.uint64)) for w in words(delta)]
    low_sum = derived(origin, "add", word, (low, added[0]))
    is_over = derived(
        origin, "compare", word.with_type(ElementType.PRED), (low_sum, low), Compare("LT")
    )
    carry = derived(origin, "convert", word, (is_over,))
    high_sum = derived(origin, "add", word, (high, added[1]))
    high_sum = derived(origin, "add", word, (high_sum, carry))
    return derived(origin, "concatenate", STATE, (low_sum, high_sum), Concatenate((0,)))


register(
    OpDef(
        "rng-get-and-update-state",
        RngGetAndUpdateState,
        (0, 0),
        check=check,
        evaluate=evaluate,
        side_effect=True,
    )
)
