"""Options of the test suite."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("CCODEGEN_DEBUG", "1")  # verify after every pass and after lowering


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write tests/golden anew instead of comparing"
    )


@pytest.fixture
def own_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Custom calls that a test registers are gone after it."""
    from ccodegen.ops import custom_call
    from ccodegen.support import user_targets

    monkeypatch.setattr(custom_call, "_TARGETS", dict(custom_call._TARGETS))
    monkeypatch.setattr(user_targets, "_TARGETS", set(user_targets._TARGETS))
