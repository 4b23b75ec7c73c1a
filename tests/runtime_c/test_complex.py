"""Complex functions against NumPy in the next wider type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.runtime_c.compiled import FAST, STRICT, call

INVERSE: dict[str, Any] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
}
UNARY: dict[str, Any] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "tanh": np.tanh,
    "tan": np.tan,
    "sin": np.sin,
    "cos": np.cos,
    "sinh": np.sinh,
    "cosh": np.cosh,
    **INVERSE,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "sign": lambda z: z / np.abs(z),
    "cbrt": lambda z: z ** (z.real.dtype.type(1) / 3),
    "abs": np.abs,
    "negate": np.negative,
}
BINARY: dict[str, Any] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "atan2": lambda y, x: -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)),
}
TYPES = [("c64", np.complex64, np.complex128), ("c128", np.complex128, np.clongdouble)]
# In units of the type's epsilon, relative to the magnitude. The logistic has poles in the range;
# atan2 is HLO's formula, whose quotient is near 1 where the result is small.
SLACK = {"logistic": 500, "power": 100, "atan2": 5000}


def numbers(dtype: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=20_000) + 1j * rng.normal(size=20_000) * 2).astype(dtype)


def check(function: str, reference: Any, kind: Any, flags: str, *operands: Any) -> None:
    name, dtype, wide = kind
    want = reference(*(z.astype(wide) for z in operands))
    error = np.abs(call(f"ccg_{function}_{name}", *operands, flags=flags) - want) / np.abs(want)
    assert error.max() <= SLACK.get(function, 6) * np.finfo(dtype).eps


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", TYPES, ids=["c64", "c128"])
@pytest.mark.parametrize("function", UNARY)
def test_unary(function: str, kind: Any, flags: str) -> None:
    check(function, UNARY[function], kind, flags, numbers(kind[1], 1))


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", TYPES, ids=["c64", "c128"])
@pytest.mark.parametrize("function", BINARY)
def test_binary(function: str, kind: Any, flags: str) -> None:
    check(function, BINARY[function], kind, flags, numbers(kind[1], 1), numbers(kind[1], 2))


def test_no_overflow_on_the_way() -> None:
    large = np.array([3e38 + 1e38j, 1e-38 + 1e-40j, 1e20 + 0j, 1e-18j], np.complex64)
    np.testing.assert_allclose(call("ccg_abs_c64", large), np.abs(large), rtol=1e-6)
    np.testing.assert_allclose(call("ccg_divide_c64", large, large), [1] * 4, rtol=1e-6)
    quotient = call("ccg_divide_c64", np.complex64(1e19), np.complex64(1e-16j))
    np.testing.assert_allclose(quotient, -1e35j, rtol=1e-6)
    root = call("ccg_sqrt_c64", large)
    np.testing.assert_allclose(root, np.sqrt(large.astype(np.complex128)), rtol=1e-6)


@pytest.mark.parametrize("function", INVERSE)
def test_inverse_functions_near_branch_points_on_cuts_and_far_out(function: str) -> None:
    rng = np.random.default_rng(5)
    turns = np.exp(2j * np.pi * rng.random(4000))
    near = rng.choice([1, -1, 1j, -1j], 4000) + 10.0 ** rng.uniform(-5, 0, 4000) * turns
    far = 10.0 ** rng.uniform(-8, 38, 4000) * turns
    cuts = [complex(x, y) for x in (-3, -0.5, 0.5, 3) for y in (0.0, -0.0)]
    cuts += [complex(x, y) for x in (0.0, -0.0) for y in (-3, -0.5, 0.5, 3)]
    z = np.concatenate([near, far, np.array(cuts)]).astype(np.complex64)
    want = INVERSE[function](z.astype(np.complex128))
    found = call(f"ccg_{function}_c64", z)
    error = np.abs(found - want) / np.maximum(np.abs(want), np.finfo(np.float32).tiny)
    assert error.max() <= 6 * np.finfo(np.float32).eps, z[np.argmax(error)]
    clear = np.abs(want.imag) > 1e-3
    assert np.array_equal(np.sign(found.imag[clear]), np.sign(want.imag[clear]))


def test_edges() -> None:
    inf, zero = np.inf, np.complex64(0)
    assert call("ccg_exp_c64", np.complex64(complex(-inf, 3))) == 0
    assert call("ccg_divide_c64", np.complex64(1 + 1j), np.complex64(complex(inf, 0))) == 0
    assert np.isinf(call("ccg_divide_c64", np.complex64(1 + 1j), zero).real)
    assert call("ccg_power_c64", zero, zero) == 1
    assert call("ccg_power_c64", zero, np.complex64(2 + 1j)) == 0
    assert call("ccg_tanh_c64", np.complex64(200 + 1j)) == 1
    assert call("ccg_sign_c64", zero) == 0
