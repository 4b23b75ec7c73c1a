"""The C files that generated code includes: those of runtime_c, and those made for a name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ccodegen.emit import line_scan, row_tile, tile, window_tile
from ccodegen.support.errors import InternalError
from ccodegen.support.runtime_c import added_header, header_dir

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)


def header_text(name: str) -> str:
    """The text of a runtime file."""
    if tile.is_tile(name):
        return tile.header_text(name)
    if row_tile.is_row_tile(name):
        return row_tile.header_text(name)
    if line_scan.is_line_scan(name):
        return line_scan.header_text(name)
    if window_tile.is_window_tile(name):
        return window_tile.header_text(name)
    added = added_header(name)
    if added is not None:
        return added
    try:
        return (header_dir() / name).read_text(encoding="utf-8")
    except OSError:
        raise InternalError(f"runtime_c has no file {name}") from None


def includes(text: str) -> list[str]:
    """The files that C text includes by a name in quotes."""
    return _INCLUDE.findall(text)


def closure(names: Iterable[str]) -> dict[str, str]:
    """These runtime files and all that they include, by name, sorted."""
    texts: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = header_text(name)
            waiting += includes(texts[name])
    return dict(sorted(texts.items()))
