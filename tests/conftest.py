"""Options of the test suite."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("CCODEGEN_DEBUG", "1")  # verify after every pass and after lowering


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write tests/golden anew instead of comparing"
    )
