"""Ops among several replicas or partitions."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation
from ccodegen.hlo.opdef import OpDef, register


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


register(OpDef("all-reduce", AllReduce, (0, None)))
register(OpDef("all-reduce-start", AllReduce, (0, None)))
register(OpDef("all-reduce-done"))
register(OpDef("all-gather", CollectiveAlong, (1, None)))
register(OpDef("all-gather-start", CollectiveAlong, (1, None)))
register(OpDef("all-gather-done"))
register(OpDef("all-to-all", CollectiveAlong, (1, None)))
register(OpDef("ragged-all-to-all", Collective, (6, 6)))
register(OpDef("reduce-scatter", ReduceScatter, (1, None)))
register(OpDef("collective-broadcast", Collective, (1, None)))
register(OpDef("collective-permute", CollectivePermute, (1, None)))
register(OpDef("collective-permute-start", CollectivePermute, (1, None)))
register(OpDef("collective-permute-done"))
register(OpDef("partition-id", arity=(0, 0)))
register(OpDef("replica-id", arity=(0, 0)))
