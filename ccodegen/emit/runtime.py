"""The C files that generated code includes: those of runtime_c, and those made for a name."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from ccodegen.emit import line_scan, matrix_tile, row_tile, tile, window_tile
from ccodegen.support.errors import InternalError
from ccodegen.support.pattern import pattern
from ccodegen.support.runtime_c import added_header, header_dir

_INCLUDE = pattern(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)

_MADE = {
    tile.NAME: tile.header_text,
    matrix_tile.NAME: matrix_tile.header_text,
    row_tile.NAME: row_tile.header_text,
    line_scan.NAME: line_scan.header_text,
    window_tile.NAME: window_tile.header_text,
}


@functools.cache
def header_text(name: str) -> str:
    """The text of a runtime file."""
    for expression, text_of in _MADE.items():
        if match := expression.fullmatch(name):
            return text_of(match)
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
