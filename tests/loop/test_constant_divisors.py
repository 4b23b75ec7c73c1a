"""Divisions by constants: a product and an FMA, and the bits of a division."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.loop.builder import apply, const
from ccodegen.loop.constant_divisors import divide_by_constants
from ccodegen.loop.ir import Buffer, Load, Store
from ccodegen.support.element_type import ElementType
from tests.three_ways import Array, check

DTYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 1e-30, -1e-20, 1e30, 1e-40, 3.4e38]


def program(kind: str, size: int, divisor: float) -> str:
    return f"""ENTRY e {{
  x = {kind}[{size}] parameter(0)
  c = {kind}[] constant({divisor!r})
  b = {kind}[{size}] broadcast(c), dimensions={{}}
  ROOT q = {kind}[{size}] divide(x, b)
}}"""


def quotients(x: Array, divisor: float) -> Array:
    kind = next(k for k, t in DTYPES.items() if t == x.dtype)
    compiled = ccodegen.compile(f"HloModule m\n{program(kind, x.size, divisor)}")
    return np.asarray(compiled(x))


@pytest.mark.parametrize("divisor", [7.0, 255.0, -0.22, 4999.0, 1e-10, 3e15])
def test_all_quotients_of_f32_are_those_of_a_division(divisor: float) -> None:
    x = np.arange(1 << 23, 1 << 24, dtype=np.int32).astype(np.float32)
    got = quotients(x, divisor)
    assert got.tobytes() == (x / np.float32(divisor)).tobytes()


@pytest.mark.parametrize("divisor", [3.0, 1e-3, -49.0])
def test_quotients_of_f64_near_the_middle_of_two(divisor: float) -> None:
    quotient = np.random.default_rng(1).uniform(1, 2, 100_000)
    x = quotient * divisor
    x = np.concatenate([x, np.nextafter(x, 0), np.nextafter(x, np.inf)])
    assert quotients(x, divisor).tobytes() == (x / divisor).tobytes()


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("divisor", [7.0, -0.3])
def test_special_dividends(kind: str, divisor: float) -> None:
    x = np.array(SPECIAL, DTYPES[kind])
    built = check(program(kind, x.size, divisor), x)
    assert "divide-by-constant" in str(built.program.kernels)
    strict = check(program(kind, x.size, divisor), x, strict=True)
    assert "divide-by-constant" not in str(strict.program.kernels)


@pytest.mark.parametrize(
    ("divisor", "is_divided"),
    [
        (3.0, False),
        (0.006933356635272503, True),  # one quotient would be another
        (2.0, True),  # nothing is lacking
        (0.0, True),
        (float("inf"), True),
        (float("nan"), True),
        (1e-30, True),
        (1e30, True),
    ],
)
def test_other_divisors_divide(divisor: float, is_divided: bool) -> None:
    y = Buffer("y", ElementType.F32, (1,))
    quotient = apply("divide", Load(y, (const(ElementType.S32, 0),)), const(y.type, divisor))
    (store,) = divide_by_constants((Store(y, (), quotient),))
    assert isinstance(store, Store)
    assert (store.value == quotient) == is_divided
