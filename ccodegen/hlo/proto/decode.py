"""Bytes → HloModuleProto, bare or within an HloProto."""

from __future__ import annotations

from typing import Any

from ccodegen.hlo.proto.schema import message_classes
from ccodegen.support.errors import InputError
from ccodegen.support.location import Location


def decode(data: bytes, file: str) -> Any:
    """The HloModuleProto in the bytes. Raises InputError where there is none."""
    for message in ("HloModuleProto", "HloProto"):
        module = _attempt(message, data)
        if module is not None and any(c.instructions for c in module.computations):
            return module
    hint = (
        "the file may be cut short, or of another kind: ccodegen reads HLO text and protos, "
        "StableHLO text and bytecode, and jax.export files"
    )
    raise InputError("this is not an HLO proto", Location(file), hint)


def _attempt(message: str, data: bytes) -> Any:
    proto = message_classes()[message]()
    from google.protobuf.message import DecodeError  # here: message_classes explains its absence

    try:
        proto.ParseFromString(data)
    except DecodeError:
        return None
    return proto.hlo_module if message == "HloProto" else proto
