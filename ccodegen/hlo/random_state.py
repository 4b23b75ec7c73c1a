"""The counter that rng and rng-get-and-update-state draw from: 128 bits, one for a program."""

from __future__ import annotations

INITIAL = 0x7012395
"""What XLA's CPU backend begins with."""
_MASK = 2**64 - 1


class RandomState:
    """The counter of one evaluation."""

    def __init__(self) -> None:
        self._counter = INITIAL

    def draw(self, delta: int) -> tuple[int, int]:
        """The counter's words, the low one first; then adds `delta` to it."""
        found = words(self._counter)
        self._counter += delta
        return found


def words(number: int) -> tuple[int, int]:
    """The low and the high 64 bits."""
    return number & _MASK, number >> 64 & _MASK
