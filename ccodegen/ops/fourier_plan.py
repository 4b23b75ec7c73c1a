"""How a Fourier transform of n elements is computed: decided from n alone, so that all targets and
the reference do the same operations."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ccodegen.support.immutable import immutable

# Operations for each element of a pass beside its butterfly's: the powers of w, loads and stores.
_COST_OF_A_PASS = 8.0
_COST_OF_BUTTERFLY = {2: 2.0, 4: 4.0, 8: 8.0}
_COST_OF_A_CHIRP = 20.0
_LONGEST_PLAIN_PRIME = 13


@immutable
class FourierPlan:
    """`radices`: of the passes that make `length` elements' transform. That is n; or, where n has
    large prime factors, a longer one by which the transform is computed as a convolution."""

    n: int
    length: int
    radices: tuple[int, ...]

    @property
    def passes(self) -> Iterator[tuple[int, int]]:
        """Each radix with the product of those before it."""
        short = 1
        for radix in self.radices:
            yield radix, short
            short *= radix


@functools.cache
def plan(n: int) -> FourierPlan:
    direct = FourierPlan(n, n, radices(n))
    if n < 2 or max(direct.radices) <= _LONGEST_PLAIN_PRIME:
        return direct
    length = min(_smooth(2 * n - 1), key=lambda m: (_cost(m), m))
    if _cost(n) <= 2 * _cost(length) + _COST_OF_A_CHIRP * length:
        return direct
    return FourierPlan(n, length, radices(length))


def radices(n: int) -> tuple[int, ...]:
    """Eights, fours and at most one two, then the odd prime factors, ascending. The eights come
    first: the passes after them have as many butterflies with neighbours in memory."""
    twos = (n & -n).bit_length() - 1 if n else 0
    eights, rest = divmod(twos, 3)
    if eights and rest == 1:
        eights, rest = eights - 1, 4
    found = [8] * eights + [4] * (rest // 2) + [2] * (rest % 2)
    odd, factor = n >> twos, 3
    while odd > 1:
        factor = factor if factor * factor <= odd else odd
        if odd % factor:
            factor += 2
        else:
            found.append(factor)
            odd //= factor
    return tuple(found)


def _cost(n: int) -> float:
    """Operations for one transform by passes."""
    return n * sum(_COST_OF_A_PASS + _cost_of_butterfly(p) for p in radices(n))


def _cost_of_butterfly(p: int) -> float:
    """For each element. Long ones keep their sums in memory."""
    known = _COST_OF_BUTTERFLY.get(p)
    return known or (p + 3.0 if p <= _LONGEST_PLAIN_PRIME else 2.5 * p)


def _smooth(least: int) -> Iterator[int]:
    """The numbers of at least that size and less than twice it, without prime factors above 7."""
    for seven in _powers(7, least):
        for five in _powers(5, least):
            for three in _powers(3, least):
                odd = seven * five * three
                twos = max(0, (-(-least // odd) - 1).bit_length())
                if odd << twos < 2 * least:
                    yield odd << twos


def _powers(base: int, limit: int) -> Iterator[int]:
    power = 1
    while power < 2 * limit:
        yield power
        power *= base
