"""`read`: a program in any of the forms we know, told apart by what is in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ccodegen.ops  # noqa: F401  # fills the registry that the readers look ops up in
from ccodegen.frontends import jax_source, stablehlo
from ccodegen.hlo import proto, text
from ccodegen.hlo.ir import Module
from ccodegen.hlo.verify import verify
from ccodegen.support.errors import InputError
from ccodegen.support.location import Location
from ccodegen.support.pattern import pattern

_BOM = b"\xef\xbb\xbf"
_ARTIFACT = pattern(re.escape(stablehlo.MAGIC) + rb".StableHLO_v", re.DOTALL)
_CONTROL = pattern(rb"[\x00-\x08\x0e-\x1f]")
_BLANK = r"(?:\s|//[^\n]*\n)*"
_MLIR_START = pattern(_BLANK + r'(?:(?:builtin\.)?module\b|func\.func\b|"builtin|#|!)')


def read(source: Any, file: str | None = None) -> Module:
    """The verified HLO module of a program.

    `source` is a Module; a path; HLO or StableHLO text; the bytes of an HLO proto, of MLIR
    bytecode, of a portable artifact or of a serialized `jax.export`; or JAX's Lowered, Traced or
    Exported. `file` names the source in errors and locations. Raises InputError for everything
    else and for programs that are wrong; UnsupportedError for what we cannot read.
    """
    module = _read(source, file)
    verify(module)
    return module


def _read(source: Any, file: str | None) -> Module:
    if isinstance(source, Module):
        return source
    if isinstance(source, Path):
        return _read_file(source, file)
    if isinstance(source, str):
        is_text = _is_program_text(source)
        return _read_text(source, file or "<string>") if is_text else _read_file(Path(source), file)
    if isinstance(source, bytes | bytearray | memoryview):
        return _read_bytes(bytes(source), file or "<bytes>")
    if jax_source.is_jax_program(source):
        return jax_source.from_object(source)
    raise _unknown_object(source)


def _unknown_object(source: Any) -> InputError:
    hint = "pass a path, text, bytes, or what jax.jit(f).lower(…) returns"
    if callable(source) and hasattr(source, "lower"):
        hint = "lower it for its arguments first: f.lower(…)"
    return InputError(f"cannot read a program from a {type(source).__name__}", hint=hint)


def _is_program_text(source: str) -> bool:
    """Whether a string is a program rather than a path to one."""
    if not source.strip() or "\n" in source:
        return True
    return "{" in source and not _exists(Path(source))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long, a null character
        return False


def _read_file(path: Path, file: str | None) -> Module:
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise InputError(message, hint="give the path of a program, or its text") from None
    except ValueError as error:
        raise InputError(f"cannot read {str(path)!r}: {error}") from None
    return _read_bytes(data, file or str(path))


def _read_bytes(data: bytes, file: str) -> Module:
    if not data.strip():
        raise InputError("the program is empty", Location(file))
    if data.startswith(stablehlo.MAGIC):
        return stablehlo.read(data, file)
    if not _CONTROL.search(data):
        return _read_text(data.removeprefix(_BOM).decode("utf-8", "surrogateescape"), file)
    if _ARTIFACT.search(data):  # a serialized jax.export has one somewhere inside
        return jax_source.deserialize(data, file)
    return proto.read(data, file)


def _read_text(program: str, file: str) -> Module:
    if not program.strip():
        raise InputError("the program is empty", Location(file))
    if _MLIR_START.match(program):
        return stablehlo.read(program, file)
    return text.parse(program, file)
