"""Ops that fold with a computation: reduce, reduce-window, select-and-scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ccodegen.hlo.attributes import Window, WindowDimension
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.errors import InputError
from tests.random_modules.body import S32, Body
from tests.random_modules.functions import combiner, larger_first, scalar_op, selector


def reduce(body: Body) -> Instruction:
    value = body.any(1)
    rank = value.array_shape.rank
    return reduced(body, value, body.random.sample(range(rank), body.random.randint(0, rank)))


def reduced(body: Body, value: Instruction, dimensions: Sequence[int]) -> Instruction:
    """A reduce of these dimensions, with any function."""
    element_type = value.array_shape.element_type
    function = combiner(body, element_type)
    initial = _initial(body, function, element_type)
    return body.op("reduce", value, initial, dimensions=tuple(dimensions), to_apply=function)


def _initial(body: Body, function: Computation, element_type: ElementType) -> Instruction:
    """Any value; where only such will do, one that changes nothing."""
    if not body.maker.neutral:
        return body.scalar(element_type)
    value = _neutral(function.root.op, element_type)
    return body.builder.constant(value, ArrayShape(element_type))


def _neutral(op: str, element_type: ElementType) -> float:
    if op not in ("and", "minimum", "maximum") or element_type.is_complex:
        return 0
    if element_type.is_float:
        return math.inf if op == "minimum" else -math.inf
    signed = element_type.kind is Kind.SIGNED
    least = -(1 << (element_type.bits - 1)) if signed else 0
    most = (1 << (element_type.bits - signed)) - 1
    return {"and": -1 if signed else most, "minimum": most, "maximum": least}[op]


def arg_maximum(body: Body) -> Instruction:
    """A reduce of two operands: the larger value, and its number."""
    if body.maker.neutral:
        raise InputError("whether a number counts depends on what it goes with")
    value = body.any(1, lambda t: not t.is_complex)
    shape = value.array_shape
    axis = body.random.randrange(shape.rank)
    numbers = body.op("iota", shape=shape.with_type(S32), iota_dimension=axis)
    results = body.op(
        "reduce",
        value,
        numbers,
        body.scalar(shape.element_type),
        body.scalar(S32),
        dimensions=(axis,),
        to_apply=larger_first(body, shape.element_type),
    )
    return body.one_of(results)


def normalise(body: Body) -> Instruction:
    """A value less or over what a reduce of it gives, row by row."""
    value = body.any(1)
    shape = value.array_shape
    rank = shape.rank
    dimensions = tuple(sorted(body.random.sample(range(rank), body.random.randint(1, rank))))
    kept = tuple(d for d in range(rank) if d not in dimensions)
    function = scalar_op(body, body.random.choice(("add", "maximum")), shape.element_type)
    initial = _initial(body, function, shape.element_type)
    total = body.op("reduce", value, initial, dimensions=dimensions, to_apply=function)
    if body.chance(0.5):
        total = body.op(body.random.choice(("negate", "sign")), total)
    if body.chance(0.2):
        body.add(total)
    spread = body.op("broadcast", total, shape=shape, dimensions=kept)
    made = body.op("subtract", value, spread)
    if body.exact or not shape.element_type.is_float or body.chance(0.5):
        return made
    return body.op(body.random.choice(("exponential", "tanh")), made)


def reduce_window(body: Body) -> Instruction:
    value = body.any(1)
    element_type = value.array_shape.element_type
    dimensions = tuple(window_dimension(body, n) for n in value.array_shape.dimensions)
    function = combiner(body, element_type)
    return body.op(
        "reduce-window",
        value,
        _initial(body, function, element_type),
        to_apply=function,
        window=Window(dimensions),
    )


def window_dimension(body: Body, size: int) -> WindowDimension:
    """Over so many elements; now and then as long as they are, for a running fold."""
    if size and body.chance(0.2):
        pad = (size - 1, 0) if body.chance(0.5) else (0, size - 1)
        return WindowDimension(size, pad_low=pad[0], pad_high=pad[1])
    return WindowDimension(
        body.random.randint(1, 3),
        stride=body.random.choice((1, 1, 2, 3)),
        pad_low=body.random.choice((0, 0, 1, 2, -1)),
        pad_high=body.random.choice((0, 0, 1, 3, -1)),
        lhs_dilation=body.random.choice((1, 1, 1, 2, 3)),
        rhs_dilation=body.random.choice((1, 1, 2)),
    )


def select_and_scatter(body: Body) -> Instruction:
    value = body.any(1, lambda t: not t.is_complex)
    shape = value.array_shape
    choose = body.random.choice
    dimensions = tuple(
        WindowDimension(
            choose((1, 2, 3)), choose((1, 1, 2)), choose((0, 0, 1)), choose((0, 0, 1))
        )
        for _ in shape.dimensions
    )
    sizes = [w.output_size(n) for w, n in zip(dimensions, shape.dimensions, strict=True)]
    return body.op(
        "select-and-scatter",
        value,
        body.like(shape.with_dimensions(tuple(sizes))),
        body.scalar(shape.element_type),
        select=selector(body, shape.element_type),
        scatter=combiner(body, shape.element_type),
        window=Window(dimensions),
    )
