"""Where the TOML files of the targets are: in a checkout, or in an installed package."""

from __future__ import annotations

import functools
from pathlib import Path

from ccodegen.support.errors import InternalError

_PACKAGE = Path(__file__).resolve().parents[1]


@functools.cache
def targets_dir() -> Path:
    """The folder of NAME.toml files, with start-up code and linker scripts in folders beside."""
    for path in (_PACKAGE / "_targets", _PACKAGE.parent / "targets"):
        if (path / "host.toml").is_file():
            return path
    raise InternalError("the targets directory is missing from the installation")
