"""Measures the errors in f32, in ulp, of functions that JAX or jaxlib write out as other ops.

    python -m tests.jax_functions.sweep [--step N] [FUNCTION ...]

Every N-th of the 2^32 arguments, by ccodegen in default mode and by XLA, against SciPy in f64.
XLA takes denormals for zero: where the argument or the true result is one, ours counts apart.
Prints rows of ccodegen/commands/expansions.py. All 2^32 arguments take some minutes a function.
jax.scipy.special.exp1 and expi are left out: their loops do not end for 1e-30, by XLA either.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from scipy import special

import ccodegen
from ccodegen.commands.expansions import Measured

Array = np.ndarray[Any, Any]
Function = Callable[[Array], Array]

BLOCK = 2**20
TINY = 2.0**-126


@dataclass(frozen=True)
class Expansion:
    """A function of JAX, and SciPy's."""

    call: Callable[[Any], Any]
    truth: Function


def digamma(x: Array) -> Array:
    """NaN at every pole, as JAX has it; SciPy has infinities at zero."""
    return np.where(x == 0, np.nan, special.psi(x))


def erf_inv(x: Array) -> Array:
    """SciPy takes microseconds for an argument outside of the domain."""
    return np.asarray(special.erfinv(np.where(abs(x) <= 1, x, np.nan)))


def softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


EXPANSIONS = {
    "jax.lax.erfc": Expansion(jax.lax.erfc, special.erfc),
    "jax.lax.erf_inv": Expansion(jax.lax.erf_inv, erf_inv),
    "jax.lax.lgamma": Expansion(jax.lax.lgamma, special.gammaln),
    "jax.lax.digamma": Expansion(jax.lax.digamma, digamma),
    "jax.lax.bessel_i0e": Expansion(jax.lax.bessel_i0e, special.i0e),
    "jax.lax.bessel_i1e": Expansion(jax.lax.bessel_i1e, special.i1e),
    "jax.lax.exp2": Expansion(jax.lax.exp2, np.exp2),
    "jax.numpy.log2": Expansion(jax.numpy.log2, np.log2),
    "jax.numpy.log10": Expansion(jax.numpy.log10, np.log10),
    "jax.scipy.special.i0": Expansion(jax.scipy.special.i0, special.i0),
    "jax.scipy.special.i1": Expansion(jax.scipy.special.i1, special.i1),
    "jax.scipy.special.ndtr": Expansion(jax.scipy.special.ndtr, special.ndtr),
    "jax.scipy.special.ndtri": Expansion(jax.scipy.special.ndtri, special.ndtri),
    "jax.scipy.special.log_ndtr": Expansion(jax.scipy.special.log_ndtr, special.log_ndtr),
    "jax.scipy.special.logit": Expansion(jax.scipy.special.logit, special.logit),
    "jax.scipy.special.entr": Expansion(jax.scipy.special.entr, special.entr),
    "jax.scipy.special.gamma": Expansion(jax.scipy.special.gamma, special.gamma),
    "jax.scipy.special.spence": Expansion(jax.scipy.special.spence, special.spence),
    "jax.nn.softplus": Expansion(jax.nn.softplus, softplus),
}


@dataclass(frozen=True)
class Errors:
    """Of the results that are not the nearest float: in ulp, the arguments, and whether neither
    argument nor true result is denormal. Infinite where just one of result and truth is NaN or the
    truth alone is infinite; past the largest number, infinity is the next power of two. The sign of
    zero does not count."""

    ulp: Array
    arguments: Array
    normal: Array


@dataclass
class Worst:
    """The largest error so far, where, and how many are above 4 ulp. An argument that gives the
    nearest float counts as half an ulp."""

    error: float = 0.5
    at: float = 0.0
    above_4: int = 0

    def add(self, errors: Array, arguments: Array) -> None:
        self.above_4 += int(np.count_nonzero(errors > 4))
        if errors.size and errors.max() > self.error:
            self.error, self.at = float(errors.max()), float(arguments[errors.argmax()])


def measure(name: str, step: int) -> Measured:
    """Of every `step`-th argument."""
    expansion = EXPANSIONS[name]
    lowered = jax.jit(expansion.call).lower(jax.ShapeDtypeStruct((BLOCK,), np.float32))
    ours, theirs = ccodegen.compile(lowered), lowered.compile()
    normal, denormal, xla = Worst(), Worst(), Worst()
    for x in blocks(step):
        with np.errstate(all="ignore"):
            wanted = expansion.truth(x.astype(np.float64))
        found = errors(x, ours(x), wanted)
        normal.add(found.ulp[found.normal], found.arguments[found.normal])
        denormal.add(found.ulp[~found.normal], found.arguments[~found.normal])
        found = errors(x, np.asarray(theirs(x)), wanted)
        xla.add(found.ulp[found.normal], found.arguments[found.normal])
    percent = 100 * normal.above_4 / len(range(0, 2**32, step))
    return Measured(name, normal.error, normal.at, percent, denormal.error, xla.error, step)


def blocks(step: int) -> Iterator[Array]:
    """The floats of every `step`-th bit pattern, BLOCK at a time; the last block is filled with
    its last one."""
    for begin in range(0, 2**32, step * BLOCK):
        bits = begin + step * np.arange(BLOCK, dtype=np.uint64)
        last = (2**32 - 1 - begin) // step * step + begin
        yield np.minimum(bits, last).astype(np.uint32).view(np.float32)


def errors(arguments: Array, got: Array, wanted: Array) -> Errors:
    with np.errstate(all="ignore"):
        nearest = wanted.astype(np.float32)
    off = np.flatnonzero((got != nearest) & ~(np.isnan(got) & np.isnan(nearest)))
    arguments, got, wanted = arguments[off], got[off].astype(np.float64), wanted[off]
    normal = is_normal(arguments) & is_normal(wanted)
    least, end = -125, 2.0**128
    undefined = np.isnan(got) | np.isnan(wanted) | np.isinf(wanted)
    clipped, found = np.clip(wanted, -end, end), np.clip(got, -end, end)
    exponent = np.maximum(np.frexp(np.where(undefined, 1.0, clipped))[1], least)
    off_by = np.ldexp(abs(np.where(undefined, 0.0, found - clipped)), 24 - exponent)
    return Errors(np.where(undefined, np.inf, off_by), arguments, normal)


def is_normal(values: Array) -> Array:
    return (values == 0) | ~(abs(values) < TINY)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", default=list(EXPANSIONS))
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    os.nice(10)
    for name in options.functions:
        print(row(measure(name, options.step)), flush=True)
    return 0


def row(found: Measured) -> str:
    """As a line of Python; errors are rounded up."""
    ulp, denormal, xla = map(rounded_up, (found.ulp, found.denormal_ulp, found.xla_ulp))
    numbers = f"{ulp}, {found.at:.9g}, {found.above_4:.2g}, {denormal}, {xla}, {found.step}"
    return f'    Measured("{found.function}", {numbers}),'


def rounded_up(ulp: float) -> str:
    """With three digits."""
    if not np.isfinite(ulp):
        return 'float("inf")'
    unit = 10.0 ** (np.floor(np.log10(ulp)) - 2)
    return f"{np.ceil(ulp / unit) * unit:.3g}"


if __name__ == "__main__":
    raise SystemExit(main())
