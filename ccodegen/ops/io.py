"""Ops that exchange data with the host or with another program."""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import TOKEN, ArrayShape, Shape, TupleShape
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError


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


def infer_token(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return TOKEN


def infer_send(shapes: tuple[Shape, ...], attributes: Transfer) -> Shape:
    """The data, a number for the transfer, and a token."""
    return TupleShape((shapes[0], ArrayShape(ElementType.U32), TOKEN))


def infer_recv_done(shapes: tuple[Shape, ...], attributes: Transfer) -> Shape:
    (received,) = shapes
    if not isinstance(received, TupleShape) or not received.elements:
        raise InputError(f"recv-done takes what recv gave, not {received}")
    return TupleShape((received.elements[0], TOKEN))


register(OpDef("infeed", Infeed, side_effect=True))
register(OpDef("outfeed", Outfeed, (2, 2), infer=infer_token, side_effect=True))
register(OpDef("send", Transfer, (2, 2), infer=infer_send, side_effect=True))
register(OpDef("send-done", Transfer, infer=infer_token, side_effect=True))
register(OpDef("recv", Transfer, side_effect=True))
register(OpDef("recv-done", Transfer, infer=infer_recv_done, side_effect=True))
