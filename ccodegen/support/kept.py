"""What is made of the package's own files is kept where Python keeps its compiled modules."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from ccodegen.support.cache import Cache, digest
from ccodegen.support.errors import InputError


def kept(name: str, origin: str, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, or gave in an earlier process for the same `origin`, a digest of all that
    it is made of. One of each name is kept, if Python keeps modules here."""
    if sys.dont_write_bytecode:
        return make()
    cache = Cache(Path(importlib.util.cache_from_source(__file__)).with_name("kept"))
    key = digest(name)
    found = cache.read(key)
    if found is not None and found[: len(origin)] == origin.encode():
        return bytes(found[len(origin) :])
    made = make()
    with contextlib.suppress(InputError):  # of who may not write there
        cache.write(key, origin.encode(), made)
    return made
