"""The interpreter's search for garbage in cycles, put off."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_put_off = 0  # contexts of `no_collection` that end the pause


@contextmanager
def no_collection() -> Iterator[None]:
    """Compiling makes many objects that stay, and next to no cycles: looking for some, over and
    over through all objects of the process, would be a sixth of its time."""
    global _put_off
    enabled = gc.isenabled()
    gc.disable()
    _put_off += enabled
    try:
        yield
    finally:
        _put_off -= enabled
        if enabled:  # the first of several that overlap enables it again
            gc.enable()


def collect_meanwhile() -> None:
    """Looks through the objects made in the pause, if any, where there is time: after it that would
    be the next thing to happen."""
    if _put_off:
        gc.collect(0)
