"""The search for garbage is put off, and done where there is time."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from ccodegen.support.collection import collect_meanwhile, no_collection


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(params=[True, False], ids=["on", "off"])
def enabled(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the process looks for garbage by itself."""
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def is_collected() -> bool:
    there = weakref.ref(Cycle())
    collect_meanwhile()
    return there() is None


def test_garbage_is_looked_for_only_in_a_pause_and_where_it_would_be(enabled: bool) -> None:
    gc.disable()
    assert not is_collected()
    (gc.enable if enabled else gc.disable)()
    with no_collection():
        assert not gc.isenabled()
        with no_collection():
            assert is_collected() == enabled
        assert is_collected() == enabled
    assert gc.isenabled() == enabled
