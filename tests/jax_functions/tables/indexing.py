"""jax.lax: gather, scatter and dynamic slices."""

from __future__ import annotations

import numpy as np
from jax import lax

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use

_ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
_ADDED_ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
_ADDED_SQUARES = lax.ScatterDimensionNumbers((1, 2), (), (0, 1))


def _scatter(a: Arrays) -> list[Use]:
    rows = np.array([[2], [0], [9]], np.int32)
    corners = np.array([[1, 2], [0, 0]], np.int32)
    return [
        use(a(4, 5), rows, a(3, 5), _ADDED_ROWS, mode="drop", unique_indices=True),
        use(a(4, 5), corners, a(2, 2, 2), _ADDED_SQUARES, mode="clip"),
        use(a(4, 0), rows, a(3, 0), _ADDED_ROWS),
    ]


def _repeated(a: Arrays) -> list[Use]:
    """With equal indices, where the operation does not depend on the order."""
    repeated = np.array([[1], [1], [3]], np.int32)
    return [*_scatter(a), use(a(4, 5), repeated, a(3, 5), _ADDED_ROWS)]


TABLE: Table = {
    **dict.fromkeys(["scatter_add", "scatter_sub", "scatter_mul"], _repeated),
    **dict.fromkeys(["scatter_max", "scatter_min"], _repeated),
    "scatter": _scatter,
    "scatter_apply": lambda a: [
        use(
            a(4, 5),
            np.array([[2], [0]], np.int32),
            lambda x: x * 2,
            _ADDED_ROWS,
            update_shape=(2, 5),
        )
    ],
    "gather": lambda a: [
        use(a(4, 5), np.array([[2], [0], [9]], np.int32), _ROWS, (1, 5), mode="clip"),
        use(a(4, 5), np.array([[2], [-1]], np.int32), _ROWS, (1, 3), mode="fill"),
    ],
    "dynamic_slice": lambda a: [
        use(a(4, 5), (a.ints(), a.ints()), (2, 3)),
        use(a(4, 5), (1, -1), (2, 2)),
    ],
    "dynamic_slice_in_dim": lambda a: [use(a(4, 5), a.ints(), 2, axis=1)],
    "dynamic_index_in_dim": lambda a: [
        use(a(4, 5), a.ints()),
        use(a(4, 5), a.ints(), axis=1, keepdims=False),
    ],
    "dynamic_update_slice": lambda a: [
        use(a(4, 5), a(2, 2), (a.ints(), a.ints())),
        use(a(4), a(4), (2,)),
    ],
    "dynamic_update_slice_in_dim": lambda a: [use(a(4, 5), a(4, 2), a.ints(), axis=1)],
    "dynamic_update_index_in_dim": lambda a: [use(a(4, 5), a(5), a.ints(), axis=0)],
    "index_in_dim": lambda a: [use(a(4, 5), 2), use(a(4, 5), -1, axis=1, keepdims=False)],
    "index_take": lambda a: [use(a(4, 5), (a.ints(3, below=4), a.ints(3, below=5)), (0, 1))],
}
