"""What identifies a program and the constants bound to it."""

from __future__ import annotations

import hashlib
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from ccodegen.backend.options import BuildOptions
from ccodegen.support.cache import digest

Array = np.ndarray[Any, Any]
_PIECE = 1 << 23  # bytes
_MOST_THREADS = 4


def program_digest(source: Any, options: BuildOptions, *facts: str) -> str:
    """Of the program, its constants and donations, and what else changes what is made of it."""
    arrays = {repr(key): np.asarray(value) for key, value in options.constants.items()}
    constants = [f"{k}:{a.dtype}{a.shape}" for k, a in arrays.items()]
    contents = _contents(list(arrays.values()))
    return digest(_source_bytes(source), repr(tuple(options.donate)), *facts, *constants, contents)


def _source_bytes(source: Any) -> bytes:
    """What identifies a program, without reading it."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "mlir_module_serialized"):
        return bytes(source.mlir_module_serialized)
    if hasattr(source, "compiler_ir"):
        from ccodegen.frontends.jax_lowered import identity

        return identity(source)
    if isinstance(source, str | Path) and "\n" not in str(source):
        try:
            return Path(source).read_bytes()
        except (OSError, ValueError):
            return str(source).encode()
    if isinstance(source, str):
        return source.encode()
    from ccodegen.hlo.ir import Module

    if isinstance(source, Module):
        return source.to_text().encode()
    from ccodegen.frontends.read import read

    return read(source).to_text().encode()


def _contents(arrays: list[Array]) -> bytes:
    """A digest of their bytes, which may be many: threads make those of the pieces."""
    pieces = [piece for array in arrays for piece in _pieces(array)]
    if sum(piece.size for piece in pieces) <= _PIECE:
        return b"".join(map(_piece_digest, pieces))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        return b"".join(pool.map(_piece_digest, pieces))


def _pieces(array: Array) -> list[Array]:
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return [flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE)]


def _piece_digest(piece: Array) -> bytes:
    made = hashlib.sha256(piece.data).digest()
    _let_go(piece)
    return made


def _let_go(piece: Array) -> None:
    """Takes a piece of a mapped file out of this process's memory again: it may be needed no more,
    and the system has it still. Maps that can be written stay, as they may differ from the file."""
    base: Any = piece
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, mmap.mmap) or not hasattr(base, "madvise"):
        return
    whole = np.frombuffer(base, np.uint8)
    if whole.flags.writeable:
        return
    start = piece.ctypes.data - whole.ctypes.data
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
    if start + piece.size > first:
        base.madvise(mmap.MADV_DONTNEED, first, start + piece.size - first)
