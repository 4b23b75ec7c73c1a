"""Tuned targets: measured once, the same bits, and a file that says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ccodegen
from ccodegen import cli, tuning
from ccodegen.backend.options import checked_options
from ccodegen.support.errors import InputError
from ccodegen.target import Tile, load

PROGRAM = """HloModule m
ENTRY e {
  x = f32[33,70] parameter(0)
  w = f32[70,50] parameter(1)
  y = f32[33,50] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[33,50] tanh(y)
  v = f32[50,50] parameter(2)
  ROOT r = f32[33,50] dot(z, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
RANDOM = np.random.default_rng(0)
ARRAYS = [RANDOM.standard_normal(s, np.float32) for s in ((33, 70), (70, 50), (50, 50))]
FIRST, SECOND = "f32-33x50x70", "f32-33x50x50"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def last_is_fastest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Times that say so; how many were asked for each time."""
    asked: list[int] = []

    def seconds(times: list[object]) -> list[float]:
        asked.append(len(times))
        return [1.0 - n / 100 for n in range(len(times))]

    monkeypatch.setattr(tuning, "_seconds", seconds)
    return asked


def test_what_is_measured_is_remembered(last_is_fastest: list[int]) -> None:
    options = checked_options("host", {"w": ARRAYS[1]}, (), 1, False)
    tuned = tuning.tune(PROGRAM, options)
    assert [t.contraction for t in tuned] == sorted([FIRST, SECOND])
    assert len(last_is_fastest) == 2 and min(last_is_fastest) > 2
    assert tuning.tune(PROGRAM, options) == tuned
    assert len(last_is_fastest) == 2


def test_bits_stay(last_is_fastest: list[int]) -> None:
    for strict in (False, True):
        expected = ccodegen.compile(PROGRAM, strict=strict)(*ARRAYS)
        tuned = ccodegen.compile(PROGRAM, strict=strict, tune=True)
        np.testing.assert_array_equal(tuned(*ARRAYS), expected)
    assert last_is_fastest


def test_real_times() -> None:
    options = checked_options("host", None, (), 2, False)
    for t in tuning.tune(PROGRAM, options):
        assert 0 < t.seconds < t.default_seconds


def test_gains_that_are_noise_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "_seconds", lambda times: [1.0, *([0.99] * (len(times) - 1))])
    assert tuning.tune(PROGRAM, checked_options("host", None, (), 1, False)) == []


def test_the_command_writes_a_target(
    tmp_path: Path, last_is_fastest: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    program, path = tmp_path / "m.hlo", tmp_path / "tuned.toml"
    program.write_text(PROGRAM)
    assert cli.main(["tune", str(program), "-o", str(path)]) == 0
    assert FIRST in capsys.readouterr().out
    target = load(path)
    assert set(dict(target.tiles)) == {FIRST, SECOND}
    assert all(tile.rows and tile.vectors for tile in dict(target.tiles).values())
    expected = ccodegen.compile(PROGRAM)(*ARRAYS)
    np.testing.assert_array_equal(ccodegen.compile(PROGRAM, target=path)(*ARRAYS), expected)


def test_other_targets_cannot_be_measured(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cortex-m4 does not run in this process"):
        tuning.tune(PROGRAM, checked_options("cortex-m4", None, (), 1, False))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tiles.f32-8x8x8]\nheight = 3", "unknown key tiles.f32-8x8x8.height"),
        ('[tiles.f32-8x8x8]\nrows = "3"', "must be an integer"),
        ("[tiles.f32-8x8x8]\nrows = 65", "tiles.f32-8x8x8.rows must be at most 64, not 65"),
        ("[tile]\nvectors = 17", "tile.vectors must be at most 16, not 17"),
        ("[tiles]\nf32-8x8x8 = 3", "must be a table"),
    ],
)
def test_wrong_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'inherits = "host"\n{text}\n')
    with pytest.raises(InputError, match=message):
        load(path)


def test_tiles_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text('inherits = "x86-64"\n[tiles.f32-8x8x8]\nrows = 3\n')
    target = load(path)
    assert target.tiles == (("f32-8x8x8", Tile(3, 0)),)
    assert target.tile_size(4, "f32-8x8x8")[0] == 3
    assert target.tile_size(4) == load("x86-64").tile_size(4)
