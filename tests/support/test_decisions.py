"""CCODEGEN_DEBUG=2 tells why."""

from __future__ import annotations

from pathlib import Path

import pytest

import ccodegen
from ccodegen.support.decisions import debug_level, decided

PROGRAM = """HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  d = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64,64] tanh(d)
  ROOT r = f32[64,64] dot(s, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""


@pytest.mark.parametrize(("text", "level"), [("", 0), ("0", 0), ("2", 2), ("yes", 0)])
def test_level(text: str, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCODEGEN_DEBUG", text)
    assert debug_level() == level


@pytest.mark.parametrize("level", ["0", "1"])
def test_silence(
    level: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CCODEGEN_DEBUG", level)
    decided("d", "in loops", "packing does not pay")
    assert capsys.readouterr().err == ""


def test_a_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CCODEGEN_DEBUG", "2")
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))
    ccodegen.compile(PROGRAM, threads=2)
    told = capsys.readouterr().err.splitlines()
    assert any(line.startswith("d: in register tiles") for line in told)
    assert any(line.startswith("s: begins a kernel: ") for line in told)
    assert any("shared among threads" in line for line in told)
