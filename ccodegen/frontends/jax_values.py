"""Values that JAX has and NumPy has not: random keys, and gradients of integers.

In HLO a key is its data, u32[…,2] for Threefry, and a gradient of type float0 is a pred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Convert = Callable[[Any], Any]


def key_places(dtypes: Sequence[Any]) -> frozenset[int]:
    """Where the keys are."""
    return frozenset(n for n, dtype in enumerate(dtypes) if _is_key(dtype))


def key_data(value: Any) -> Any:
    """Of a key, or of an array of keys."""
    import jax

    return jax.random.key_data(value)


def outward(dtypes: Sequence[Any]) -> dict[int, Convert]:
    """What makes JAX's values of a program's results, by number; the others stay as they are."""
    converts: dict[int, Convert] = {}
    for number, dtype in enumerate(dtypes):
        if _is_key(dtype):
            converts[number] = _keys_of(dtype)
        elif _is_float0(dtype):
            converts[number] = _without_values
    return converts


def _keys_of(dtype: Any) -> Convert:
    import jax

    return lambda data: jax.random.wrap_key_data(data, dtype=dtype)


def _without_values(array: Any) -> Any:
    import jax

    return np.zeros(np.shape(array), jax.dtypes.float0)


def _is_key(dtype: Any) -> bool:
    from jax import dtypes, numpy

    return bool(numpy.issubdtype(dtype, dtypes.prng_key))


def _is_float0(dtype: Any) -> bool:
    import jax

    return bool(dtype == jax.dtypes.float0)
