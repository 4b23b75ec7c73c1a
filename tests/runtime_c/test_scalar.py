"""The semantics that trap: integers, conversions, and float operators at their edges."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.runtime_c.compiled import FAST, SANITIZED, STRICT, call

INF, NAN = np.inf, np.nan
WIDTHS = [1, 2, 4, 8, 16, 32, 64]
TYPES = [f"{sign}{width}" for sign in "su" for width in WIDTHS]


def held(name: str) -> Any:
    """The NumPy type that holds an element of the integer type."""
    return np.dtype(f"{'u' if name[0] == 'u' else ''}int{max(8, int(name[1:]))}")


def limits(name: str) -> tuple[int, int]:
    bits = int(name[1:])
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def wrapped(name: str, value: int) -> int:
    low, high = limits(name)
    return (value - low) % (high - low + 1) + low


def pairs(name: str) -> list[tuple[int, int]]:
    """All pairs of a type of few values; of others the edges and some random values."""
    low, high = limits(name)
    if high - low < 16:
        values = list(range(low, high + 1))
    else:
        rng = np.random.default_rng(5)
        random = rng.integers(low, high, 12, held(name), endpoint=True)
        edges = {low, low + 1, -1, 0, 1, 2, 3, 5, 7, int(name[1:]), high - 1, high}
        values = [v for v in edges if low <= v <= high] + [int(v) for v in random]
    return [(a, b) for a in values for b in values]


def divide(name: str, a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(name: str, a: int, b: int) -> int:
    if b < 0:
        return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
    return pow(a, b, 2**64)


def shift_right_arithmetic(name: str, a: int, b: int) -> int:
    bits = int(name[1:])
    signed = a - 2**bits if a >= 2 ** (bits - 1) else a
    return signed >> (b if 0 <= b < bits else bits - 1)


def shift_right_logical(name: str, a: int, b: int) -> int:
    bits = int(name[1:])
    return a % 2**bits >> b if 0 <= b < bits else 0


BINARY: dict[str, Any] = {
    "add": lambda name, a, b: a + b,
    "subtract": lambda name, a, b: a - b,
    "multiply": lambda name, a, b: a * b,
    "maximum": lambda name, a, b: max(a, b),
    "minimum": lambda name, a, b: min(a, b),
    "divide": divide,
    "remainder": lambda name, a, b: a - b * divide(name, a, b) if b else a,
    "power": power,
    "mulhi": lambda name, a, b: a * b >> int(name[1:]),
    "shift_left": lambda name, a, b: a << b if 0 <= b < int(name[1:]) else 0,
    "shift_right_arithmetic": shift_right_arithmetic,
    "shift_right_logical": shift_right_logical,
}
UNARY: dict[str, Any] = {
    "abs": lambda name, a: abs(a),
    "negate": lambda name, a: -a,
    "sign": lambda name, a: (a > 0) - (a < 0),
    "clz": lambda name, a: int(name[1:]) - (a % 2 ** int(name[1:])).bit_length(),
    "popcnt": lambda name, a: bin(a % 2 ** int(name[1:])).count("1"),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("operator", BINARY)
def test_binary_integer_operators(operator: str, name: str) -> None:
    a, b = np.array(pairs(name), held(name)).T
    want = [wrapped(name, BINARY[operator](name, x, y)) for x, y in pairs(name)]
    assert call(f"ccg_{operator}_{name}", a, b).tolist() == want


@pytest.mark.parametrize("name", ["s16", "u16", "s32", "u32"])
def test_quotients_next_to_whole_ones(name: str) -> None:
    low, high = limits(name)
    rng = np.random.default_rng(3)
    b = np.exp2(rng.uniform(0, np.log2(high), 30_000)).astype(np.int64)
    whole = np.exp2(rng.uniform(0, 1, b.size) * np.log2(high / b)).astype(np.int64)
    a = np.clip(whole * b + rng.integers(-1, 2, b.size), 0, high)
    signs = np.where(rng.integers(0, 2, (2, b.size)) > 0, 1, -1) if low < 0 else 1
    a, b = np.array([a, b]) * signs
    want = np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)
    operands = a.astype(held(name)), b.astype(held(name))
    np.testing.assert_array_equal(call(f"ccg_divide_{name}", *operands), want)
    np.testing.assert_array_equal(call(f"ccg_remainder_{name}", *operands), a - want * b)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("operator", UNARY)
def test_unary_integer_operators(operator: str, name: str) -> None:
    values = sorted({a for a, _ in pairs(name)})
    want = [wrapped(name, UNARY[operator](name, a)) for a in values]
    assert call(f"ccg_{operator}_{name}", np.array(values, held(name))).tolist() == want


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_float_to_integer_saturates(name: str, wide: Any) -> None:
    low, high = limits(name)
    edges = np.array([low, high, low / 2, high / 2, -1, 0, 1, 2.0**31, 2.0**63, 2.0**64], wide)
    with np.errstate(over="ignore"):
        up, down = np.nextafter(edges, wide(INF)), np.nextafter(edges, wide(-INF))
    special = np.array([INF, -INF, NAN, 1e30, -1e30], wide)
    x = np.concatenate([edges, -edges, up, down, edges + wide(0.7), special])
    want = [0 if np.isnan(v) else _truncated(v, low, high) for v in x.tolist()]
    kind = np.dtype(wide).name.replace("float", "f")
    for flags in (FAST, STRICT):
        assert call(f"ccg_{name}_from_{kind}", x, flags=flags).tolist() == want


def _truncated(value: float, low: int, high: int) -> int:
    return min(max(int(np.clip(value, -1e30, 1e30)), low), high)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_float_operators_at_their_edges(kind: str) -> None:
    dtype = np.float32 if kind == "f32" else np.float64

    def check(operator: str, want: list[float], *arguments: list[float]) -> None:
        for flags in (FAST, STRICT):
            arrays = [np.array(a, dtype) for a in arguments]
            got = call(f"ccg_{operator}_{kind}", *arrays, flags=flags)
            np.testing.assert_array_equal(got, want)
            assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()

    check("maximum", [0.0, 0.0, NAN, NAN, 2], [0.0, -0.0, NAN, 1, 1], [-0.0, 0.0, 1, NAN, 2])
    check("minimum", [-0.0, -0.0, NAN, NAN], [0.0, -0.0, NAN, 1.0], [-0.0, 0.0, 1.0, NAN])
    low, high = [NAN, 0, 0, 1, 0], [2, 2, NAN, 2, 2]
    check("clamp", [NAN, NAN, NAN, 1.0, 2.0], low, [1, NAN, 1, 0, 5], high)
    check("sign", [1.0, -1.0, 0.0, -0.0, NAN], [INF, -3.0, 0.0, -0.0, NAN])
    check("abs", [INF, 3.0, 0.0, NAN], [-INF, -3.0, -0.0, NAN])
    halves = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609.0, INF]
    check("round_nearest_even", [0, 2, 2, -0.0, -2, 0, 8388609.0, INF], halves)
    check("round_nearest_afz", [1, 2, 3, -1, -2, 0, 8388609.0, INF], halves)
    check("is_finite", [1, 0, 0, 0, 1], [0.0, INF, -INF, NAN, -1e30])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_remainder_is_exact(kind: str) -> None:
    dtype = np.dtype(np.float32 if kind == "f32" else np.float64)
    rng = np.random.default_rng(4)
    bits = [np.frombuffer(rng.bytes(20_000 * dtype.itemsize), dtype) for _ in range(2)]
    special = np.array([0.0, -0.0, 1.0, -1.5, INF, -INF, NAN, 3e-45 if kind == "f32" else 5e-324])
    grid = np.array(np.meshgrid(special, special)).reshape(2, -1)
    a = np.concatenate([bits[0], grid[0].astype(dtype), rng.uniform(-99, 99, 999).astype(dtype)])
    b = np.concatenate([bits[1], grid[1].astype(dtype), rng.uniform(-9, 9, 999).astype(dtype)])
    with np.errstate(invalid="ignore"):
        want = np.fmod(a, b)
    got = call(f"ccg_remainder_{kind}", a, b)
    np.testing.assert_array_equal(got, want)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


def test_total_order() -> None:
    order = np.array([-NAN, -INF, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, INF, NAN])
    for kind, dtype in (("f32", np.float32), ("f64", np.float64)):
        keys = call(f"ccg_total_order_{kind}", order.astype(dtype))
        assert (np.diff(keys.astype(float)) > 0).all()


def test_nan_is_true() -> None:
    assert call("ccg_pred_from_f32", np.float32([NAN, 0, -0.0, 1e-45])).tolist() == [1, 0, 0, 1]


def test_reduce_precision_rounds_as_the_narrow_type_does() -> None:
    x = np.random.default_rng(6).normal(size=10_000).astype(np.float32) * 1000
    x = np.concatenate([x, np.float32([INF, -INF, NAN, 1e6, 0.0, -0.0])])
    half = call("ccg_reduce_precision_f32", x, np.uint32(5), np.uint32(10))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(half, x.astype(np.float16).astype(np.float32))
    same = call("ccg_reduce_precision_f32", x, np.uint32(8), np.uint32(23))
    np.testing.assert_array_equal(same, x)
    single = call("ccg_reduce_precision_f64", x.astype(np.float64) / 3, np.uint32(8), np.uint32(23))
    np.testing.assert_array_equal(single, (x.astype(np.float64) / 3).astype(np.float32))
    small = np.float32([1e-6, -1e-6])
    flushed = call("ccg_reduce_precision_f32", small, np.uint32(5), np.uint32(10))
    assert flushed.tolist() == [0.0, 0.0] and np.signbit(flushed).tolist() == [False, True]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reduce_precision_without_mantissa_makes_any_nan_positive_infinity(dtype: Any) -> None:
    x = np.array([np.nan, -np.nan], dtype)
    name = f"ccg_reduce_precision_f{x.itemsize * 8}"
    assert call(name, x, np.uint32(5), np.uint32(0)).tolist() == [np.inf, np.inf]


def test_clang_agrees() -> None:
    a, b = np.array(pairs("s32"), np.int32).T
    for operator in BINARY:
        got = call(f"ccg_{operator}_s32", a, b, compiler="clang")
        np.testing.assert_array_equal(got, call(f"ccg_{operator}_s32", a, b))


def test_the_sanitizer_is_silent() -> None:
    """Undefined behaviour ends the process that runs every function over special values."""
    command = [sys.executable, "-m", "tests.runtime_c.run_all", "clang", SANITIZED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, [*done.stdout.splitlines()[-1:], done.stderr]
