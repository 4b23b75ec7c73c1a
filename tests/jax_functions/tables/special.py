"""jax.scipy.special, whose arguments have to lie in the functions' domains."""

from __future__ import annotations

import numpy as np

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use


def _positive_pair(a: Arrays) -> list[Use]:
    return [use(a.positive(7), a.positive(7)), use(a.positive(3, 1) * 5, a.positive(4)), _pair(a)]


def _pair(a: Arrays) -> Use:
    return use(a(3, 5), a(3, 5))


def _probability(a: Arrays) -> list[Use]:
    return [use(a.unit(9)), use(a.special()), use(a(0, 2))]


TABLE: Table = {
    "bernoulli": lambda a: [use(0), use(1), use(8)],
    "bessel_jn": lambda a: [use(a.positive(6), v=3), use(a.positive(2) * 10, v=0, n_iter=30)],
    "beta": _positive_pair,
    "betaln": _positive_pair,
    "betainc": lambda a: [
        use(a.positive(8), a.positive(8), a.unit(8)),
        use(a.positive(4) * 20, a.positive(4) * 20, a.unit(4)),
    ],
    "boxcox": lambda a: [use(a.positive(6), a(6)), use(a.positive(4), 0.0)],
    "boxcox1p": lambda a: [use(a.positive(6), a(6)), use(a.positive(4), 0.0)],
    "comb": lambda a: [use(a.positive(6) + 4, a.positive(6)), use(a.ints(4), a.ints(4, below=4))],
    "erfinv": _probability,
    "expn": lambda a: [
        use(a.ints(6, below=5, least=1), a.positive(6)),
        use(np.array(2, np.int32), a.positive(4) * 9),
    ],
    "factorial": lambda a: [use(a.positive(6) * 4), use(a.ints(5))],
    "gammainc": _positive_pair,
    "gammaincc": _positive_pair,
    "hyp1f1": lambda a: [
        use(a.positive(6), a.positive(6), a(6)),
        use(a.positive(4), 2.5, a(4) * 9),
    ],
    "hyp2f1": lambda a: [
        use(a.positive(6), a.positive(6), a.positive(6), a.unit(6)),
        use(0.5, 1.5, 2.25, -a.unit(4)),
    ],
    "kl_div": _positive_pair,
    "rel_entr": _positive_pair,
    "logit": _probability,
    "ndtri": _probability,
    "multigammaln": lambda a: [use(a.positive(6) + 2, 3), use(a.positive(4), 1)],
    "poch": lambda a: [use(a.positive(6), a.positive(6)), use(a(4), a.ints(4, below=5))],
    "polygamma": lambda a: [
        use(a.ints(6, below=4).astype(a.dtype), a.positive(6)),
        use(1, a.positive(4) * 9),
    ],
    "sph_harm_y": lambda a: [
        use(np.array([0, 1, 2, 3]), np.array([0, 1, -1, 2]), a.positive(4), a.positive(4), n_max=4),
    ],
    "log_ndtr": lambda a: [use(a(3, 5)), use(a(4) * 20), use(a.special())],
    "zeta": lambda a: [use(a.positive(6) + 1.5, a.positive(6)), use(a.positive(3) + 1.5, 1.0)],
}
