"""jax.random. A key is an argument of the program, in the new form; `bits`, `split` and a few more
take one in the old form, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from tests.jax_functions.arrays import Array, Arrays
from tests.jax_functions.use import Table, Use, use


def _key() -> Any:
    return jax.random.key(42)


def _old_key() -> Any:
    return np.array([7, 42], np.uint32)


def _keys() -> Any:
    return jax.random.split(jax.random.key(3), 4)


def _of_shape(a: Arrays) -> list[Use]:
    return [
        use(_key(), (3, 5), a.dtype),
        use(_key(), (), a.dtype),
        use(_old_key(), (0, 2), a.dtype),
    ]


def _of(count: int) -> Callable[[Arrays], list[Use]]:
    """Distributions with so many parameters, which are arrays."""

    def make(a: Arrays) -> list[Use]:
        scalars = [a.positive() for _ in range(count)]
        arrays = [a.positive(4) for _ in range(count)]
        return [
            use(_key(), *scalars, shape=(3, 2), dtype=a.dtype),
            use(_key(), *arrays, dtype=a.dtype),
        ]

    return make


def _reads_key(a: Arrays) -> list[Use]:
    return [use(_key()), use(_keys())]


def _simplex(a: Arrays) -> Array:
    weights = a.unit(5)
    return np.asarray(weights / weights.sum(), a.dtype)


TABLE: Table = {
    **dict.fromkeys(["cauchy", "exponential", "gumbel", "laplace"], _of_shape),
    **dict.fromkeys(["logistic", "maxwell", "normal", "uniform"], _of_shape),
    **dict.fromkeys(["chisquare", "gamma", "loggamma", "pareto", "rayleigh", "t", "wald"], _of(1)),
    **dict.fromkeys(["lognormal"], _of(1)),
    **dict.fromkeys(["beta", "f"], _of(2)),
    **dict.fromkeys(["clone", "key_data"], _reads_key),
    "PRNGKey": lambda a: [use(a.ints()), use(7)],
    "key": lambda a: [use(a.ints()), use(7)],
    "wrap_key_data": lambda a: [use(_old_key())],
    "ball": lambda a: [use(_key(), 3, shape=(4,), dtype=a.dtype), use(_key(), 2, 3.0, (), a.dtype)],
    "bernoulli": lambda a: [use(_key(), a.unit(5)), use(_key(), a.unit(), (3, 4), mode="high")],
    "binomial": lambda a: [
        use(_key(), a.ints(4, below=30, least=5).astype(a.dtype), a.unit(4), dtype=a.dtype),
        use(_key(), 5.0, a.unit(), (6,), a.dtype),
    ],
    "bits": lambda a: [
        use(_key(), (3, 5)),
        use(_old_key(), (7,), np.uint8),
        use(_key(), (3,), np.uint16),
    ],
    "categorical": lambda a: [
        use(_key(), a(3, 5)),
        use(_key(), a(5), shape=(3,), replace=False),
        use(_key(), a(3, 5), axis=0),
    ],
    "choice": lambda a: [
        use(_key(), a(7), (4,)),
        use(_key(), a(7, 2), (3,), replace=False),
        use(_key(), a(5), (3, 2), p=_simplex(a)),
        use(_key(), a(5), (3,), False, _simplex(a)),
    ],
    "dirichlet": lambda a: [
        use(_key(), a.positive(4), (3,), a.dtype),
        use(_key(), a.positive(2, 3)),
    ],
    "double_sided_maxwell": lambda a: [use(_key(), a(), a.positive(), (4,), a.dtype)],
    "fold_in": lambda a: [use(_key(), a.ints()), use(_old_key(), 5)],
    "generalized_normal": lambda a: [use(_key(), 1.5, (4,), a.dtype)],
    "geometric": lambda a: [use(_key(), a.unit(6)), use(_key(), a.unit(), (3, 2))],
    "multinomial": lambda a: [use(_key(), np.array(20, a.dtype), _simplex(a), dtype=a.dtype)],
    # Of larger matrices, a draw depends on the signs of the eigenvectors.
    "multivariate_normal": lambda a: [
        use(_key(), a(3), a.definite(3, 3), (4,), a.dtype, method="cholesky"),
        use(_key(), a(1), a.definite(1, 1), (4,), a.dtype, method="eigh"),
        use(_key(), a(1), a.definite(1, 1), (4,), a.dtype, method="svd"),
    ],
    "orthogonal": lambda a: [use(_key(), 3, (2,), a.dtype), use(_key(), 4, (), a.dtype, m=2)],
    "permutation": lambda a: [
        use(_key(), a(7)),
        use(_key(), a(3, 5), axis=1, independent=True),
        use(_key(), 6),
    ],
    "poisson": lambda a: [use(_key(), a.positive(6)), use(_key(), a.positive() * 30, (5,))],
    "rademacher": lambda a: [use(_key(), (3, 5)), use(_key(), (4,), a.dtype)],
    "randint": lambda a: [
        use(_key(), (3, 5), 0, 10),
        use(_key(), (4,), a.ints(), 1000, np.int16),
        use(_old_key(), (6,), -5, 2**31 - 1),
    ],
    "split": lambda a: [use(_key()), use(_key(), (2, 3)), use(_old_key(), 5)],
    "triangular": lambda a: [use(_key(), -a.positive(4), 0.0, a.positive(4), dtype=a.dtype)],
    "truncated_normal": lambda a: [use(_key(), -a.positive(4), a.positive(4), dtype=a.dtype)],
    "weibull_min": lambda a: [use(_key(), a.positive(), a.positive(), (4,), a.dtype)],
}
