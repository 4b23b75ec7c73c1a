"""Names for people, made into names for C."""

from __future__ import annotations

import re
from collections.abc import Collection


def identifier(name: str, default: str = "x") -> str:
    """`add.5` → `add_5`: letters, digits and single underscores, beginning with a letter.

    Keywords and reserved names are the emitter's matter.
    """
    stem = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not stem:
        return default
    return stem if stem[0].isalpha() else f"{default}{stem}"


def counted(count: int, noun: str) -> str:
    """1 argument, 2 arguments."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def unique(name: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it new."""
    number, candidate = 1, name
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
