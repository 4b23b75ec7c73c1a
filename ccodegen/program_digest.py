"""What identifies a program and the constants bound to it."""

from __future__ import annotations

import hashlib
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from ccodegen.backend.build import BuildOptions
from ccodegen.backend.cache import digest
from ccodegen.frontends import jax_source
from ccodegen.frontends.read import read
from ccodegen.hlo.ir import Module


def program_digest(source: Any, options: BuildOptions, *facts: str) -> str:
    """Of the program, its constants and donations, and what else changes what is made of it."""
    constants = [f"{k!r}:{_array_digest(np.asarray(v))}" for k, v in options.constants.items()]
    return digest(_source_bytes(source), repr(tuple(options.donate)), *facts, *constants)


def _source_bytes(source: Any) -> bytes:
    """What identifies a program, without reading it."""
    if isinstance(source, Module):
        return source.to_text().encode()
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "mlir_module_serialized"):
        return bytes(source.mlir_module_serialized)
    if hasattr(source, "compiler_ir"):
        return jax_source.identity(source)
    if isinstance(source, str | Path) and "\n" not in str(source):
        try:
            return Path(source).read_bytes()
        except (OSError, ValueError):
            return str(source).encode()
    return str(source).encode() if isinstance(source, str) else read(source).to_text().encode()


_digests: dict[int, tuple[weakref.ref[Any], str]] = {}


def _array_digest(array: np.ndarray[Any, Any]) -> str:
    """A digest of type, shape and bytes. That of an array nobody can write to is made once."""
    known = _digests.get(id(array))
    if known is not None and known[0]() is array:
        return known[1]
    state = hashlib.blake2b(f"{array.dtype}{array.shape}".encode(), digest_size=16)
    state.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    made = state.hexdigest()
    if not array.flags.writeable:
        _digests[id(array)] = (weakref.ref(array), made)
    return made
