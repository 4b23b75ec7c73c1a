"""dot and convolution, with all that their attributes can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ccodegen.hlo.attributes import DimLabels, Window
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.support.element_type import HLO_TYPES, ElementType
from tests.random_modules.body import S32, Body
from tests.random_modules.folds import window_dimension
from tests.random_modules.values import LARGE_SIZES, SIZES

_F32 = HLO_TYPES["f32"]


def dot(body: Body) -> Instruction:
    left = body.any(1)
    shape = left.array_shape
    axes = list(range(shape.rank))
    body.random.shuffle(axes)
    contracted = axes[: body.random.randint(0, min(2, len(axes)))]
    batch = [a for a in axes[len(contracted) :] if body.chance(0.3)]
    sizes = [shape.dimensions[a] for a in batch + contracted]
    sizes_to_choose = LARGE_SIZES if body.chance(0.3) else SIZES
    free = [body.random.choice(sizes_to_choose) for _ in range(body.random.randint(0, 2))]
    order = list(range(len(sizes) + len(free)))
    body.random.shuffle(order)  # order[k]: where the k-th of batch, contracted, free stands
    dimensions = [0] * len(order)
    for place, size in zip(order, sizes + free, strict=True):
        dimensions[place] = size
    right = body.like(shape.with_dimensions(tuple(dimensions)))
    rest = [n for d, n in enumerate(shape.dimensions) if d not in batch + contracted]
    right_rest = [n for d, n in enumerate(dimensions) if d not in order[: len(sizes)]]
    result = (*(shape.dimensions[a] for a in batch), *rest, *right_rest)
    return body.op(
        "dot",
        left,
        right,
        shape=ArrayShape(sum_type(body, shape.element_type), result),
        lhs_batch_dims=tuple(batch),
        lhs_contracting_dims=tuple(contracted),
        rhs_batch_dims=tuple(order[: len(batch)]),
        rhs_contracting_dims=tuple(order[len(batch) : len(sizes)]),
    )


def sum_type(body: Body, element_type: ElementType) -> ElementType:
    """Of the result: the operands' own, or a wider one."""
    if not body.chance(0.2):
        return element_type
    if element_type.is_integer:
        return S32
    return _F32 if element_type.is_float and element_type.bits < 32 else element_type


def convolution(body: Body) -> Instruction:
    """Over up to three spatial dimensions, in any order of all dimensions."""
    choose = body.random.choice
    spatial = choose((0, 1, 1, 2, 2, 3))
    feature_groups, batch_groups = choose(((1, 1), (1, 1), (2, 1), (3, 1), (1, 2)))
    features = choose((1, 2, 3, 4))
    outputs = choose((1, 1, 2, 4, 5)) * feature_groups * batch_groups
    batch = choose((1, 2, 0)) * batch_groups
    window = Window(
        tuple(
            replace(window_dimension(body, 0), reversal=body.chance(0.2)) for _ in range(spatial)
        )
    )
    extents = [choose((1, 2, 5, 7, 0) if spatial < 3 else (1, 2, 3)) for _ in range(spatial)]
    kernel = [w.size for w in window.dimensions]
    produced = [w.output_size(n) for w, n in zip(window.dimensions, extents, strict=True)]
    lhs, rhs, out = (shuffled(body, spatial + 2) for _ in range(3))
    labels = DimLabels(
        lhs[0], lhs[1], lhs[2:], rhs[0], rhs[1], rhs[2:], out[0], out[1], out[2:]
    )
    kind = body.type_where(lambda t: t.kind.name != "PRED")
    left = placed(kind, lhs, [batch, features * feature_groups, *extents])
    right = placed(kind, rhs, [features, outputs, *kernel])
    result = placed(sum_type(body, kind), out, [batch // batch_groups, outputs, *produced])
    return body.op(
        "convolution",
        body.like(left),
        body.like(right),
        shape=result,
        dim_labels=labels,
        window=window,
        feature_group_count=feature_groups,
        batch_group_count=batch_groups,
    )


def shuffled(body: Body, count: int) -> tuple[int, ...]:
    """The places of the roles: batch, feature, spatial …"""
    places = list(range(count))
    body.random.shuffle(places)
    return tuple(places)


def placed(kind: ElementType, places: Sequence[int], sizes: Sequence[int]) -> ArrayShape:
    """An array whose dimension places[n] is of sizes[n]."""
    by_place = dict(zip(places, sizes, strict=True))
    return ArrayShape(kind, tuple(by_place[n] for n in range(len(sizes))))
