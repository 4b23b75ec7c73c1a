"""Ops among several replicas or partitions.

How large the result of a gather or a scatter is depends on the number of participants, which the
program does not say, and what all-reduce-start gives on who wrote it: there the declared shape
stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import Infer, OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.shape_checks import arrays, one_or_tuple
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError


@dataclass(frozen=True)
class Collective(Attributes):
    """`replica_groups`: `{{0,1},{2,3}}`, `[2,4]<=[8]` or a mesh, as written."""

    replica_groups: str = attr(AttrKind.RAW, "")
    channel_id: int | None = attr(AttrKind.INT, None)
    constrain_layout: bool = attr(AttrKind.BOOL, False)
    use_global_device_ids: bool = attr(AttrKind.BOOL, False)
    mode: str = attr(AttrKind.ENUM, "")


@dataclass(frozen=True)
class CollectiveAlong(Collective):
    """`dimensions` holds the one along which pieces are joined or split; empty where tuples are."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS, ())


@dataclass(frozen=True)
class AllReduce(Collective):
    to_apply: Computation | None = attr(AttrKind.COMPUTATION, None)


@dataclass(frozen=True)
class ReduceScatter(CollectiveAlong):
    to_apply: Computation | None = attr(AttrKind.COMPUTATION, None)


@dataclass(frozen=True)
class CollectivePermute(Attributes):
    source_target_pairs: str = attr(AttrKind.RAW, "")
    channel_id: int | None = attr(AttrKind.INT, None)
    slice_sizes: str = attr(AttrKind.RAW, "")
    mode: str = attr(AttrKind.ENUM, "")


def infer_same(op: str, shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    """One operand gives its shape, several a tuple of theirs."""
    return one_or_tuple(arrays(op, shapes))


def infer_done(op: str, shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    """What was started gives (operand, result, …)."""
    (started,) = shapes
    if not isinstance(started, TupleShape) or len(started.elements) < 2:
        raise InputError(f"{op} takes what its start gave, not {started}")
    return started.elements[1]


def infer_ragged(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return shapes[1]


def infer_id(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return ArrayShape(ElementType.U32)


def _same(op: str) -> Infer:
    return partial(infer_same, op)


register(OpDef("all-reduce", AllReduce, (0, None), infer=_same("all-reduce")))
register(OpDef("all-reduce-start", AllReduce, (0, None)))
register(OpDef("all-reduce-done"))
register(OpDef("all-gather", CollectiveAlong, (1, None)))
register(OpDef("all-gather-start", CollectiveAlong, (1, None)))
register(OpDef("all-gather-done", infer=partial(infer_done, "all-gather-done")))
register(OpDef("all-to-all", CollectiveAlong, (1, None)))
register(OpDef("ragged-all-to-all", Collective, (6, 6), infer=infer_ragged))
register(OpDef("reduce-scatter", ReduceScatter, (1, None)))
register(OpDef("collective-broadcast", Collective, (1, None), infer=_same("collective-broadcast")))
register(OpDef("collective-permute", CollectivePermute, (1, None)))
register(OpDef("collective-permute-start", CollectivePermute, (1, None)))
register(OpDef("collective-permute-done", infer=partial(infer_done, "collective-permute-done")))
register(OpDef("partition-id", arity=(0, 0), infer=infer_id))
register(OpDef("replica-id", arity=(0, 0), infer=infer_id))
