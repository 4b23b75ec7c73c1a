"""Divisions by numbers become a product and an FMA, where these give the same quotients.

    x / 7   →   fma(x, high, x * low), where high + low = 1/7

Division units take ten times as long over a vector. `high` is 1/7 rounded towards zero and `low`
what it lacks, so that both have the sign of the divisor, as have their products with zeros and
infinities. Of which divisors all quotients are the same is found out by trying the dividends whose
quotients are so near the middle of two floats that the products' roundings matter: a handful
(Brisebarre and Muller, "Correctly rounded multiplication by arbitrary precision constants").
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import Apply, Const, Expr
from ccodegen.loop.rebuild import Body, rebuild
from ccodegen.support.element_type import ElementType

# Bits of a significand, and the powers of two between which divisors lie.
_FORMATS = {ElementType.F32: (24, 64), ElementType.F64: (53, 512)}


def divide_by_constants(body: Body) -> Body:
    """Statements of equal effect, but for quotients below 2^-100 (f64: 2^-900): 1 ulp there."""
    return rebuild(body, _divided)


def _divided(expr: Expr) -> Expr:
    match expr:
        case Apply("divide", (x, Const(t, value) as divisor)) if t in _FORMATS:
            parts = _reciprocal(t, float(value))
            if parts:
                return apply("divide-by-constant", x, divisor, *(const(t, p) for p in parts))
    return expr


@functools.cache
def _reciprocal(t: ElementType, divisor: float) -> tuple[float, float] | None:
    """1 / divisor as a float and what that lacks; None where quotients would be others."""
    precision, most = _FORMATS[t]
    if not 2.0**-most <= abs(divisor) <= 2.0**most:
        return None
    fraction, exponent = math.frexp(abs(divisor))
    significand = int(math.ldexp(fraction, precision))
    one = 1 << 4 * precision  # enough bits for all products to be whole
    dropped = (one // significand).bit_length() - precision
    high = one // significand >> dropped << dropped
    lacking = one - high * significand
    low = _rounded(lacking, significand, precision)
    if not lacking or any(
        _rounded(x * high + _rounded(x * low, 1, precision), 1, precision)
        != _rounded(x * one, significand, precision)
        for x in _near_middles(significand, precision)
    ):
        return None
    scale = -3 * precision - exponent
    first, second = (math.copysign(math.ldexp(part, scale), divisor) for part in (high, low))
    return first, second


def _near_middles(divisor: int, precision: int) -> Iterator[int]:
    """The dividends, of so many bits as the divisor, whose quotients may round otherwise.

    The products' roundings are at most 2^(2 - 2 * precision) of a quotient. With the middle of two
    floats as odd / 2^n, x / divisor is rest / (divisor * 2^n) off it, where
    x * 2^n - odd * divisor = rest: an integer of at most 8 where the roundings matter.
    """
    power = divisor & -divisor
    odd_part = divisor // power
    for n in (precision, precision + 1):  # of quotients from 1 on, and of others
        inverse = pow(2**n // power, -1, odd_part)
        for rest in range(-8, 9):
            if rest and rest % power == 0:
                least = 2 ** (precision - 1)
                first = least + (rest // power * inverse - least) % odd_part
                yield from range(first, 2**precision, odd_part)


def _rounded(numerator: int, denominator: int, precision: int) -> int:
    """The quotient of so many bits that is nearest, of two alike the even one."""
    dropped = max(0, (numerator // denominator).bit_length() - precision)
    unit = denominator << dropped
    quotient, rest = divmod(numerator, unit)
    return quotient + (2 * rest + quotient % 2 > unit) << dropped
