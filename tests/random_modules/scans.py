"""Ops that run a computation turn by turn: scan, and map of more than arithmetic."""

from __future__ import annotations

from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.errors import InputError
from tests.random_modules.body import Body

_MOST_TURNS = 8
_MOST_CALLS = 40  # the evaluator calls a map's function for each element


def scan(body: Body) -> Instruction:
    """Over slices of one or two arrays, with one or two carries; the computation works element by
    element, or does anything."""
    first = body.any(1)
    shape = first.array_shape
    axis = body.random.randrange(shape.rank)
    if shape.dimensions[axis] > _MOST_TURNS:
        raise InputError("too many turns")
    inputs = [first]
    if body.chance(0.3):
        inputs.append(body.like(shape.with_dimensions(shape.dimensions).with_type(body.type())))
    sizes = (*shape.dimensions[:axis], *shape.dimensions[axis + 1 :])
    slices = [ArrayShape(v.array_shape.element_type, sizes) for v in inputs]
    is_plain = body.chance(0.5)
    carried = [
        ArrayShape(body.type(), sizes) if is_plain else body.shape()
        for _ in range(body.random.choice((0, 1, 1, 2)))
    ]
    made = body.op(
        "scan",
        *inputs,
        *map(body.like, carried),
        dimensions=(axis,),
        num_carries=len(carried),
        to_apply=_turn(body, slices, carried, is_plain),
        is_reverse=body.chance(0.4),
    )
    return body.one_of(made)


def _turn(
    body: Body, slices: list[ArrayShape], carried: list[ArrayShape], is_plain: bool
) -> Computation:
    """Of a slice of each input and the carries: slices of outputs, and the new carries. Outputs
    have a dimension where the scanned one goes."""
    inner = body.inner("turn")
    for shape in (*slices, *carried):
        inner.parameter(shape)
    grow = inner.grow_scalars if is_plain else inner.grow
    grow(body.random.randint(1, 4))
    rank = slices[0].rank
    candidates = [v for v in inner.values if v.array_shape.rank >= rank]
    count = body.random.randint(0 if carried else 1, 2)
    results = [body.random.choice(candidates[-3:]) for _ in range(count)]
    results += [_newest(inner, shape) for shape in carried]
    if len(results) == 1 and body.chance(0.5):
        return inner.build(results[0])
    return inner.build(inner.tuple(results))


def _newest(body: Body, shape: ArrayShape) -> Instruction:
    fitting = [v for v in body.values if v.shape == shape]
    return body.random.choice(fitting[-2:]) if body.chance(0.8) else body.like(shape)


def map_of_anything(body: Body) -> Instruction:
    """The function of a few scalars has control flow, arrays, anything."""
    first = body.any()
    shape = first.array_shape
    if shape.size > _MOST_CALLS:
        raise InputError("too many calls")
    types = [shape.element_type, *(body.type() for _ in range(body.random.randint(0, 2)))]
    operands = [first, *(body.like(ArrayShape(t, shape.dimensions)) for t in types[1:])]
    inner = body.inner("function")
    for element_type in types:
        inner.parameter(ArrayShape(element_type))
    inner.grow(body.random.randint(1, 4))
    function = inner.build(inner.fitted(inner.values[-1], ArrayShape(body.type())))
    dimensions = tuple(range(shape.rank))
    return body.op("map", *operands, to_apply=function, dimensions=dimensions)
