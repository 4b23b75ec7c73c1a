"""Where the C headers of the runtime are."""

from __future__ import annotations

from pathlib import Path

from ccodegen.support.errors import InternalError

_PACKAGE = Path(__file__).resolve().parent.parent


def header_dir() -> Path:
    """The folder of runtime_c's headers: in an installed package, or beside it in a checkout."""
    for folder in (_PACKAGE / "_runtime_c", _PACKAGE.parent / "runtime_c"):
        if (folder / "ccg_base.h").is_file():
            return folder
    raise InternalError("the headers of runtime_c are missing from the installation")
