"""Reducers of several operands that keep what goes with the largest or smallest value: argmax.

Such a computation only compares and selects. What it does to two elements then depends on nothing
but their order, so that trying all orders, equal values, zeros and NaN among them, is a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ccodegen.hlo.evaluate import Evaluator
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.operators import evaluate
from ccodegen.ops import fold
from ccodegen.ops.creation import Constant, Iota
from ccodegen.ops.elementwise import Compare
from ccodegen.ops.movement import Broadcast, Reshape
from ccodegen.ops.shape_checks import result_types
from ccodegen.support.element_type import ElementType, Kind

_BY_ORDER = frozenset({"parameter", "tuple", "select", "maximum", "minimum"})
_OF_CONDITIONS = frozenset({"and", "or", "not", "xor"})
_MOST_CASES = 10**5


@lru_cache(maxsize=256)
def extremum_operator(computation: Computation, grows: tuple[bool, ...]) -> str:
    """`maximum` or `minimum` where that is what the first operand's results are, but for the signs
    of zeros and NaNs, and the others' results are what goes with the first element that has it,
    NaN being equal to NaN; else nothing.

    `grows`: of which operands the elements grow from one to the next, from the init value on.
    """
    types = result_types(computation)
    if len(types) < 2 or not all(map(_goes_by_order, computation.instructions)):
        return ""
    tables = [_pairs(t, increasing) for t, increasing in zip(types, grows, strict=True)]
    counts = [len(table) for table in tables]
    if math.prod(counts) > _MOST_CASES:
        return ""
    cases = np.indices(counts).reshape(len(counts), -1)
    before = tuple(table[n, 0] for table, n in zip(tables, cases, strict=True))
    after = tuple(table[n, 1] for table, n in zip(tables, cases, strict=True))
    results = fold.call_lifted(Evaluator(), computation, (*before, *after))
    for operator in ("maximum", "minimum"):
        best = evaluate(operator, (before[0], after[0]), types[0])
        stays = _same(best, before[0])
        kept = (np.where(stays, b, a) for b, a in zip(before[1:], after[1:], strict=True))
        if np.all(_same(results[0], best)) and all(
            np.array_equal(_bits(r), _bits(k)) for r, k in zip(results[1:], kept, strict=True)
        ):
            return operator
    return ""


def growing(
    inputs: Sequence[Instruction], initial: Sequence[Instruction], dimension: int
) -> tuple[bool, ...]:
    """Of which inputs of a reduce the elements grow along a dimension, from the init value on."""
    pairs = zip(inputs, initial, strict=True)
    return tuple(_counts(i, dimension) and _is_at_most_zero(start) for i, start in pairs)


def _counts(instruction: Instruction, dimension: int) -> bool:
    """Whether the elements along a dimension are n, n + 1, n + 2, … with n >= 0."""
    attributes, shape = instruction.attributes, instruction.shape
    if isinstance(attributes, Broadcast):
        kept = dimension in attributes.dimensions
        (operand,) = instruction.operands
        return kept and _counts(operand, attributes.dimensions.index(dimension))
    if isinstance(attributes, Reshape):
        (operand,) = instruction.operands
        is_row = operand.array_shape.rank == 1 and dimension == instruction.array_shape.rank - 1
        return is_row and _counts(operand, 0)
    if not isinstance(attributes, Iota) or not isinstance(shape, ArrayShape):
        return False
    element_type = shape.element_type
    digits = element_type.bits - (element_type.kind is Kind.SIGNED)
    fits = element_type.is_integer and shape.dimensions[dimension] <= 2**digits
    return fits and attributes.iota_dimension == dimension


def _is_at_most_zero(instruction: Instruction) -> bool:
    attributes = instruction.attributes
    return isinstance(attributes, Constant) and bool(attributes.literal.array.item() <= 0)


def _goes_by_order(instruction: Instruction) -> bool:
    """Whether it sees no more of its arguments than their order."""
    if isinstance(instruction.attributes, Compare):
        return instruction.attributes.type != "TOTALORDER"
    if instruction.op in _OF_CONDITIONS:
        return instruction.array_shape.element_type is ElementType.PRED
    return instruction.op in _BY_ORDER


def _pairs(element_type: ElementType, increasing: bool) -> fold.Array:
    """What can be told apart of two values, by order alone: one pair each, and some twice."""
    has_nan = element_type.kind in (Kind.FLOAT, Kind.COMPLEX)
    values = np.array([-0.0, 0.0, 1.0, math.nan] if has_nan else [0, 1]).astype(element_type.dtype)
    pairs = [(a, b) for a in values for b in values if not increasing or a <= b]
    return np.array(pairs, element_type.dtype)


def _same(a: fold.Array, b: fold.Array) -> fold.Array:
    both_nan = (a != a) & (b != b)
    return np.asarray((a == b) | both_nan)


def _bits(array: fold.Array) -> fold.Array:
    return np.ascontiguousarray(array).view(np.uint8)
