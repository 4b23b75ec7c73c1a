"""Ops that exchange data with the host or with another program."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape


@dataclass(frozen=True)
class Infeed(Attributes):
    infeed_config: str = attr(AttrKind.STRING, "")


@dataclass(frozen=True)
class Outfeed(Attributes):
    outfeed_config: str = attr(AttrKind.STRING, "")
    outfeed_shape: Shape | None = attr(AttrKind.SHAPE, None)


@dataclass(frozen=True)
class Transfer(Attributes):
    channel_id: int | None = attr(AttrKind.INT, None)
    is_host_transfer: bool = attr(AttrKind.BOOL, False)


register(OpDef("infeed", Infeed, side_effect=True))
register(OpDef("outfeed", Outfeed, (2, 2), side_effect=True))
register(OpDef("send", Transfer, (2, 2), side_effect=True))
register(OpDef("send-done", Transfer, side_effect=True))
register(OpDef("recv", Transfer, side_effect=True))
register(OpDef("recv-done", Transfer, side_effect=True))
