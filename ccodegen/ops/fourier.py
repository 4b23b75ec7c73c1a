"""The transform of lines: y[q] = Σ x[t] · w^(q·t), w = exp(-2πi/n), for any n.

Stockham's form: a pass of radix p joins p transforms of the length reached so far, `short`,
into one of p · short. With x the rows before and y those after it, and m = n/(p · short),

    y[(b·p + q)·short + k] = Σ over r < p of x[r·n/p + b·short + k] · w^(r·(k + q·short)·m)

for b < m, k < short, q < p. Each row holds one element of each line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.ops.butterfly import Complex, butterfly
from ccodegen.ops.fold import Array
from ccodegen.ops.fourier_arrays import ArrayWorkspace
from ccodegen.ops.fourier_long_pass import LongPass
from ccodegen.ops.fourier_plan import FourierPlan, plan
from ccodegen.ops.fourier_tables import chirp, roots, twiddles
from ccodegen.ops.workspace import Workspace
from ccodegen.support.element_type import ElementType


def transform(work: Workspace, n: int) -> None:
    """The transforms of the n rows here, which are here in the end."""
    chosen = plan(n)
    if chosen.length == n:
        _passes(work, chosen)
    else:
        _convolve(work, chosen)


def _passes(work: Workspace, chosen: FourierPlan) -> None:
    for p, short in chosen.passes:
        if work.is_long(p):
            LongPass(work, chosen.length, p, short).run()
        else:
            _short_pass(work, chosen.length, p, short)
        work.flip()


def _short_pass(work: Workspace, n: int, p: int, short: int) -> None:
    table = work.table(twiddles(p, short)) if short > 1 else None
    for b, k in work.each(n // (p * short), short):
        first = b * short + k
        x = [work.here(first + r * (n // p)) for r in range(p)]
        if table is not None:
            x[1:] = [v.times(work.entry(table, r, k)) for r, v in enumerate(x[1:])]
        for q, value in enumerate(butterfly(x)):
            work.set_there(b * (p * short) + q * short + k, value)


def _convolve(work: Workspace, chosen: FourierPlan) -> None:
    """Bluestein's form: as q·t = (q² + t² - (q - t)²)/2, the transform is a convolution with a
    chirp between two products with its conjugate; and the convolution is a product of transforms.
    """
    n, length = chosen.n, chosen.length
    factors = work.table(_factors(chosen))
    for (t,) in work.each(n):
        work.set_here(t, work.here(t).times(work.entry(factors, t)))
    for (t,) in work.each(length - n):
        work.set_here(t + n, Complex(work.zero, work.zero))
    for direction in work.turns(2):
        _passes(work, chosen)
        # The rows have to be where they were before.
        stays = len(chosen.radices) % 2 == 0
        store = work.set_here if stays else work.set_there
        for (t,) in work.each(length):
            factor = work.entry(factors, (1 - direction) * n + t)
            store(t, work.here(t).swapped.times(factor))
        if not stays:
            work.flip()


def _factors(chosen: FourierPlan) -> Array:
    """What the rows are multiplied by: the chirp in the beginning and, as many as count, in the
    end; behind it what stands between the transforms, conjugated as it meets swapped rows."""
    between = _spectrum(chosen) * np.asarray([[1], [-1]])
    return np.concatenate([chirp(chosen.n), between], 1)


def _spectrum(chosen: FourierPlan) -> Array:
    """The transform of the chirp's conjugate at -n < t < n, periodic in `length`; over `length`, as
    the inverse transform wants it."""
    n, length = chosen.n, chosen.length
    work = ArrayWorkspace(ElementType.F64, length, 1)
    real, imaginary = chirp(n)[..., None]
    for t in range(n):
        work.set_here(np.asarray([t, -t]), Complex(real[t], -imaginary[t]))
    _passes(work, chosen)
    found = work.here(np.arange(length)[:, None])
    return np.stack([found.re, found.im])[..., 0] / length


def untangle(work: Workspace, half: int) -> None:
    """From the transform of pairs x[2t] + i·x[2t + 1] that of the 2 · half real numbers: rows up
    to and with `half`.

    The even ones' is (z[k] + conjugate z[half - k])/2, the odd ones' the difference's half over i.
    """
    table = work.table(roots(np.arange(half), 2 * half) / 2)
    for _ in work.each():
        first = work.here(0)
        work.set_there(0, Complex(first.re + first.im, work.zero))
        work.set_there(half, Complex(first.re - first.im, work.zero))
    for (t,) in work.each(half - 1):
        even, odd = _even_and_odd(work, t + 1, half)
        odd = odd.times(work.entry(table, t + 1))
        work.set_there(t + 1, even.scaled(0.5).minus_i(odd))
    work.flip()


def tangle(work: Workspace, half: int) -> None:
    """The other way round, for the inverse transform: without the division by two, and swapped."""
    table = work.table(roots(-np.arange(half), 2 * half))
    for _ in work.each():
        first, last = work.here(0).re, work.here(half).re
        work.set_there(0, Complex(first + last, first - last).swapped)
    for (t,) in work.each(half - 1):
        even, odd = _even_and_odd(work, t + 1, half)
        odd = odd.times(work.entry(table, t + 1))
        work.set_there(t + 1, even.plus_i(odd).swapped)
    work.flip()


def _even_and_odd(work: Workspace, k: Any, half: int) -> tuple[Complex, Complex]:
    """Sum and difference of z[k] and the conjugate of z[half - k]."""
    z, other = work.here(k), work.here(half - k)
    even = Complex(z.re + other.re, z.im - other.im)
    return even, Complex(z.re - other.re, z.im + other.im)
