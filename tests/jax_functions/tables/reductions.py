"""jax.numpy: functions over the elements along axes."""

from __future__ import annotations

import numpy as np

from tests.jax_functions.arrays import Array, Arrays
from tests.jax_functions.use import Maker, Table, Use, use


def _reduction(a: Arrays) -> list[Use]:
    return [
        use(a(3, 5)),
        use(a(2, 3, 4), axis=1),
        use(a(2, 3, 4), axis=(0, 2), keepdims=True),
        use(a(0, 3), axis=0),
        use(a.special()),
        use(a()),
    ]


def _of_one_axis(a: Arrays) -> list[Use]:
    return [use(a(3, 5)), use(a(2, 3, 4), axis=1), use(a.special()), use(a(4, 0), axis=0)]


def _holes(a: Arrays) -> Array:
    """With some NaNs, where the type has them."""
    array = a(4, 5)
    if array.dtype.kind != "i":
        array[a.bools(4, 5)] = np.nan
    return array


def _ignoring_nan(a: Arrays) -> list[Use]:
    return [use(_holes(a)), use(_holes(a), axis=0), use(a(2, 3), axis=1)]


def _quantile(scale: float) -> Maker:
    def make(a: Arrays) -> list[Use]:
        places = (a.unit(3) * scale).astype(a.dtype)
        return [
            use(a(3, 5), (a.unit() * scale).astype(a.dtype)),
            use(a(3, 5), places, axis=1),
            use(_holes(a), places, axis=0, keepdims=True),
            *(use(a(7), places, method=m) for m in ("lower", "higher", "midpoint", "nearest")),
        ]

    return make


_REDUCTIONS = ["all", "any", "amax", "amin", "max", "min", "mean", "prod", "ptp", "std", "sum"]
_IGNORING = ["nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]

TABLE: Table = {
    **dict.fromkeys([*_REDUCTIONS, "var", "median"], _reduction),
    **dict.fromkeys(["argmax", "argmin", "cumprod", "cumsum"], _of_one_axis),
    **dict.fromkeys([*_IGNORING, "nancumprod", "nancumsum"], _ignoring_nan),
    **dict.fromkeys(["nanargmax", "nanargmin", "nanmedian"], _ignoring_nan),
    "cumulative_prod": lambda a: [use(a(5)), use(a(3, 4), axis=1, include_initial=True)],
    "cumulative_sum": lambda a: [use(a(5)), use(a(3, 4), axis=1, include_initial=True)],
    "quantile": _quantile(1),
    "percentile": _quantile(100),
    "nanquantile": _quantile(1),
    "nanpercentile": _quantile(100),
    "average": lambda a: [
        use(a(3, 5)),
        use(a(3, 5), axis=1, weights=a.positive(5), returned=True),
    ],
    "corrcoef": lambda a: [use(a(3, 8)), use(a(8), a(8))],
    "cov": lambda a: [use(a(3, 8)), use(a(8), a(8), ddof=0), use(a(8, 2), rowvar=False)],
    "diff": lambda a: [use(a(6)), use(a(3, 5), n=2, axis=0), use(a(4), prepend=a(1))],
    "ediff1d": lambda a: [use(a(6)), use(a(2, 3), a(2), a(1))],
    "gradient": lambda a: [use(a(6)), use(a(4, 5), axis=1), use(a(3, 4), 0.5, 2.0)],
    "trace": lambda a: [use(a(4, 4)), use(a(2, 3, 5), offset=1, axis1=1, axis2=2)],
    "trapezoid": lambda a: [use(a(6)), use(a(3, 5), a.ascending(5)), use(a(3, 5), dx=0.5, axis=0)],
    "unwrap": lambda a: [use(a(9) * 5), use(a(3, 5) * 5, axis=0, period=2)],
}
