"""Complex functions keep their bounds on axes, branch cuts, zeros of both signs and all magnitudes,
against NumPy in the next wider type; and what they give for infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ccodegen.support.accuracy import stated_bounds
from tests.runtime_c.compiled import FAST, STRICT, call

PARTS: dict[str, Any] = {"c64": np.float32, "c128": np.float64}
TYPES: dict[str, Any] = {"c64": np.complex64, "c128": np.complex128}
WIDER: dict[str, Any] = {"c64": np.complex128, "c128": np.clongdouble}


def of_parts(re: Any, im: Any) -> Any:
    result = np.empty(np.shape(re), np.result_type(re, im, np.complex64))
    result.real, result.imag = re, im
    return result


def magnitude(z: Any) -> Any:
    return np.hypot(z.real, z.imag)


def log1p(z: Any) -> Any:
    x, y = z.real, z.imag
    near = np.log1p(x * (2 + x) + y * y) / 2
    small = np.maximum(np.abs(x), np.abs(y)) < 0.5
    return of_parts(np.where(small, near, np.log(np.hypot(1 + x, y))), np.arctan2(y, 1 + x))


def expm1(z: Any) -> Any:
    re = np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(z.imag / 2) ** 2
    return of_parts(re, np.where(z.imag == 0, 0, np.exp(z.real) * np.sin(z.imag)))


def logistic(z: Any) -> Any:
    e = np.exp(np.where(z.real < 0, z, -z))
    far = np.where(z.real < 0, e, 1) / (1 + e)
    return np.where(np.abs(z.real) < 1, np.exp(z / 2) / (2 * np.cosh(z / 2)), far)


def cbrt(z: Any) -> Any:
    size, angle = np.cbrt(magnitude(z)), np.arctan2(z.imag, z.real) / 3
    return of_parts(size * np.cos(angle), size * np.sin(angle))


REFERENCES: dict[str, Callable[[Any], Any]] = {
    "abs": magnitude,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "cbrt": cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "expm1": expm1,
    "log": np.log,
    "log1p": log1p,
    "logistic": logistic,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sign": lambda z: np.where(z == 0, z, z / magnitude(z)),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}


def arguments(kind: str) -> Any:
    """All pairs of notable numbers, then drawn ones; most near 1 or of ordinary size."""
    info = np.finfo(PARTS[kind])
    largest, root, least = float(info.max), float(info.max) ** 0.5, float(info.tiny)
    notable = [0, info.smallest_subnormal, least / 8, least, 1 / root, 1e-20, 1e-10, 1e-5, 0.1, 0.3]
    notable += [0.5, 0.7, 1 - info.eps, 1, 1 + info.eps, 1.1, np.pi / 2, 2, 3, np.pi, 5, 11, 20, 45]
    notable += [88, 89, 100, 300, 709, 710, 800, 1e4, 1e8, 1e15, root / 2, root, 2 * root]
    notable += [largest / 100, largest / 2, largest]
    both = np.array([*notable, *(-np.array(notable))], PARTS[kind])
    re, im = (a.reshape(-1) for a in np.meshgrid(both, both))
    rng = np.random.default_rng(6)
    end = np.log2(root) * 1.9
    spread = rng.choice([0.5, 8, end], 60_000)
    drawn = of_parts(*(
        rng.choice([-1, 1], 60_000) * 2.0 ** (spread * rng.uniform(-1, 1, 60_000)) for _ in "ri"
    ))
    return np.concatenate([of_parts(re, im), drawn.astype(TYPES[kind])])


def errors(got: Any, want: Any) -> Any:
    """In ulp of the larger part; infinity stands for the next power of two."""
    info = np.finfo(got.dtype)
    pairs = [(got.real, want.real), (got.imag, want.imag)]
    end = want.real.dtype.type(2) ** info.maxexp
    limited = [
        (np.where(np.isinf(g), np.copysign(end, g), g), np.clip(w, -end, end)) for g, w in pairs
    ]
    size = np.max([np.abs(w) for _, w in limited], axis=0)
    _, exponent = np.frexp(np.where(size == 0, end / end * info.tiny, size))
    ulp = np.ldexp(end / end, np.maximum(exponent, info.minexp + 1) - info.nmant - 1)
    distance = np.max([np.abs(g - w) for g, w in limited], axis=0) / ulp
    unlike = np.any([np.isnan(g) != np.isnan(w) for g, w in pairs], axis=0)
    return np.where(unlike, np.inf, np.nan_to_num(distance, nan=0.0))


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("function", REFERENCES)
def test_errors_stay_below_the_stated_bound(function: str, kind: str, flags: str) -> None:
    z = arguments(kind)
    got = call(f"ccg_{function}_{kind}", z, flags=flags)
    with np.errstate(all="ignore"):
        want = REFERENCES[function](z.astype(WIDER[kind]))
        found = errors(got, want)
    bound = stated_bounds()[function, kind]
    worst = int(np.argmax(found))
    limit = bound.strict if flags == STRICT else bound.default
    assert found[worst] <= limit, (found[worst], z[worst], got[worst], want[worst])


def larger_part(z: Any) -> Any:
    return np.maximum(np.abs(z.real), np.abs(z.imag))


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_multiply_and_divide_stay_below_the_stated_bound(kind: str, flags: str) -> None:
    """Where nothing overflows."""
    a = arguments(kind)
    b = np.random.default_rng(7).permutation(a)
    x, y = a.astype(WIDER[kind]), b.astype(WIDER[kind])
    end = float(np.finfo(PARTS[kind]).max) / 2
    with np.errstate(all="ignore"):
        product, quotient = x * y, x / y
        cases = [
            ("multiply", product, larger_part(x) * larger_part(y) < end),
            ("divide", quotient, larger_part(quotient) < end),
        ]
    for function, want, tried in cases:
        got = call(f"ccg_{function}_{kind}", a, b, flags=flags)
        bound = stated_bounds()[function, kind]
        found = errors(got[tried], want[tried])
        assert tried.mean() > 0.5
        assert found.max() <= (bound.strict if flags == STRICT else bound.default)


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_errors_of_power_and_atan2_grow_as_stated(kind: str, flags: str) -> None:
    rng = np.random.default_rng(8)
    a, b = (
        of_parts(*(rng.choice([-1, 1], 100_000) * 2.0 ** rng.uniform(-4, 4, 100_000) for _ in "ri"))
        for _ in "ab"
    )
    a, b = a.astype(TYPES[kind]), b.astype(TYPES[kind])
    x, y = a.astype(WIDER[kind]), b.astype(WIDER[kind])
    exponent = y * np.log(x)
    tried = magnitude(exponent) < 80
    found = errors(call(f"ccg_power_{kind}", a, b, flags=flags), np.exp(exponent))
    assert np.all(found[tried] <= 4 * (1 + magnitude(exponent)[tried]))
    squares = x * x + y * y
    want = np.log((y + 1j * x) / np.sqrt(squares)) / 1j
    off = magnitude(call(f"ccg_atan2_{kind}", a, b, flags=flags) - want)
    kept = magnitude(squares) / (magnitude(x) ** 2 + magnitude(y) ** 2)
    assert np.all(off * kept <= 4 * np.finfo(PARTS[kind]).eps)


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_powers_of_large_and_small_numbers_are_as_exact(kind: str) -> None:
    rng = np.random.default_rng(9)
    a = of_parts(*(2.0 ** rng.uniform(-50, 50, 100_000) for _ in "ri")).astype(TYPES[kind])
    wide = a.astype(WIDER[kind])
    assert errors(call(f"ccg_power_{kind}", a, 2), wide * wide).max() < 11
    assert errors(call(f"ccg_power_{kind}", a, -1), 1 / wide).max() < 6


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("function", ["acos", "acosh", "asin", "asinh", "atanh", "log", "sqrt"])
def test_the_sign_of_zero_says_on_which_side_of_a_cut(function: str, kind: str) -> None:
    cuts = [complex(x, y) for x in (-3, -0.5, -0.0, 0.0, 0.5, 3) for y in (0.0, -0.0)]
    cuts += [complex(x, y) for x in (0.0, -0.0) for y in (-3, -0.5, 0.5, 3)]
    z = np.array(cuts, TYPES[kind])
    got = call(f"ccg_{function}_{kind}", z, flags=STRICT)
    with np.errstate(all="ignore"):
        want = REFERENCES[function](z.astype(WIDER[kind]))
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        clear = np.abs(w) > 1e-6
        assert np.array_equal(np.signbit(g)[clear], np.signbit(w)[clear])


INF, NAN = np.inf, np.nan
SPECIAL = {
    "exp": [(-INF, 1, 0, 0), (-INF, 3, -0.0, 0), (-INF, NAN, 0, 0), (INF, 0, INF, 0)],
    "log": [(0, 0, -INF, 0), (-0.0, 0, -INF, np.pi), (-INF, INF, INF, 3 * np.pi / 4)],
    "sqrt": [(1, INF, INF, INF), (-INF, 1, 0, INF), (0, NAN, NAN, NAN), (-4, -0.0, 0, -2)],
    "tanh": [(INF, 1, 1, 0), (INF, INF, 1, 0), (-INF, INF, -1, 0)],
    "asin": [(INF, 1, np.pi / 2, INF), (INF, INF, np.pi / 4, INF), (1, INF, 0, INF)],
    "acos": [(INF, INF, np.pi / 4, -INF), (-INF, 1, np.pi, -INF), (NAN, INF, NAN, -INF)],
    "acosh": [(-INF, INF, INF, 3 * np.pi / 4), (INF, 1, INF, 0), (NAN, INF, INF, NAN)],
    "asinh": [(0, INF, INF, np.pi / 2), (INF, INF, INF, np.pi / 4), (-INF, 1, -INF, 0)],
    "atanh": [(1, 0, INF, 0), (INF, 1, 0, np.pi / 2), (0, INF, 0, np.pi / 2)],
    "sin": [(INF, 0, NAN, 0), (0, INF, 0, INF)],
    "cos": [(0, INF, INF, -0.0), (0, -0.0, 1, 0)],
    "logistic": [(INF, 0, 1, 0), (-INF, 0, 0, 0), (0, -0.0, 0.5, -0.0)],
}


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("function", SPECIAL)
def test_special_values(function: str, kind: str) -> None:
    table = np.array(SPECIAL[function], PARTS[kind])
    for flags in (FAST, STRICT):
        got = call(f"ccg_{function}_{kind}", of_parts(table[:, 0], table[:, 1]), flags=flags)
        for part, want in ((got.real, table[:, 2]), (got.imag, table[:, 3])):
            np.testing.assert_allclose(part, want, rtol=1e-6)
            number = ~np.isnan(want)
            assert np.array_equal(np.signbit(part)[number], np.signbit(want)[number]), part
