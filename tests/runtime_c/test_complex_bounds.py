"""Complex functions keep their bounds on axes, branch cuts, zeros of both signs and all magnitudes,
against NumPy in the next wider type; and what they give for infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support.accuracy import stated_bounds
from tests.runtime_c.compiled import FAST, STRICT, call
from tests.runtime_c.sweep_complex import (
    PARTS,
    REFERENCES,
    TYPES,
    WIDER,
    arguments,
    errors,
    magnitude,
    of_parts,
    worst,
)


@pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("function", REFERENCES)
def test_errors_stay_below_the_stated_bound(function: str, kind: str, flags: str) -> None:
    bound = stated_bounds()[function, kind]
    error, at = worst(function, kind, flags, arguments(kind))
    assert error <= (bound.strict if flags == STRICT else bound.default), at


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
