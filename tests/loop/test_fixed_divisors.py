"""Loops that divide by one number take its reciprocal, and give what a division gives."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.target import load
from tests.three_ways import check

DIVIDENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 1e-30, -1e-20, 1e30, -1e37, 7.0]


def program(operation: str = "", shape: str = "f32", columns: int = 240) -> str:
    """Rows, each divided by its own number."""
    rows = f"{shape}[4,{columns}]"
    return f"""ENTRY e {{
  x = {rows} parameter(0)
  s = {shape}[4] parameter(1)
  b = {rows} broadcast(s), dimensions={{0}}
  {operation or f"ROOT q = {rows} divide(x, b)"}
}}"""


def takes_reciprocal(
    text: str, *arguments: object, target: str = "host", strict: bool = False
) -> bool:
    """Whether the program is right, and multiplies by a reciprocal."""
    built = check(text, *arguments, target=load(target), strict=strict)
    return any("quotient" in str(kernel.body) for kernel in built.program.kernels)


@pytest.mark.parametrize("shape", ["f32", "f64"])
@pytest.mark.parametrize(
    "divisors",
    [
        [1.5, 3.0, 1e10, 1e-10],
        [0.0, np.inf, np.nan, -3.0],
        [-0.0, -np.inf, 1e-40, 3e38],
    ],
)
def test_special_values(shape: str, divisors: list[float]) -> None:
    dtype = np.dtype(np.float32 if shape == "f32" else np.float64)
    x = np.resize(np.array(DIVIDENDS, dtype), (4, 240))
    assert takes_reciprocal(program(shape=shape), x, np.array(divisors, dtype))


def test_the_bits_are_those_of_a_division() -> None:
    rng = np.random.default_rng(3)
    x = np.ldexp(rng.standard_normal((4, 240)), rng.integers(-60, 60, (4, 240))).astype(np.float32)
    s = np.array([np.pi, 1 / 3, 2 - 2**-23, 1000.1], np.float32)
    compiled = ccodegen.compile(f"HloModule m\n{program()}")
    assert np.asarray(compiled(x, s)).tobytes() == (x / s[:, None]).tobytes()


@pytest.mark.parametrize("columns", [127, 1])
def test_short_loops_divide(columns: int) -> None:
    assert not takes_reciprocal(program(columns=columns))


def test_strict_mode_divides() -> None:
    assert not takes_reciprocal(program(), strict=True)


def test_no_vectors_no_reciprocal() -> None:
    assert not takes_reciprocal(program(), target="cortex-m4")


def test_dear_loops_divide() -> None:
    """The divider works while they compute."""
    assert not takes_reciprocal(
        program("e = f32[4,240] exponential(x)  ROOT q = f32[4,240] divide(e, b)")
    )


def test_a_divisor_that_may_not_be_there_is_not_read_before() -> None:
    text = """ENTRY e { x = f32[4,240] parameter(0)  s = f32[4] parameter(1)
  at = s32[] parameter(2)
  zero = f32[] constant(0)  first = s32[] constant(0)
  b = f32[4,240] broadcast(s), dimensions={0}
  q = f32[4,240] divide(x, b)
  p = f32[14,240] pad(q, zero), padding=5_5x0_0
  ROOT d = f32[9,240] dynamic-slice(p, at, first), dynamic_slice_sizes={9,240} }"""
    x, s = np.ones((4, 240), np.float32), np.arange(1, 5, dtype=np.float32)
    assert not takes_reciprocal(text, x, s, np.int32(3))


def test_what_changes_divides() -> None:
    text = """ENTRY e { x = f32[4,240] parameter(0)
  s = f32[240] parameter(1)
  b = f32[4,240] broadcast(s), dimensions={1}
  ROOT q = f32[4,240] divide(x, b) }"""
    assert not takes_reciprocal(text)
