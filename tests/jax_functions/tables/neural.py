"""jax.nn, and what jax.scipy.special has of it."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use


def _along_axis(a: Arrays) -> list[Use]:
    return [use(a(3, 5)), use(a(2, 3, 4), axis=1), use(a(4)), use(a(3, 33) * 9, axis=-1)]


def _attention(a: Arrays) -> list[Use]:
    query = [a(2, 5, 4, 8) for _ in range(3)]
    few_heads = [a(2, 6, 2, 8), a(2, 6, 2, 8)]
    return [
        use(*query),
        use(*query, is_causal=True, scale=0.5),
        use(a(2, 5, 4, 8), *few_heads, a(2, 4, 5, 6), a.bools(2, 1, 5, 6)),
        use(*query, local_window_size=(1, 2), key_value_seq_lengths=np.array([3, 5], np.int32)),
    ]


TABLE: Table = {
    **dict.fromkeys(["softmax", "log_softmax", "logsumexp", "logmeanexp"], _along_axis),
    "standardize": _along_axis,
    "glu": lambda a: [use(a(3, 6)), use(a(4, 3), axis=0)],
    "one_hot": lambda a: [
        use(a.ints(5, below=4), 4, dtype=a.dtype),
        use(a.ints(2, 3, below=9, least=-3), 4, dtype=a.dtype, axis=1),
    ],
    "dot_product_attention": _attention,
    "scaled_matmul": lambda a: [
        use(
            a(2, 4, 64).astype(jnp.float8_e4m3fn),
            a(2, 3, 64).astype(jnp.float8_e4m3fn),
            a.positive(2, 4, 2).astype(jnp.float8_e8m0fnu),
            a.positive(2, 3, 2).astype(jnp.float8_e8m0fnu),
            preferred_element_type=a.dtype,
        )
    ],
    "scaled_dot_general": lambda a: [
        use(a(2, 4, 64), a(2, 3, 64), (((2,), (2,)), ((0,), (0,))), a.dtype)
    ],
}
