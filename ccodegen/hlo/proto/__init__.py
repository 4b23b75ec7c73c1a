"""HLO protos, whose readers are imported by the first one that is read."""

from __future__ import annotations

from ccodegen.hlo.ir import Module


def read(data: bytes, file: str = "<proto>") -> Module:
    """The module of an HloModuleProto or an HloProto. Needs the registry of `ccodegen.ops`.

    Raises InputError for bytes that are no such proto and for modules that are inconsistent.
    """
    from ccodegen.hlo.proto import module

    return module.read(data, file)
