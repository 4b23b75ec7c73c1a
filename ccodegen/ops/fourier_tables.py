"""What Fourier transforms multiply by: computed in f64, rounded to the type when stored."""

from __future__ import annotations

import functools
import math

import numpy as np

from ccodegen.ops.fold import Array

_TERMS = 9


def roots(turns: Array, n: int) -> Array:
    """exp(-2πi·k/n) for each integer k of `turns`, as [2, *turns.shape]: real, then imaginary.

    The angle is brought into an eighth of a turn as an integer, so that only its cosine is rounded.
    """
    eighth, rest = np.divmod(turns % n * 8, n)
    odd = eighth % 2 == 1
    angle = np.where(odd, n - rest, rest) * (math.pi / 4) / n
    cosine, sine = _series(angle, 0), _series(angle, 1)
    steep = (eighth + 1) // 2 % 2 == 1
    real, imaginary = np.where(steep, sine, cosine), np.where(steep, cosine, sine)
    real = np.where((eighth >= 2) & (eighth <= 5), -real, real)
    return np.stack([real, np.where(eighth >= 4, imaginary, 0 - imaginary)])


def _series(angle: Array, first: int) -> Array:
    """The cosine (`first` 0) or the sine (1) of up to an eighth of a turn, to the last bit or next
    to it: Taylor's series, which gives the same bits wherever it is computed."""
    square, total = angle * angle, np.zeros_like(angle)
    for n in range(first + 2 * _TERMS, first, -2):
        total = (total + 1) * square / (-n * (n - 1))
    total = total + 1
    return total * angle if first else total


@functools.cache
def root(k: int, n: int) -> complex:
    """exp(-2πi·k/n)."""
    real, imaginary = roots(np.asarray([k]), n)[:, 0].tolist()
    return complex(real, imaginary)


def twiddles(p: int, short: int) -> Array:
    """exp(-2πi·r·k/(p · short)) at [real or imaginary, r - 1, k], for 0 < r < p and k < short."""
    return roots(np.arange(1, p)[:, None] * np.arange(short), p * short)


def chirp(n: int) -> Array:
    """exp(-πi·t²/n) at [real or imaginary, t], for t < n."""
    t = np.arange(n)
    return roots(t * t % (2 * n), 2 * n)
