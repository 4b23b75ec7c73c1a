"""jax.numpy: sets, searching, sorting, counting and histograms."""

from __future__ import annotations

import numpy as np

from tests.jax_functions.arrays import Array, Arrays
from tests.jax_functions.use import Maker, Table, Use, use


def _few(a: Arrays, *shape: int) -> Array:
    """Few different values, so that some are equal."""
    return a.ints(*shape, below=5).astype(a.dtype)


def _of_two(size: int) -> Maker:
    return lambda a: [use(_few(a, 6), _few(a, 4), size=size), use(_few(a, 3), _few(a, 0), size=4)]


def _of_one(a: Arrays) -> list[Use]:
    return [use(_few(a, 9), size=5), use(a.special(), size=12), use(_few(a, 3, 4), size=7)]


TABLE: Table = {
    "argpartition": lambda a: [use(a(3, 7), 2), use(a(7, 3), 4, axis=0)],
    "partition": lambda a: [use(a(3, 7), 2), use(a(7, 3), 4, axis=0)],
    "argsort": lambda a: [
        use(a(3, 5)),
        use(a(3, 5), axis=0, descending=True),
        use(_few(a, 12), stable=True),
        use(a.special()),
    ],
    "sort": lambda a: [
        use(a(3, 5)),
        use(a(3, 5), axis=0, descending=True),
        use(a(3, 5), axis=None),
        use(a.special()),
        use(a(2, 0)),
    ],
    "sort_complex": lambda a: [use(a(7)), use(a(2, 3))],
    "lexsort": lambda a: [use((a(6), _few(a, 6))), use(_few(a, 3, 7))],
    "argwhere": lambda a: [use(a.bools(3, 5), size=6), use(_few(a, 7), size=5, fill_value=-1)],
    "nonzero": lambda a: [use(a.bools(3, 5), size=6), use(_few(a, 7), size=9, fill_value=-1)],
    "flatnonzero": lambda a: [use(_few(a, 3, 4), size=6)],
    "bincount": lambda a: [
        use(a.ints(9, below=5), length=6),
        use(a.ints(9, below=8), a(9), length=5),
    ],
    "digitize": lambda a: [
        use(a(6), a.ascending(4)),
        use(a(3, 2), a.ascending(4), right=True),
    ],
    "searchsorted": lambda a: [
        use(a.ascending(7), a(3, 2)),
        use(a.ascending(7), a(5), side="right", method="sort"),
        use(a.ascending(6), a(4), method="compare_all"),
    ],
    "histogram": lambda a: [
        use(a(20)),
        use(a(20), 5, (-1, 1), density=True),
        use(a(9), a.ascending(4), weights=a(9)),
    ],
    "histogram2d": lambda a: [use(a(20), a(20), 4), use(a(9), a(9), [3, 2])],
    "histogram_bin_edges": lambda a: [use(a(20), 6)],
    "histogramdd": lambda a: [use(a(12, 2), 3, density=True)],
    "intersect1d": _of_two(4),
    "setdiff1d": _of_two(5),
    "setxor1d": _of_two(6),
    "union1d": _of_two(8),
    "isin": lambda a: [
        use(_few(a, 3, 4), _few(a, 3)),
        *(use(_few(a, 6), _few(a, 2), method=m) for m in ("sort", "binary_search", "compare_all")),
    ],
    "unique": lambda a: [
        use(_few(a, 9), True, True, True, size=6),
        use(_few(a, 6, 2), axis=0, size=6),
    ],
    "unique_all": _of_one,
    "unique_counts": _of_one,
    "unique_inverse": _of_one,
    "unique_values": _of_one,
    "count_nonzero": lambda a: [
        use(_few(a, 3, 5)),
        use(_few(a, 2, 3, 4), axis=(0, 2), keepdims=True),
        use(np.zeros((0, 3), a.dtype), axis=0),
    ],
}
