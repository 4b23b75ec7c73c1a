"""Renders the templates: they hold `for` and `if`, everything else is made before."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccodegen.support.cache import Cache, digest
from ccodegen.support.errors import InputError

if TYPE_CHECKING:
    import jinja2
    from _typeshed import DataclassInstance

_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, view: DataclassInstance) -> str:
    """The template over the fields of a dataclass. A field it names and the view lacks is a bug."""
    values: dict[str, Any] = {f.name: getattr(view, f.name) for f in fields(view)}
    return _environment().get_template(template).render(values)


def render_once(template: str, view: DataclassInstance) -> str:
    """The same, of what many programs include: it is kept where Python keeps its compiled modules,
    if it does. Of a process's first program, to import Jinja and render takes a fifth of the time.
    """
    if sys.dont_write_bytecode:
        return render(template, view)
    kept = Cache(Path(importlib.util.cache_from_source(__file__)).with_name("headers"))
    key = digest(template, (_TEMPLATES / template).read_bytes(), repr(view))
    found = kept.read(key)
    if found is not None:
        return str(found, "utf-8")
    text = render(template, view)
    with contextlib.suppress(InputError):  # of who may not write there
        kept.write(key, text.encode())
    return text


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2  # when compilers are under way

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
