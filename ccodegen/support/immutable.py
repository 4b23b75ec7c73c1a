"""Objects that never change: what passes make very many of, and what they are made by."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(cls: type[_T]) -> type[_T]:
    """A frozen dataclass for who checks types, who then says what assigns to it. Nothing does at
    run time, where a frozen object takes three times as long to make, and its class twice, which
    all that is imported to compile feels. HLO, and what users hold, is frozen in earnest."""
    made = dataclass(unsafe_hash="__hash__" not in cls.__dict__, repr=False)(cls)
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _text  # type: ignore[method-assign]
    return made


@recursive_repr()
def _text(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
