"""Ops that move elements and compute nothing."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.layout import is_packed
from ccodegen.hlo.shape import Layout
from ccodegen.support.element_type import Kind
from ccodegen.support.errors import InputError
from tests.random_modules.body import Body
from tests.random_modules.values import SIZES, factors


def broadcast(body: Body) -> Instruction:
    """With new dimensions anywhere; the old ones in any order now and then."""
    value = body.any()
    sizes = list(value.array_shape.dimensions)
    places = list(range(len(sizes)))
    for _ in range(body.random.randint(0, 2)):
        place = body.random.randint(0, len(sizes))
        sizes.insert(place, body.random.choice(SIZES))
        places = [p + (p >= place) for p in places]
    shape = value.array_shape.with_dimensions(tuple(sizes))
    return body.op("broadcast", value, shape=shape, dimensions=tuple(places))


def reshape(body: Body) -> Instruction:
    """With the prime factors of the sizes grouped anew."""
    value = body.any()
    sizes: list[int] = []
    for factor in (f for d in value.array_shape.dimensions for f in factors(d)):
        if sizes and body.chance(0.5):
            sizes[-1] *= factor
        else:
            sizes.append(factor)
    if body.chance(0.3):
        sizes.insert(body.random.randint(0, len(sizes)), 1)
    op = "bitcast" if body.chance(0.1) and not is_packed(value.array_shape) else "reshape"
    return body.op(op, value, shape=value.array_shape.with_dimensions(tuple(sizes)))


def laid_out(body: Body) -> Instruction:
    """A bitcast of a copy in another order of dimensions: a transpose in disguise."""
    value = body.any(2)
    shape = value.array_shape
    order = list(range(shape.rank))
    body.random.shuffle(order)
    physical = replace(shape, layout=Layout(tuple(reversed(order))))
    copied = body.op("copy", value, shape=physical)
    rows = tuple(shape.dimensions[d] for d in order)
    return body.op("bitcast", copied, shape=shape.with_dimensions(rows))


def transpose(body: Body) -> Instruction:
    value = body.any(1)
    order = list(range(value.array_shape.rank))
    body.random.shuffle(order)
    return body.op("transpose", value, dimensions=tuple(order))


def reverse(body: Body) -> Instruction:
    value = body.any(1)
    rank = value.array_shape.rank
    chosen = body.random.sample(range(rank), body.random.randint(1, rank))
    return body.op("reverse", value, dimensions=tuple(sorted(chosen)))


def slice_(body: Body) -> Instruction:
    value = body.any(1)
    parts = []
    for size in value.array_shape.dimensions:
        start = body.random.randint(0, size)
        limit = body.random.randint(start, size)
        parts.append(SliceDimension(start, limit, body.random.choice((1, 1, 2, 3))))
    return body.op("slice", value, slice=tuple(parts))


def pad(body: Body) -> Instruction:
    value = body.any(1)
    padding = tuple(
        PaddingDimension(
            body.random.choice((-2, -1, 0, 0, 1, 2)),
            body.random.choice((-1, 0, 0, 2)),
            body.random.choice((0, 0, 1, 2)),
        )
        for _ in value.array_shape.dimensions
    )
    return body.op("pad", value, body.scalar(value.array_shape.element_type), padding=padding)


def concatenate(body: Body) -> Instruction:
    first = body.any(1)
    axis = body.random.randrange(first.array_shape.rank)
    operands = [first]
    for _ in range(body.random.randint(0, 3)):
        sizes = list(first.array_shape.dimensions)
        sizes[axis] = body.random.choice((sizes[axis], body.random.choice(SIZES)))
        operands.append(body.like(first.array_shape.with_dimensions(tuple(sizes))))
    body.random.shuffle(operands)
    return body.op("concatenate", *operands, dimensions=(axis,))


def iota(body: Body) -> Instruction:
    shape = body.shape(body.type_where(lambda t: t.kind is not Kind.PRED))
    if not shape.rank:
        raise InputError("iota has a dimension")
    return body.op("iota", shape=shape, iota_dimension=body.random.randrange(shape.rank))


def constant(body: Body) -> Instruction:
    return body.constant(body.shape())
