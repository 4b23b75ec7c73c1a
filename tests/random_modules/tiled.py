"""dot and convolution large enough for register tiles, between ops that fuse with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ccodegen.hlo.attributes import DimLabels, Window, WindowDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.errors import InputError
from tests.random_modules.body import Body
from tests.random_modules.contractions import placed, shuffled
from tests.random_modules.functions import scalar_op
from tests.random_modules.producers import produced
from tests.random_modules.values import MOST_ELEMENTS

_LEAST_WORK = 1 << 13  # lower/contract_tiles.py packs from so many multiplications on
_MOST_WORK = 1 << 15  # that a module still takes milliseconds
# Sums of the narrow types are f32 and s32.
_TYPES = ("f32", "f32", "f32", "f64", "f16", "bf16", "s8", "u8", "s16", "s32")
_SIDES = (3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24, 31, 32, 35)


@dataclass(frozen=True)
class _Operand:
    """An array, and where its batch, depth and other dimensions stand in it."""

    array: Instruction
    batch: tuple[int, ...]
    depth: tuple[int, ...]


def dot(body: Body) -> Instruction:
    choose = body.random.choice
    kind = HLO_TYPES[choose(_TYPES)]
    batch = choose(((), (), (), (1,), (2,), (3,), (2, 2)))
    rows, columns = choose(_SIDES), choose(_SIDES)
    if rows * columns * math.prod(batch) > MOST_ELEMENTS:
        raise InputError("too large a result")
    depth = max(4, -(-_LEAST_WORK // (rows * columns))) + body.random.randint(0, 9)
    parts = choose((1, 1, 2, 3))
    depths = (depth,) if parts == 1 else (parts, -(-depth // parts))
    other = HLO_TYPES[choose(("s8", "u8", "s16"))] if kind.bits == 8 else kind
    left = _operand(body, kind, batch, depths, _factored(body, rows))
    right = _operand(body, other, batch, depths, _factored(body, columns))
    product = body.op(
        "dot",
        left.array,
        right.array,
        shape=_result(body, left, right, kind),
        lhs_batch_dims=left.batch,
        lhs_contracting_dims=left.depth,
        rhs_batch_dims=right.batch,
        rhs_contracting_dims=right.depth,
    )
    return _finished(body, product)


def _factored(body: Body, size: int) -> tuple[int, ...]:
    """As one dimension, or as two."""
    divisors = [n for n in (2, 3, 4, 5, 7) if size % n == 0]
    if not divisors or body.chance(0.6):
        return (size,)
    divisor = body.random.choice(divisors)
    return divisor, size // divisor


def _operand(
    body: Body,
    kind: ElementType,
    batch: Sequence[int],
    depth: Sequence[int],
    other: Sequence[int],
) -> _Operand:
    sizes = [*batch, *depth, *other]
    in_order = body.chance(0.3)
    places = tuple(range(len(sizes))) if in_order else shuffled(body, len(sizes))
    array = produced(body, placed(kind, places, sizes))
    return _Operand(array, places[: len(batch)], places[len(batch) : len(batch) + len(depth)])


def _result(body: Body, left: _Operand, right: _Operand, kind: ElementType) -> ArrayShape:
    def others(operand: _Operand) -> list[int]:
        used = operand.batch + operand.depth
        sizes = operand.array.array_shape.dimensions
        return [n for d, n in enumerate(sizes) if d not in used]

    batch = [left.array.array_shape.dimensions[d] for d in left.batch]
    wide = HLO_TYPES["f32" if kind.is_float else "s32"]
    result = wide if kind.bits < 32 and body.chance(0.5) else kind
    return ArrayShape(result, (*batch, *others(left), *others(right)))


def convolution(body: Body) -> Instruction:
    choose = body.random.choice
    kind = HLO_TYPES[choose(_TYPES)]
    spatial, groups = choose((1, 2, 2)), choose((1, 1, 1, 2))
    batch, features, outputs = choose((1, 1, 2)), choose((1, 2, 3, 8)), choose((4, 5, 8, 16))
    window = Window(tuple(_window(body, spatial) for _ in range(spatial)))
    wanted = MOST_ELEMENTS / (batch * outputs * groups)
    side = int(wanted ** (1 / spatial))
    extents = [_extent(w, body.random.randint(side * 2 // 3, side)) for w in window.dimensions]
    produced_sizes = [w.output_size(n) for w, n in zip(window.dimensions, extents, strict=True)]
    kernel = [w.size for w in window.dimensions]
    work = batch * math.prod(produced_sizes) * outputs * features * math.prod(kernel)
    if not _LEAST_WORK <= work <= _MOST_WORK:
        raise InputError("too little work, or too much")
    lhs, rhs, out = (shuffled(body, spatial + 2) for _ in range(3))
    labels = DimLabels(
        lhs[0], lhs[1], lhs[2:], rhs[0], rhs[1], rhs[2:], out[0], out[1], out[2:]
    )
    made = body.op(
        "convolution",
        produced(body, placed(kind, lhs, [batch, features * groups, *extents])),
        produced(body, placed(kind, rhs, [features, outputs * groups, *kernel])),
        shape=placed(kind, out, [batch, outputs * groups, *produced_sizes]),
        dim_labels=labels,
        window=window,
        feature_group_count=groups,
    )
    return _finished(body, made)


def _window(body: Body, spatial: int) -> WindowDimension:
    choose = body.random.choice
    return WindowDimension(
        choose((1, 2, 3, 3) if spatial == 2 else (3, 5, 9)),
        stride=choose((1, 1, 1, 2)),
        pad_low=choose((0, 0, 1, 2)),
        pad_high=choose((0, 1, 3)),
        lhs_dilation=choose((1, 1, 1, 2)),
        rhs_dilation=choose((1, 1, 2)),
        reversal=body.chance(0.2),
    )


def _extent(window: WindowDimension, produced_size: int) -> int:
    """The least size that gives so many windows or more."""
    size = 1
    while window.output_size(size) < produced_size:
        size += 1
    return size


def _finished(body: Body, value: Instruction) -> Instruction:
    """What is fused behind it: a bias, an activation, a residual, another type, a reduction."""
    for _ in range(body.random.choice((0, 1, 1, 2, 3))):
        if body.chance(0.2):
            body.add(value)
        value = body.random.choice((_bias, _activation, _residual, _narrowed, _moved, _summed))(
            body, value
        )
    return value


def _bias(body: Body, value: Instruction) -> Instruction:
    shape = value.array_shape
    kept = (body.random.randrange(shape.rank),) if shape.rank else ()
    vector = body.like(shape.with_dimensions(tuple(shape.dimensions[d] for d in kept)))
    return body.op("add", value, body.op("broadcast", vector, shape=shape, dimensions=kept))


def _activation(body: Body, value: Instruction) -> Instruction:
    shape = value.array_shape
    if not body.exact and shape.element_type.is_float and body.chance(0.5):
        return body.op(body.random.choice(("tanh", "exponential", "logistic")), value)
    zero = body.builder.constant(0, ArrayShape(shape.element_type))
    zeros = body.op("broadcast", zero, shape=shape, dimensions=())
    return body.op(body.random.choice(("maximum", "minimum")), value, zeros)


def _residual(body: Body, value: Instruction) -> Instruction:
    op = body.random.choice(("add", "subtract"))
    return body.op(op, value, produced(body, value.array_shape))


def _narrowed(body: Body, value: Instruction) -> Instruction:
    return body.converted(value, HLO_TYPES[body.random.choice(("f32", "f64", "bf16", "s32"))])


def _moved(body: Body, value: Instruction) -> Instruction:
    order = shuffled(body, value.array_shape.rank)
    return body.op("transpose", value, dimensions=order)


def _summed(body: Body, value: Instruction) -> Instruction:
    shape = value.array_shape
    if not shape.rank:
        return value
    total = scalar_op(body, "add", shape.element_type)
    zero = body.builder.constant(0, ArrayShape(shape.element_type))
    axis = body.random.randrange(shape.rank)
    return body.op("reduce", value, zero, dimensions=(axis,), to_apply=total)
