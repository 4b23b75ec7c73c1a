"""HLO protos: `read` turns the bytes of an HloModuleProto or HloProto into a Module."""

from ccodegen.hlo.proto.module import read

__all__ = ["read"]
