"""Names as the text has them: identifiers of HLO, none of them twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import TypeVar

from ccodegen.support.pattern import pattern

_NOT_ALLOWED = pattern(r"[^A-Za-z0-9_.-]")

T = TypeVar("T")


def unique_names(items: Iterable[tuple[T, str]]) -> dict[T, str]:
    """A name for each item that comes with its wish.

    The first of a name keeps it; the next are `name.1`, `name.2`, … around names that others
    have. What HLO does not allow in a name becomes `_`.
    """
    wishes = [(item, _identifier(wish)) for item, wish in items]
    taken = {wish for _, wish in wishes}
    given: set[str] = set()
    numbers: dict[str, Iterator[int]] = {}
    found: dict[T, str] = {}
    for item, wish in wishes:
        name = wish
        while name in given or (name != wish and name in taken):
            name = f"{wish}.{next(numbers.setdefault(wish, count(1)))}"
        given.add(name)
        found[item] = name
    return found


def _identifier(wish: str) -> str:
    name = _NOT_ALLOWED.sub("_", wish)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
