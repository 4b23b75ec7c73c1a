"""ragged-dot in its three modes, and scaled-dot."""

from __future__ import annotations

import math

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.ragged_dot import RaggedDot
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind
from tests.random_modules.body import S32, Body
from tests.random_modules.contractions import placed, shuffled, sum_type

_SIZES = (0, 1, 2, 2, 3, 4, 5, 8)
_F32 = HLO_TYPES["f32"]


def ragged_dot(body: Body) -> Instruction:
    """The ragged dimension is one of the rows, of the contracted or of the batch dimensions."""
    choose = body.random.choice
    ragged = choose(("rows", "rows", "contracted", "batch"))
    kind = body.type_where(lambda t: t.kind is not Kind.PRED)
    batch = [choose(_SIZES) for _ in range(choose((0, 0, 1)) + (ragged == "batch"))]
    depth = [choose(_SIZES) for _ in range(choose((1, 1, 2)))]
    rows = [choose(_SIZES) for _ in range(choose((1, 1, 2)))]
    columns = [choose(_SIZES) for _ in range(choose((0, 1, 1)))]
    groups = choose((0, 1, 2, 3, 4))
    left_places = shuffled(body, len(batch + depth + rows))
    own = [groups] if ragged == "rows" else []
    right_places = shuffled(body, len(batch + depth + columns + own))
    left = placed(kind, left_places, batch + depth + rows)
    right = placed(kind, right_places, batch + depth + columns + own)
    shared, summed = len(batch), len(batch + depth)
    candidates = {
        "rows": left_places[summed:],
        "contracted": left_places[shared:summed],
        "batch": left_places[:shared],
    }
    attributes = RaggedDot(
        lhs_batch_dims=left_places[:shared],
        lhs_contracting_dims=left_places[shared:summed],
        rhs_batch_dims=right_places[:shared],
        rhs_contracting_dims=right_places[shared:summed],
        lhs_ragged_dims=(choose(candidates[ragged]),),
        rhs_group_dims=right_places[len(right_places) - len(own) :],
    )
    before = [left.dimensions[d] for d in attributes.before(left.rank)]
    vector = [groups] if not before or body.chance(0.5) else [*before, groups]
    sizes = _group_sizes(body, vector, left.dimensions[attributes.ragged])
    free = [left.dimensions[d] for d in attributes.rows(left.rank)]
    free += [right.dimensions[d] for d in attributes.columns(right.rank)]
    first = [groups] if ragged == "contracted" else []
    return body.op(
        "ragged-dot",
        body.like(left),
        body.like(right),
        sizes,
        shape=ArrayShape(sum_type(body, kind), (*first, *batch, *free)),
        **vars(attributes),
    )


def _group_sizes(body: Body, dimensions: list[int], rows: int) -> Instruction:
    """Sizes that share out the rows more or less, or any numbers."""
    if body.chance(0.3):
        return body.like(ArrayShape(S32, tuple(dimensions)))
    groups = max(1, dimensions[-1])
    count = math.prod(dimensions)
    numbers = [body.random.randint(-1, 2 * rows // groups + 1) for _ in range(count)]
    return body.builder.constant(Literal(np.array(numbers, np.int32).reshape(dimensions)))


def scaled_dot(body: Body) -> Instruction:
    """A scale for each block of neighbours; the blocks are the operands' divisors."""
    choose = body.random.choice
    kind = body.type_where(lambda t: t.is_float)
    batch = [choose(_SIZES) for _ in range(choose((0, 0, 1)))]
    depth = [choose((1, 2, 4, 8, 32)) for _ in range(choose((1, 1, 2)))]
    sides = [[choose(_SIZES) for _ in range(choose((0, 1)))] for _ in range(2)]
    places = [shuffled(body, len(batch + depth + side)) for side in sides]
    shapes = [placed(kind, p, batch + depth + s) for p, s in zip(places, sides, strict=True)]
    shared, summed = len(batch), len(batch + depth)
    free = [n for side in sides for n in side]
    result = _F32 if body.exact or body.chance(0.5) else kind
    return body.op(
        "scaled-dot",
        *map(body.like, shapes),
        *(body.like(_scale(body, shape)) for shape in shapes),
        shape=ArrayShape(result, (*batch, *free)),
        lhs_batch_dims=places[0][:shared],
        lhs_contracting_dims=places[0][shared:summed],
        rhs_batch_dims=places[1][:shared],
        rhs_contracting_dims=places[1][shared:summed],
    )


def _scale(body: Body, shape: ArrayShape) -> ArrayShape:
    names = ("f32", "bf16") if body.exact else ("f8e8m0fnu", "f8e8m0fnu", "bf16", "f32")
    kind: ElementType = HLO_TYPES[body.random.choice(names)]
    if body.chance(0.2):
        return ArrayShape(kind)
    counts = [
        body.random.choice([c for c in range(1, n + 1) if n % c == 0] or [n])
        for n in shape.dimensions
    ]
    return ArrayShape(kind, tuple(counts))
