"""Largest and smallest floats of rows, found among integers of the same order."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.target import load
from tests.three_ways import check

NAN, INF = np.nan, np.inf
# Rows begin with these, and go on with the last of them.
ROWS = [
    [0.0, -0.0],
    [-0.0, 0.0],
    [-0.0, -0.0],
    [1.0, 2.0, -3.0],
    [-1.0, -2.0, -1.5],
    [INF, -INF, 0.0],
    [-INF, -INF],
    [INF, INF],
    [1e-45, -1e-45, 0.0],
    [-1e-45, -2e-45],
    [1.0, NAN, INF],
    [1.0, -NAN, -INF],
    [-NAN, -1.0],
]


def program(operator: str, columns: int, init: str) -> str:
    return f"""HloModule m
r {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] {operator}(a, b) }}
ENTRY e {{ x = f32[{len(ROWS)},{columns}] parameter(0)  i = f32[] constant({init})
  ROOT y = f32[{len(ROWS)}] reduce(x, i), dimensions={{1}}, to_apply=r }}"""


@pytest.mark.parametrize("init", ["-inf", "inf", "nan", "-0"])
@pytest.mark.parametrize("columns", [67, 256])
@pytest.mark.parametrize("operator", ["maximum", "minimum"])
def test_rows_of_notable_numbers(operator: str, columns: int, init: str) -> None:
    x = np.array([row + row[-1:] * (columns - len(row)) for row in ROWS], np.float32)
    text = program(operator, columns, init)
    built = check(text, x, target=load("host"))
    assert any("shift-right" in str(kernel.body) for kernel in built.program.kernels)
    for arranged in (x, x[:, ::-1].copy()):
        got = np.asarray(ccodegen.compile(text)(arranged))
        want = np.asarray(ccodegen.evaluate(text, arranged))
        np.testing.assert_array_equal(got, want)
        sure = ~np.isnan(want)
        assert (np.signbit(got) == np.signbit(want))[sure].all()
