"""Programs of dynamic shape as a caller sees them: in Python, and as a package of C."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ccodegen
from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.hlo.text import parse as parse_module
from ccodegen.loop import text as loop_text
from ccodegen.support import cache
from ccodegen.target import load

PROGRAM = """HloModule m
add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }
ENTRY e {
  x = f32[<=8,3] parameter(0)
  y = f32[3] parameter(1)
  wide = f32[<=8,3] broadcast(y), dimensions={1}
  sum = f32[<=8,3] add(x, wide)
  zero = f32[] constant(0)
  total = f32[3] reduce(x, zero), dimensions={0}, to_apply=add
  turned = f32[3,<=8] transpose(sum), dimensions={1,0}
  both = (f32[3], f32[<=8,3]) tuple(total, sum)
  ROOT r = (f32[3,<=8], (f32[3], f32[<=8,3])) tuple(turned, both)
}"""
ONES = np.ones(3, np.float32)


def rows(count: int) -> np.ndarray:
    return np.arange(count * 3, dtype=np.float32).reshape(count, 3)


@pytest.fixture(scope="module")
def executable() -> ccodegen.Executable:
    return ccodegen.compile(PROGRAM, strict=True)


@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_arrays_are_as_large_as_they_are(executable: ccodegen.Executable, count: int) -> None:
    turned, (total, more) = executable(rows(count), ONES)
    wanted = ccodegen.evaluate(PROGRAM, rows(count), ONES)
    np.testing.assert_array_equal(turned, wanted[0])
    np.testing.assert_array_equal(total, wanted[1][0])
    np.testing.assert_array_equal(more, wanted[1][1])


def test_beside_arrays_of_other_layouts() -> None:
    text = """ENTRY e {
      x = f32[<=8,3]{0,1} parameter(0)
      c = f32[2,3]{0,1} parameter(1)
      y = f32[<=8,3]{0,1} negate(x)
      d = f32[2,3]{0,1} negate(c)
      ROOT r = (f32[<=8,3]{0,1}, f32[2,3]{0,1}) tuple(y, d)
    }"""
    first, second = ccodegen.compile(text)(rows(5), rows(2))
    np.testing.assert_array_equal(first, -rows(5))
    np.testing.assert_array_equal(second, -rows(2))


def test_restored_from_the_cache(
    executable: ccodegen.Executable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "default_directory", lambda: tmp_path)
    for _ in range(2):
        turned, _ = ccodegen.compile(PROGRAM, strict=True)(rows(2), ONES)
        assert turned.shape == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((rows(9), ONES), r"x: expected dimensions \[<=8,3\], got \[9,3\]"),
        ((rows(4).T, ONES), r"x: expected dimensions \[<=8,3\], got \[3,4\]"),
        ((rows(4).astype(np.float64), ONES), "x: expected f32"),
        ((rows(4),), r"expected 2 arguments \(x, y\), got 1"),
    ],
)
def test_what_does_not_fit(
    executable: ccodegen.Executable, arguments: tuple[np.ndarray, ...], message: str
) -> None:
    with pytest.raises(ccodegen.InputError, match=message):
        executable(*arguments)


def test_results_cannot_be_given(executable: ccodegen.Executable) -> None:
    with pytest.raises(ccodegen.InputError, match="out: not possible"):
        executable(rows(1), ONES, out=())


def test_a_donated_array_is_copied() -> None:
    x = rows(4)
    turned, _ = ccodegen.compile(PROGRAM, donate=["x"])(x, ONES)
    np.testing.assert_array_equal(turned, x.T + 1)
    np.testing.assert_array_equal(x, rows(4))


def test_the_loop_program_says_what_is_a_size() -> None:
    program = build(parse_module(PROGRAM), BuildOptions(load("host"))).program
    again = loop_text.parse(loop_text.to_text(program))
    found = [(a.name, a.size_of) for a in again.arguments if a.size_of]
    assert found == [("x_size0", (0, 0)), ("out0_size1", (0, 1)), ("out2_size0", (2, 0))]


def test_a_package_checks_what_counts(tmp_path: Path) -> None:
    ccodegen.export(PROGRAM, "x86-64", "rows", tmp_path, inputs=[rows(5), ONES])
    header = (tmp_path / "include" / "rows.h").read_text()
    assert "const int32_t *x_size0" in header
    assert "actual size of dimension 0 of x, whose strides stay; clamped" in header
    assert shutil.which("make")
    done = subprocess.run(["make", "test"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("PASS\n")
