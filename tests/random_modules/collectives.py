"""Ops among several devices, of which there is one."""

from __future__ import annotations

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.literal import Literal
from ccodegen.hlo.shape import ArrayShape, TupleShape
from tests.random_modules.body import S32, Body
from tests.random_modules.functions import combiner

_GROUPS = ("{}", "{{0}}", "[1,1]<=[1]")


def collective(body: Body) -> Instruction:
    return body.random.choice(_KINDS)(body)


def _groups(body: Body) -> str:
    return body.random.choice(_GROUPS)


def _operands(body: Body) -> list[Instruction]:
    return [body.any() for _ in range(body.random.choice((1, 1, 1, 2, 3)))]


def _all_reduce(body: Body) -> Instruction:
    """Of arrays of one type, as the computation is."""
    first = body.any()
    element_type = first.array_shape.element_type
    more = [body.any(fits=lambda t: t is element_type)] if body.chance(0.3) else []
    function = combiner(body, element_type)
    groups = _groups(body)
    if body.chance(0.6):
        made = body.op("all-reduce", first, *more, to_apply=function, replica_groups=groups)
        return body.one_of(made)
    started = body.op(
        "all-reduce-start", first, shape=first.shape, to_apply=function, replica_groups=groups
    )
    return body.op("all-reduce-done", started, shape=first.shape)


def _gather(body: Body) -> Instruction:
    value = body.any(1)
    axis = body.random.randrange(value.array_shape.rank)
    along = {"dimensions": (axis,), "replica_groups": _groups(body)}
    if body.chance(0.5):
        return body.op("all-gather", value, shape=value.shape, **along)
    pair = TupleShape((value.shape, value.shape))
    return body.op("all-gather-done", body.op("all-gather-start", value, shape=pair, **along))


def _all_to_all(body: Body) -> Instruction:
    if body.chance(0.5):
        value = body.any(1)
        axis = body.random.randrange(value.array_shape.rank)
        groups = _groups(body)
        return body.op(
            "all-to-all", value, shape=value.shape, dimensions=(axis,), replica_groups=groups
        )
    value = body.any()
    made = body.op(
        "all-to-all", value, shape=TupleShape((value.shape,)), replica_groups=_groups(body)
    )
    return body.one_of(made)


def _reduce_scatter(body: Body) -> Instruction:
    value = body.any(1)
    shape = value.array_shape
    return body.op(
        "reduce-scatter",
        value,
        shape=shape,
        dimensions=(body.random.randrange(shape.rank),),
        to_apply=combiner(body, shape.element_type),
        replica_groups=_groups(body),
    )


def _broadcast(body: Body) -> Instruction:
    made = body.op("collective-broadcast", *_operands(body), replica_groups=_groups(body))
    return body.one_of(made)


def _permute(body: Body) -> Instruction:
    """To the device itself, or to none, which then gets zeros."""
    value = body.any()
    pairs = body.random.choice(("{{0,0}}", "{{0,0}}", "{}"))
    if body.chance(0.5):
        return body.op(
            "collective-permute", value, shape=value.shape, source_target_pairs=pairs
        )
    shape = TupleShape((value.shape, value.shape))
    started = body.op(
        "collective-permute-start", value, shape=shape, source_target_pairs=pairs
    )
    return body.op("collective-permute-done", started)


def _ragged(body: Body) -> Instruction:
    """Rows of one array over those of another, some of which do not exist."""
    source = body.any(1)
    shape = source.array_shape
    rows = body.random.choice((1, 2, 5, 8))
    output = body.like(shape.with_dimensions((rows, *shape.dimensions[1:])))
    pieces = body.random.choice((1, 2, 3))
    numbers = [_piece_numbers(body, pieces) for _ in range(3)]
    sizes = numbers[1]
    operands = (source, output, *numbers, sizes)
    return body.op("ragged-all-to-all", *operands, replica_groups=_groups(body))


def _piece_numbers(body: Body, pieces: int) -> Instruction:
    if body.chance(0.2):
        return body.like(ArrayShape(S32, (pieces,)))
    numbers = [body.random.randint(-1, 4) for _ in range(pieces)]
    return body.builder.constant(Literal(np.array(numbers, np.int32)))


def _id(body: Body) -> Instruction:
    return body.op(body.random.choice(("partition-id", "replica-id")))


_KINDS = (
    _all_reduce, _all_reduce, _gather, _gather, _all_to_all, _reduce_scatter, _broadcast, _permute,
    _permute, _ragged, _ragged, _id,
)  # fmt: skip
