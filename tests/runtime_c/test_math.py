"""The math functions keep the error bounds that their headers state, and C99's special values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ccodegen.support.accuracy import stated_bounds
from tests.runtime_c.compiled import FAST, STRICT, call

INF, NAN = np.inf, np.nan
FINER = {"f32": np.float64, "f64": np.longdouble}
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
REFERENCES: dict[str, Any] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "atan2": np.arctan2,
    "pow": np.power,
    "decay": np.exp,
}
OF_ANY_NUMBER = sorted(REFERENCES.keys() - {"atan2", "pow", "decay"})
SPECIAL = {
    "exp": [(INF, INF), (-INF, 0.0), (0.0, 1.0), (NAN, NAN), (1000.0, INF), (-1000.0, 0.0)],
    "expm1": [(INF, INF), (-INF, -1.0), (-0.0, -0.0), (NAN, NAN), (1000.0, INF)],
    "log": [(0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (1.0, 0.0), (NAN, NAN)],
    "log1p": [(-1.0, -INF), (-2.0, NAN), (INF, INF), (-0.0, -0.0), (NAN, NAN)],
    "tanh": [(INF, 1.0), (-INF, -1.0), (-0.0, -0.0), (NAN, NAN)],
    "logistic": [(INF, 1.0), (-INF, 0.0), (0.0, 0.5), (NAN, NAN)],
    "erf": [(INF, 1.0), (-INF, -1.0), (-0.0, -0.0), (NAN, NAN), (9.0, 1.0)],
    "sin": [(INF, NAN), (-0.0, -0.0), (NAN, NAN)],
    "cos": [(-INF, NAN), (0.0, 1.0), (NAN, NAN)],
    "tan": [(INF, NAN), (-0.0, -0.0), (NAN, NAN)],
    "asin": [(1.5, NAN), (-0.0, -0.0), (NAN, NAN)],
    "acos": [(1.0, 0.0), (-1.5, NAN), (NAN, NAN)],
    "atan": [(INF, np.pi / 2), (-0.0, -0.0), (NAN, NAN)],
    "sinh": [(INF, INF), (-INF, -INF), (-0.0, -0.0), (NAN, NAN)],
    "cosh": [(INF, INF), (-INF, INF), (0.0, 1.0), (NAN, NAN)],
    "asinh": [(INF, INF), (-INF, -INF), (-0.0, -0.0), (NAN, NAN)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-3.0, NAN), (INF, INF), (NAN, NAN)],
    "atanh": [(1.0, INF), (-1.0, -INF), (2.0, NAN), (-0.0, -0.0), (NAN, NAN)],
    "sqrt": [(-0.0, -0.0), (-1.0, NAN), (INF, INF)],
    "rsqrt": [(0.0, INF), (INF, 0.0), (-1.0, NAN)],
    "cbrt": [(INF, INF), (-INF, -INF), (-0.0, -0.0), (-27.0, -3.0), (NAN, NAN)],
}
POWERS = [
    (0.0, 0.0, 1.0),
    (NAN, 0.0, 1.0),
    (1.0, NAN, 1.0),
    (1.0, INF, 1.0),
    (-1.0, INF, 1.0),
    (-1.0, NAN, NAN),
    (0.0, -1.0, INF),
    (-0.0, -1.0, -INF),
    (-0.0, 3.0, -0.0),
    (-0.0, 2.0, 0.0),
    (0.0, 2.5, 0.0),
    (-2.0, 3.0, -8.0),
    (-2.0, 0.5, NAN),
    (-INF, 3.0, -INF),
    (-INF, 0.5, INF),
    (-INF, -1.0, -0.0),
    (INF, -2.0, 0.0),
    (0.5, INF, 0.0),
    (0.5, -INF, INF),
    (2.0, -INF, 0.0),
    (0.0, -INF, INF),
    (INF, NAN, NAN),
    (3.0, 4.0, 81.0),
]
ANGLES = [
    (0.0, -0.0, np.pi),
    (-0.0, -0.0, -np.pi),
    (-0.0, 0.0, -0.0),
    (0.0, -1.0, np.pi),
    (INF, -INF, 3 * np.pi / 4),
    (1.0, INF, 0.0),
    (1.0, -INF, np.pi),
    (-INF, 1.0, -np.pi / 2),
    (NAN, 1.0, NAN),
    (1.0, NAN, NAN),
]


def stated_bound(function: str, kind: str, flags: str) -> float:
    bound = stated_bounds()[function, kind]
    return bound.strict if flags == STRICT else bound.default


def samples(kind: str) -> Any:
    """Arguments of every magnitude, and more where functions change quickly."""
    rng = np.random.default_rng(7)
    dtype = DTYPES[kind]
    parts = [scale * rng.uniform(-1, 1, 30_000) for scale in (1e-3, 1, 10, 100, 750, 1e5)]
    parts += [1 + 1e-3 * rng.uniform(-1, 1, 30_000)]
    raw = rng.bytes(60_000 * np.dtype(dtype).itemsize)
    return np.concatenate([np.array(p, dtype) for p in parts] + [np.frombuffer(raw, dtype)])


def errors(got: Any, want: Any) -> Any:
    """Distances in ulp of the reference. Infinity stands for the next power of two."""
    info = ml_dtypes.finfo(got.dtype)
    with np.errstate(over="ignore"):
        end = want.dtype.type(2.0) ** info.maxexp
    limited = np.where(np.isinf(got), np.copysign(end, got), got.astype(want.dtype))
    want = np.clip(want, -end, end)
    _, exponent = np.frexp(np.abs(want))
    exponent = np.where(want == 0, info.minexp, exponent)
    ulp = np.ldexp(want.dtype.type(1), np.maximum(exponent, info.minexp + 1) - info.nmant - 1)
    distance = np.abs(limited - want) / ulp
    return np.where(np.isnan(got) | np.isnan(want), np.isnan(got) != np.isnan(want), distance)


def check_bound(function: str, kind: str, flags: str, *arguments: Any) -> None:
    got = call(f"ccg_{function}_{kind}", *arguments, flags=flags)
    with np.errstate(all="ignore"):
        want = REFERENCES[function](*(a.astype(FINER[kind]) for a in arguments))
        found = errors(got, want)
    worst = int(np.argmax(found))
    bound = stated_bound(function, kind, flags)
    assert found[worst] <= bound, (found[worst], [float(a[worst]) for a in arguments])


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("function", OF_ANY_NUMBER)
def test_error_stays_below_the_stated_bound(function: str, kind: str, flags: str) -> None:
    check_bound(function, kind, flags, samples(kind))


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("narrow", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])
@pytest.mark.parametrize("function", OF_ANY_NUMBER)
def test_narrow_floats_round_once_more(function: str, narrow: Any, flags: str) -> None:
    """All arguments: the error of f32 hardly shows."""
    x = np.arange(1 << 16, dtype=np.uint16).view(narrow)
    with np.errstate(all="ignore"):
        got = call(f"ccg_{function}_f32", x.astype(np.float32), flags=flags).astype(narrow)
        found = errors(got, REFERENCES[function](x.astype(np.float64)))
    worst = int(np.argmax(found))
    assert found[worst] <= 0.501, (found[worst], float(x[worst]))


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_functions_of_two_arguments_stay_below_their_bounds(kind: str, flags: str) -> None:
    x = samples(kind)
    y = np.random.default_rng(8).permutation(x)
    check_bound("atan2", kind, flags, x, y)
    check_bound("pow", kind, flags, np.abs(x), y)


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_decay_is_exp_of_what_is_not_large(kind: str, flags: str) -> None:
    x = samples(kind)
    x = np.append(-np.abs(x), DTYPES[kind]([0, 0.5, 39]))
    check_bound("decay", kind, flags, x)
    assert call(f"ccg_decay_{kind}", DTYPES[kind]([0]), flags=flags) == 1
    nans = np.arange(1, 600, dtype=f"u{x.itemsize}") | DTYPES[kind](NAN).view(f"u{x.itemsize}")
    nans = np.concatenate([nans.view(DTYPES[kind]), -nans.view(DTYPES[kind])])
    assert np.isnan(call(f"ccg_decay_{kind}", nans, flags=flags)).all()


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize(("kind", "exponent", "least"), [("f32", 64, -100), ("f64", 512, -900)])
def test_quotients_by_reciprocals_are_quotients(
    kind: str, exponent: int, least: int, flags: str
) -> None:
    rng, t = np.random.default_rng(5), DTYPES[kind]
    size = 200_000
    b = np.ldexp(rng.uniform(1, 2, size), rng.integers(-exponent, exponent, size)).astype(t)
    q = rng.uniform(1, 2, size).astype(t)
    # The dividends of the second half lie near products with the middle of two floats.
    a = np.where(np.arange(size) < size // 2, np.ldexp(q, rng.integers(least, 60, size)), q * b)
    a = np.where(np.arange(size) % 3 == 0, np.nextafter(a, t(0)), -a).astype(t)
    a[:8] = [0, -0.0, INF, -INF, NAN, 1, -1, 2]
    with np.errstate(all="ignore"):
        want = a / b
    got = call(f"ccg_quotient_{kind}", a, b, 1 / b, flags=flags)
    normal = (want == 0) | (abs(want) >= np.finfo(t).tiny) | np.isnan(want)
    np.testing.assert_array_equal(got[normal], want[normal])
    assert (np.signbit(got) == np.signbit(want))[normal & ~np.isnan(want)].all()


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_erf(kind: str, flags: str) -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-6.5, 6.5, 100_001).astype(DTYPES[kind])
    got = call(f"ccg_erf_{kind}", x, flags=flags)
    # scipy computes in f64, so for f64 its own error is in the distance.
    slack = 1.5 if kind == "f64" else 0
    want = special.erf(x.astype(np.float64))
    assert errors(got, want).max() <= stated_bound("erf", kind, flags) + slack


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("function", sorted(SPECIAL))
def test_special_values(function: str, kind: str) -> None:
    x, want = np.array(SPECIAL[function], DTYPES[kind]).T
    for flags in (FAST, STRICT):
        np.testing.assert_array_max_ulp(call(f"ccg_{function}_{kind}", x, flags=flags), want, 1)
        signs = np.signbit(call(f"ccg_{function}_{kind}", x, flags=flags))
        assert (signs == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(("function", "table"), [("pow", POWERS), ("atan2", ANGLES)])
def test_special_values_of_two_arguments(function: str, table: Any, kind: str) -> None:
    x, y, want = np.array(table, DTYPES[kind]).T
    for flags in (FAST, STRICT):
        got = call(f"ccg_{function}_{kind}", x, y, flags=flags)
        np.testing.assert_array_max_ulp(got, want, 1)
        assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_denormals_are_kept(kind: str) -> None:
    tiny = np.finfo(DTYPES[kind]).smallest_subnormal
    x = np.array([tiny, 5 * tiny, -9 * tiny], DTYPES[kind])
    for function in ("expm1", "log1p", "tanh", "sin", "tan", "asin", "atan", "sinh", "asinh"):
        np.testing.assert_array_equal(call(f"ccg_{function}_{kind}", x), x)


def test_angles_of_any_size_are_reduced_exactly() -> None:
    x = np.array([1e22, 2.0**1000, 1.7e308, 6381956970095103.0 * 2.0**797])
    want = np.sin(x.astype(np.longdouble)).astype(np.float64)
    np.testing.assert_array_max_ulp(call("ccg_sin_f64", x), want, 1)


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize(("kind", "end"), [("f32", 2.0**17), ("f64", 2.0**20)])
@pytest.mark.parametrize("function", ["sin", "cos", "tan"])
def test_near_angles_have_the_bits_of_any(function: str, kind: str, end: float, flags: str) -> None:
    """Else the bits would depend on what else there is in a loop."""
    x = samples(kind)
    last = np.nextafter(DTYPES[kind](end), DTYPES[kind](0))
    x = np.concatenate([x[np.abs(x) < end], np.array([0, -0.0, last, -last], x.dtype)])
    near = call(f"ccg_near_{function}_{kind}", x, flags=flags)
    assert near.tobytes() == call(f"ccg_{function}_{kind}", x, flags=flags).tobytes()
