"""What is kept beside compiled modules: made once for each origin, and always where none is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ccodegen.support.kept import kept


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bytes]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    return []


def _maker(made: list[bytes], data: bytes) -> Callable[[], bytes]:
    def make() -> bytes:
        made.append(data)
        return data

    return make


def test_a_thing_is_made_once_for_each_origin(made: list[bytes]) -> None:
    for origin, data in (("1", b"a"), ("1", b"a"), ("2", b"b"), ("2", b"b")):
        assert kept("thing", origin, _maker(made, data)) == data
    assert made == [b"a", b"b"]
    assert kept("another", "2", _maker(made, b"c")) == b"c"


def test_a_damaged_one_is_made_again(made: list[bytes], tmp_path: Path) -> None:
    kept("thing", "1", _maker(made, b"a"))
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(file.read_bytes()[1:])
    assert kept("thing", "1", _maker(made, b"a")) == b"a"
    assert made == [b"a", b"a"]


def test_nothing_is_kept_where_python_keeps_nothing(
    made: list[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for _ in range(2):
        assert kept("thing", "1", _maker(made, b"a")) == b"a"
    assert made == [b"a", b"a"]
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_no_error(
    made: list[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file"))
    assert kept("thing", "1", _maker(made, b"a")) == b"a"
