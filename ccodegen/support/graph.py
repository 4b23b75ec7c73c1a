"""Walks over directed acyclic graphs, without recursion: chains are 10,000 deep."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def post_order(
    roots: Iterable[Node], before: Callable[[Node], Sequence[Node]]
) -> tuple[Node, ...]:
    """What the roots reach, each node once and after `before(node)`, which are visited in order."""
    done: dict[Node, None] = {}
    begun: set[Node] = set()
    stack = list(reversed(tuple(roots)))
    while stack:
        node = stack[-1]
        if node in begun:
            done[stack.pop()] = None
        else:
            begun.add(node)
            stack += [n for n in reversed(before(node)) if n not in done]
    return tuple(done)
