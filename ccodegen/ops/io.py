"""Ops that exchange data with the host or with another program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.evaluate import unflatten, value_leaves
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import TOKEN, ArrayShape, Shape, TupleShape, leaves
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.support.element_type import ElementType
from ccodegen.support.errors import InputError
from ccodegen.support.hooks import ArraySpec, Hook, Request, missing
from ccodegen.support.immutable import frozen


@frozen
class Infeed(Attributes):
    infeed_config: str = attr(AttrKind.STRING, "")


@frozen
class Outfeed(Attributes):
    outfeed_config: str = attr(AttrKind.STRING, "")
    outfeed_shape: Shape | None = attr(AttrKind.SHAPE, None)


@frozen
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


def asked(
    evaluator: Any, instruction: Instruction, request: Request, values: Sequence[Any], shape: Shape
) -> Any:
    """The value of this shape that the evaluator's caller gives."""
    if evaluator.io.function(request) is None:
        raise missing(request, instruction.name, instruction.location)
    arrays = [leaf.copy() for leaf in value_leaves(tuple(values)) if leaf is not None]
    specs = [
        ArraySpec(s.dimensions, s.element_type.dtype)
        for s in leaves(shape)
        if isinstance(s, ArrayShape)
    ]
    given = iter(evaluator.io.serve(request, arrays, specs))
    parts = (next(given) if isinstance(s, ArrayShape) else None for s in leaves(shape))
    return unflatten(shape, parts)


def evaluate_infeed(evaluator: Any, instruction: Instruction, token: Any) -> Any:
    config = attributes_of(instruction, Infeed).infeed_config
    return asked(evaluator, instruction, Request(Hook.INFEED, config), (), instruction.shape)


def evaluate_outfeed(evaluator: Any, instruction: Instruction, value: Any, token: Any) -> Any:
    config = attributes_of(instruction, Outfeed).outfeed_config
    return asked(evaluator, instruction, Request(Hook.OUTFEED, config), (value,), instruction.shape)


def evaluate_send(evaluator: Any, instruction: Instruction, value: Any, token: Any) -> Any:
    request = Request(Hook.SEND, channel=_channel(instruction))
    asked(evaluator, instruction, request, (value,), TOKEN)
    return value, np.zeros((), np.uint32), None


def evaluate_nothing(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    """A transfer that only begins, or only ends: zeros, which nobody may look into."""
    parts = (
        np.zeros(s.dimensions, s.element_type.dtype) if isinstance(s, ArrayShape) else None
        for s in leaves(instruction.shape)
    )
    return unflatten(instruction.shape, parts)


def evaluate_recv_done(evaluator: Any, instruction: Instruction, received: Any) -> Any:
    request = Request(Hook.RECV, channel=_channel(instruction))
    return asked(evaluator, instruction, request, (), instruction.shape)


def _channel(instruction: Instruction) -> int:
    return attributes_of(instruction, Transfer).channel_id or 0


register(OpDef("infeed", Infeed, evaluate=evaluate_infeed, side_effect=True))
register(
    OpDef(
        "outfeed", Outfeed, (2, 2), infer=infer_token, evaluate=evaluate_outfeed, side_effect=True
    )
)
register(
    OpDef("send", Transfer, (2, 2), infer=infer_send, evaluate=evaluate_send, side_effect=True)
)
register(
    OpDef("send-done", Transfer, infer=infer_token, evaluate=evaluate_nothing, side_effect=True)
)
register(OpDef("recv", Transfer, evaluate=evaluate_nothing, side_effect=True))
register(
    OpDef(
        "recv-done",
        Transfer,
        infer=infer_recv_done,
        evaluate=evaluate_recv_done,
        side_effect=True,
    )
)
