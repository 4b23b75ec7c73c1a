"""Builds while loops that count, for ops that expand to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape, TupleShape
from ccodegen.ops.build import constant, derived, element_of, reshape, tuple_of
from ccodegen.ops.control import While
from ccodegen.ops.creation import Parameter
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.ops.elementwise import Compare
from ccodegen.support.element_type import ElementType

S64 = ArrayShape(ElementType.S64)
Body = Callable[[Instruction, list[Instruction]], Sequence[Instruction]]


def counted_loop(
    origin: Instruction, count: int, state: Sequence[Instruction], body: Body
) -> list[Instruction]:
    """The state after `count` turns. `body(i, state)` gives the next state; i counts from zero."""
    if count == 0:
        return list(state)
    first = tuple_of(origin, (number(origin, 0), *state))
    inside = _parameter(origin, first.shape)
    i, *values = _elements(origin, inside)
    following = derived(origin, "add", S64, (i, number(origin, 1)))
    root = tuple_of(origin, (following, *body(i, values)))
    turned = Computation(f"{origin.name}_turn", (inside,), root)
    attributes = While(_more(origin, first, count), turned)
    loop = derived(origin, "while", first.shape, (first,), attributes)
    return _elements(origin, loop)[1:]


def _more(origin: Instruction, first: Instruction, count: int) -> Computation:
    """Whether fewer than `count` turns are done."""
    inside = _parameter(origin, first.shape)
    done = element_of(origin, inside, 0)
    flag = ArrayShape(ElementType.PRED)
    root = derived(origin, "compare", flag, (done, number(origin, count)), Compare("LT"))
    return Computation(f"{origin.name}_more", (inside,), root)


def slice_at(
    origin: Instruction, array: Instruction, dimension: int, i: Instruction
) -> Instruction:
    """The slice number i of a dimension, which it does not have any more."""
    sizes = array.array_shape.dimensions
    window = (*sizes[:dimension], 1, *sizes[dimension + 1 :])
    shape = array.array_shape.with_dimensions(window)
    starts = _starts(origin, len(sizes), dimension, i)
    taken = derived(origin, "dynamic-slice", shape, (array, *starts), DynamicSlice(window))
    return reshape(origin, taken, (*sizes[:dimension], *sizes[dimension + 1 :]))


def with_slice_at(
    origin: Instruction,
    array: Instruction,
    dimension: int,
    i: Instruction,
    value: Instruction,
) -> Instruction:
    """The array with slice number i of a dimension replaced."""
    sizes = array.array_shape.dimensions
    update = reshape(origin, value, (*sizes[:dimension], 1, *sizes[dimension + 1 :]))
    starts = _starts(origin, len(sizes), dimension, i)
    shape = array.array_shape
    return derived(origin, "dynamic-update-slice", shape, (array, update, *starts))


def _starts(
    origin: Instruction, rank: int, dimension: int, i: Instruction
) -> list[Instruction]:
    return [i if d == dimension else number(origin, 0) for d in range(rank)]


def _parameter(origin: Instruction, shape: object) -> Instruction:
    assert isinstance(shape, TupleShape)
    return derived(origin, "parameter", shape, (), Parameter(0))


def _elements(origin: Instruction, value: Instruction) -> list[Instruction]:
    assert isinstance(value.shape, TupleShape)
    return [element_of(origin, value, n) for n in range(len(value.shape.elements))]


def number(origin: Instruction, value: int) -> Instruction:
    """Of the type in which loops count."""
    return constant(origin, np.array(value, np.int64))
