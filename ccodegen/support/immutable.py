"""Small objects that never change, of which passes make very many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True)
def immutable(cls: type[_T]) -> type[_T]:
    """A frozen dataclass for who checks types, who then says what assigns to it. Nothing does at
    run time, where making a frozen one takes three times as long."""
    return dataclass(unsafe_hash="__hash__" not in cls.__dict__)(cls)
