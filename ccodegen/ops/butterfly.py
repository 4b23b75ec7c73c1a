"""Short Fourier transforms, written out: the butterflies that long ones are made of.

The components of a complex number are anything with `+`, `-` and `*`: NumPy arrays in the
reference, expressions in the lowering. Both so do the same operations in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ccodegen.ops.fourier_tables import root
from ccodegen.support.immutable import immutable

HALF_ROOT = math.sqrt(0.5)


@immutable
class Complex:
    re: Any
    im: Any

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.re - other.re, self.im - other.im)

    def plus_i(self, other: Complex) -> Complex:
        """self + i · other."""
        return Complex(self.re - other.im, self.im + other.re)

    def minus_i(self, other: Complex) -> Complex:
        """self - i · other."""
        return Complex(self.re + other.im, self.im - other.re)

    def times(self, other: Complex) -> Complex:
        return Complex(
            self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        )

    def scaled(self, real: Any) -> Complex:
        return Complex(self.re * real, self.im * real)

    @property
    def swapped(self) -> Complex:
        """Real and imaginary part exchanged: of all numbers before and after a transform, this
        makes it the inverse one (without the division)."""
        return Complex(self.im, self.re)


def butterfly(x: Sequence[Complex]) -> list[Complex]:
    """y[q] = Σ x[r] · exp(-2πi·q·r/p), for p = 2, 4, 8 or odd."""
    match len(x):
        case 2:
            return [x[0] + x[1], x[0] - x[1]]
        case 4:
            return _of_four(x)
        case 8:
            return _of_eight(x)
    return _of_odd(x)


def _of_four(x: Sequence[Complex]) -> list[Complex]:
    even, odd = x[0] + x[2], x[1] + x[3]
    even_rest, odd_rest = x[0] - x[2], x[1] - x[3]
    return [even + odd, even_rest.minus_i(odd_rest), even - odd, even_rest.plus_i(odd_rest)]


def _of_eight(x: Sequence[Complex]) -> list[Complex]:
    """Two of four; the odd one's results turned by 0, 1, 2 and 3 eighths."""
    even, odd = _of_four(x[0::2]), _of_four(x[1::2])
    first, third = (Complex(o.re + o.im, o.im - o.re).scaled(HALF_ROOT) for o in odd[1::2])
    return [
        even[0] + odd[0], even[1] + first, even[2].minus_i(odd[2]), even[3].minus_i(third),
        even[0] - odd[0], even[1] - first, even[2].plus_i(odd[2]), even[3].plus_i(third),
    ]  # fmt: skip


def _of_odd(x: Sequence[Complex]) -> list[Complex]:
    """x[r] and x[p - r] are turned by the same angle, the one forwards, the other backwards."""
    p, half = len(x), len(x) // 2
    sums = [x[r] + x[p - r] for r in range(1, half + 1)]
    differences = [x[r] - x[p - r] for r in range(1, half + 1)]
    y = [x[0]] * p
    for term in sums:
        y[0] = y[0] + term
    for q in range(1, half + 1):
        turns = [root(q * r, p) for r in range(1, half + 1)]
        even, odd = x[0] + sums[0].scaled(turns[0].real), differences[0].scaled(turns[0].imag)
        for r in range(1, half):
            even = even + sums[r].scaled(turns[r].real)
            odd = odd + differences[r].scaled(turns[r].imag)
        y[q], y[p - q] = even.plus_i(odd), even.minus_i(odd)
    return y
