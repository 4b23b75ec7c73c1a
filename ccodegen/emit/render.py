"""Renders the templates: they hold `for` and `if`, everything else is made before."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2
    from _typeshed import DataclassInstance


def render(template: str, view: DataclassInstance) -> str:
    """The template over the fields of a dataclass. A field it names and the view lacks is a bug."""
    values: dict[str, Any] = {f.name: getattr(view, f.name) for f in fields(view)}
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2  # when compilers are under way

    return jinja2.Environment(
        loader=jinja2.PackageLoader("ccodegen.emit"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=_bytecode_cache(),
    )


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Compiled templates lie where Python keeps its compiled modules, if it does: of a process's
    first program of tiles they are a tenth of the time."""
    import jinja2

    folder = os.path.dirname(importlib.util.cache_from_source(__file__))
    kept = os.access(folder, os.W_OK) and not sys.dont_write_bytecode
    return jinja2.FileSystemBytecodeCache(folder) if kept else None
