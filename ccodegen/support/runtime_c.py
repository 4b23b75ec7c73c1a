"""Where the C headers of the runtime are."""

from __future__ import annotations

import re
from pathlib import Path

from ccodegen.support.errors import InputError, InternalError

_PACKAGE = Path(__file__).resolve().parent.parent


def header_dir() -> Path:
    """The folder of runtime_c's headers: in an installed package, or beside it in a checkout."""
    for folder in (_PACKAGE / "_runtime_c", _PACKAGE.parent / "runtime_c"):
        if (folder / "ccg_base.h").is_file():
            return folder
    raise InternalError("the headers of runtime_c are missing from the installation")


_ADDED: dict[str, str] = {}
_FUNCTIONS: set[str] = set()


def add_header(header: str | Path, function: str) -> str:
    """Makes a file of the user's, or its text, one that generated code may include. Returns its
    name, that of the file, or after the function.

    Raises InputError where it cannot be read, or does not name the function.
    """
    is_path = isinstance(header, Path) or ("\n" not in header and header.endswith((".h", ".inc")))
    try:
        text = Path(header).read_text(encoding="utf-8") if is_path else str(header)
    except OSError as error:
        raise InputError(f"cannot read '{header}': {error.strerror or error}") from None
    if not re.search(rf"\b{re.escape(function)}\s*\(", text):
        where = f"'{header}'" if is_path else "c_header"
        raise InputError(f"{where} does not define the C function '{function}'")
    name = Path(header).name if is_path else f"{function}.h"
    if name.startswith("ccg_") or _ADDED.get(name, text) != text:
        raise InputError(f"there is another header '{name}' already", hint="give it another name")
    _ADDED[name] = text
    _FUNCTIONS.add(function)
    return name


def added_functions() -> frozenset[str]:
    """The names of all C functions of the user's."""
    return frozenset(_FUNCTIONS)


def added_headers() -> tuple[str, ...]:
    """The names of all headers of the user's."""
    return tuple(_ADDED)


def added_header(name: str) -> str | None:
    """The text of a user's header; None for others."""
    return _ADDED.get(name)
