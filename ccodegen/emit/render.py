"""Renders the templates: they hold `for` and `if`, everything else is made before."""

from __future__ import annotations

import functools
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccodegen.support.cache import digest
from ccodegen.support.kept import kept

if TYPE_CHECKING:
    import jinja2
    from _typeshed import DataclassInstance

_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, view: DataclassInstance) -> str:
    """The template over the fields of a dataclass. A field it names and the view lacks is a bug."""
    values: dict[str, Any] = {f.name: getattr(view, f.name) for f in fields(view)}
    return _environment().get_template(template).render(values)


def render_once(template: str, view: DataclassInstance) -> str:
    """The same, of what many programs include, kept: of a process's first program, to import Jinja
    and render takes a fifth of the time."""
    origin = digest((_TEMPLATES / template).read_bytes())
    return kept(f"{template} {view}", origin, lambda: render(template, view).encode()).decode()


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
