"""Computations over scalars that other ops call: combiners, comparators, anything."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.builder import Builder
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.element_type import ElementType
from tests.random_modules.body import PRED, S32, Body

_EXACT = ("add", "maximum", "minimum", "and", "or")
_COMBINERS = (*_EXACT, "multiply", "xor")


def combiner(body: Body, element_type: ElementType) -> Computation:
    """op(a, b); in an inexact module also any function of two scalars."""
    if not body.exact and body.depth == 0 and body.chance(0.15):
        return anything(body, [element_type] * 2, element_type)
    op = body.random.choice(_EXACT if body.exact else _COMBINERS)
    if element_type.is_complex:
        op = "add"
    return scalar_op(body, op, element_type)


def scalar_op(body: Body, op: str, element_type: ElementType) -> Computation:
    """op(a, b) over scalars."""
    builder = Builder(body.maker.name(op))
    shape = ArrayShape(element_type)
    a, b = builder.parameter(shape), builder.parameter(shape)
    pair = (b, a) if body.chance(0.1) else (a, b)
    return builder.build(builder.op(op, *pair))


def anything(body: Body, types: Sequence[ElementType], result: ElementType) -> Computation:
    """A function of scalars of these types, elementwise throughout."""
    inner = body.inner("scalars")
    for element_type in types:
        inner.parameter(ArrayShape(element_type))
    inner.grow_scalars(body.random.randint(1, 3))
    return inner.build(inner.converted(inner.values[-1], result))


def comparator(body: Body, types: Sequence[ElementType]) -> Computation:
    """Whether one row of several operands stands before another: by one of them, in either
    direction, in total order or not."""
    builder = Builder(body.maker.name("less"))
    pairs = [[builder.parameter(ArrayShape(t)) for _ in range(2)] for t in types]
    ordered = [n for n, t in enumerate(types) if not t.is_complex]
    key = body.random.choice(ordered)
    total = types[key].is_float and body.chance(0.6)
    return builder.build(
        builder.op(
            "compare",
            *pairs[key],
            direction=body.random.choice(("LT", "GT")),
            type="TOTALORDER" if total else "",
        )
    )


def larger_first(body: Body, element_type: ElementType) -> Computation:
    """Of two values with their numbers, the larger one with its."""
    builder = Builder(body.maker.name("larger"))
    shapes = (ArrayShape(element_type), ArrayShape(S32)) * 2
    a, i, b, j = (builder.parameter(shape) for shape in shapes)
    first = builder.op("compare", a, b, direction=body.random.choice(("GE", "GT")))
    chosen = [builder.op("select", first, x, y) for x, y in ((a, b), (i, j))]
    return builder.build(builder.op("tuple", *chosen))


def selector(body: Body, element_type: ElementType) -> Computation:
    """A comparison, as select-and-scatter takes it."""
    builder = Builder(body.maker.name("select"))
    pair = [builder.parameter(ArrayShape(element_type)) for _ in range(2)]
    direction = body.random.choice(("GE", "GE", "GT", "LE", "LT"))
    made = builder.op("compare", *pair, direction=direction)
    assert made.array_shape.element_type is PRED
    return builder.build(made)
