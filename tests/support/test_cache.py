"""The disk cache: damage, concurrency, folders that cannot be written."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest

from ccodegen.support.cache import Cache, default_directory, digest, write_atomically
from ccodegen.support.errors import InputError

KEY = digest("key")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.read(KEY) is None
    path = cache.write(KEY, b"one", b"two")
    assert cache.read(KEY) == b"onetwo"
    assert path.read_bytes().startswith(b"onetwo")
    assert cache.find(KEY) == path


@pytest.mark.parametrize("damage", [b"", b"x", b"one", b"onetwo" + bytes(44)])
def test_damaged_entries_are_made_again(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    path = cache.write(KEY, b"one")
    path.write_bytes(damage)
    assert cache.read(KEY) is None
    assert not path.exists()
    cache.write(KEY, b"again")
    assert cache.read(KEY) == b"again"


def test_a_flipped_bit_is_damage(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    path = cache.write(KEY, bytes(1000))
    data = bytearray(path.read_bytes())
    data[500] ^= 1
    path.write_bytes(data)
    assert cache.find(KEY) is None


def test_parts_of_any_size_are_written(tmp_path: Path) -> None:
    large = np.random.default_rng(0).integers(0, 256, (5 << 20) + 7, np.uint8)
    parts = [b"library", large.data, b"", large[: 1 << 21].data, bytes(3)]
    write_atomically(tmp_path / "file", parts)
    assert (tmp_path / "file").read_bytes() == b"".join(parts)


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Cache(tmp_path).write(KEY, b"one", "not bytes")  # type: ignore[arg-type]
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write the cache") as caught:
        Cache(tmp_path / "file" / "cache").write(KEY, b"one")
    assert "CCODEGEN_CACHE_DIR" in caught.value.hint


def test_digest_keeps_parts_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab") == digest(b"ab")


def test_directory_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))
    assert default_directory() == tmp_path


def _hammer(folder: Path, seed: int) -> int:
    """Writes, damages and reads the same entry; returns how many reads gave something wrong."""
    cache, wrong = Cache(folder), 0
    for turn in range(200):
        cache.write(KEY, bytes([seed]) * 5000)
        if turn % 10 == 0:
            cache.remove(KEY)
        found = cache.read(KEY)
        wrong += found is not None and (len(found) != 5000 or len(set(found)) != 1)
    return wrong


def test_processes_share_an_entry(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        assert pool.starmap(_hammer, [(tmp_path, 1), (tmp_path, 2)]) == [0, 0]
    assert not list(tmp_path.rglob(".new-*")), os.listdir(tmp_path)
