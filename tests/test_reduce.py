"""The command `ccodegen reduce`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccodegen.cli import main
from ccodegen.hlo.text import parse
from ccodegen.loop import operators
from ccodegen.loop.operators import Operator

PROGRAM = """HloModule m
ENTRY e {
  x = s32[3,4] parameter(0)
  y = s32[3,4] parameter(1)
  s = s32[3,4] add(x, y)
  p = s32[3,4] popcnt(s)
  t = s32[4,3] transpose(p), dimensions={1,0}
  ROOT r = s32[4,3] negate(t)
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.hlo"
    path.write_text(PROGRAM)
    return path


def test_a_command_tells_the_fault(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(program), "--check", "grep -q popcnt {}"]) == 0
    assert [i.op for i in parse(capsys.readouterr().out).entry.instructions] == [
        "parameter",
        "popcnt",
    ]


def test_a_difference_from_the_reference(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(result: object, x: object) -> object:
        return popcnt.numpy(result, x) + 1

    popcnt = operators.OPERATORS["popcnt"]
    broken = Operator("popcnt", 1, wrong, popcnt.c, popcnt.result)  # type: ignore[arg-type]
    monkeypatch.setitem(operators.OPERATORS, "popcnt", broken)
    small = tmp_path / "small.hlo"
    assert main(["reduce", str(program), "-o", str(small)]) == 0
    assert [i.op for i in parse(small.read_text()).entry.instructions] == ["parameter", "popcnt"]


def test_a_program_without_fault(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", str(program), "--check", "false {}"]) == 1
    assert "does not show the fault 'false {}'" in capsys.readouterr().err


def test_a_check_that_ignores_the_program(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reduce", str(program), "--check", "true"]) == 1
    assert "--check 'true' says nothing of the program" in capsys.readouterr().err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["reduce", "--help"])
    assert "--check crashes" in capsys.readouterr().out
