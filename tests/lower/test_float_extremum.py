"""Largest and smallest floats of rows in lanes: NaN, infinities, and which zero it is."""

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


def program(operator: str, t: str, columns: int, init: str) -> str:
    return f"""HloModule m
r {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  ROOT c = {t}[] {operator}(a, b) }}
ENTRY e {{ x = {t}[{len(ROWS)},{columns}] parameter(0)  i = {t}[] constant({init})
  ROOT y = {t}[{len(ROWS)}] reduce(x, i), dimensions={{1}}, to_apply=r }}"""


@pytest.mark.parametrize("t", ["f32", "f64"])
@pytest.mark.parametrize("init", ["-inf", "inf", "nan", "-0"])
@pytest.mark.parametrize("columns", [33, 67, 256])
@pytest.mark.parametrize("operator", ["maximum", "minimum"])
def test_rows_of_notable_numbers(operator: str, columns: int, init: str, t: str) -> None:
    dtype = np.float32 if t == "f32" else np.float64
    x = np.array([row + row[-1:] * (columns - len(row)) for row in ROWS], dtype)
    text = program(operator, t, columns, init)
    built = check(text, x, target=load("host"))
    assert any("bitcast-convert" in str(kernel.body) for kernel in built.program.kernels)
    for arranged in (x, x[:, ::-1].copy()):
        got = np.asarray(ccodegen.compile(text)(arranged))
        want = np.asarray(ccodegen.evaluate(text, arranged))
        np.testing.assert_array_equal(got, want)
        sure = ~np.isnan(want)
        assert (np.signbit(got) == np.signbit(want))[sure].all()
