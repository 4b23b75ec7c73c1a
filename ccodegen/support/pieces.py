"""Arrays that are computed piece by piece, so that large ones need little memory on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

# Gives an array in order, cut along its first dimension, all pieces but the last of whole words of
# 8 bytes. At least one piece.
Pieces: TypeAlias = Callable[[], Iterator[Array]]


def joined(pieces: Pieces) -> Array:
    """The whole array."""
    first, *others = pieces()
    return np.concatenate([first, *others]) if others else first
