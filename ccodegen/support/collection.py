"""The interpreter's search for garbage in cycles, put off."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Compiling makes many objects that stay, and next to no cycles: looking for some, over and
    over through all objects of the process, would be a sixth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:  # the first of several that overlap enables it again
            gc.enable()
