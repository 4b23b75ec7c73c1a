"""Measures the errors of runtime_c's complex functions, in ulp of the larger part of the result.

    python -m tests.runtime_c.sweep_complex [--count N] [--seed N] [FUNCTION ...]

Of c64 and c128, in default and in strict mode, over all pairs of notable numbers and N drawn
arguments, against NumPy in the next wider type. Prints what was found and what the comments of
ccg_complex.inc and ccg_math_complex.inc state; fails if that is less.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import numpy as np

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


def arguments(kind: str, count: int = 60_000, seed: int = 6) -> Any:
    """All pairs of notable numbers, then `count` drawn ones; most near 1 or of ordinary size."""
    info = np.finfo(PARTS[kind])
    largest, root, least = float(info.max), float(info.max) ** 0.5, float(info.tiny)
    notable = [0, info.smallest_subnormal, least / 8, least, 1 / root, 1e-20, 1e-10, 1e-5, 0.1, 0.3]
    notable += [0.5, 0.7, 1 - info.eps, 1, 1 + info.eps, 1.1, np.pi / 2, 2, 3, np.pi, 5, 11, 20, 45]
    notable += [88, 89, 100, 300, 709, 710, 800, 1e4, 1e8, 1e15, root / 2, root, 2 * root]
    notable += [largest / 100, largest / 2, largest]
    both = np.array([*notable, *(-np.array(notable))], PARTS[kind])
    re, im = (a.reshape(-1) for a in np.meshgrid(both, both))
    rng = np.random.default_rng(seed)
    end = np.log2(root) * 1.9
    spread = rng.choice([0.5, 8, end], count)
    drawn = of_parts(
        *(rng.choice([-1, 1], count) * 2.0 ** (spread * rng.uniform(-1, 1, count)) for _ in "ri")
    )
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


def worst(function: str, kind: str, flags: str, z: Any) -> tuple[float, Any]:
    """The largest error, and its argument."""
    got = call(f"ccg_{function}_{kind}", z, flags=flags)
    with np.errstate(all="ignore"):
        found = errors(got, REFERENCES[function](z.astype(WIDER[kind])))
    at = int(np.argmax(found))
    return float(found[at]), z[at]


def report(function: str, kind: str, z: Any) -> bool:
    """Prints the result. Whether it is within the stated bound."""
    bound = stated_bounds()[function, kind]
    within = True
    modes = [("default", FAST, bound.default), ("strict", STRICT, bound.strict)]
    for mode, flags, limit in modes:
        error, at = worst(function, kind, flags, z)
        verdict = "" if error <= limit else "  ABOVE THE BOUND"
        line = f"{function:9} {kind:4} {mode:7} {error:7.3f} of {limit} at {at}{verdict}"
        print(line, flush=True)
        within &= error <= limit
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", default=list(REFERENCES))
    parser.add_argument("--count", type=int, default=1_500_000)
    parser.add_argument("--seed", type=int, default=6)
    options = parser.parse_args()
    os.nice(19)
    within = True
    for kind in PARTS:
        z = arguments(kind, options.count, options.seed)
        for function in options.functions:
            within &= report(function, kind, z)
    return 0 if within else 1


if __name__ == "__main__":
    raise SystemExit(main())
