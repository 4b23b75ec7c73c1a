"""jax.lax: convolutions and sliding windows."""

from __future__ import annotations

import numpy as np
from jax import lax

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use

_CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


def _general(a: Arrays) -> list[Use]:
    image, kernel = a(2, 3, 7, 6), a(4, 3, 3, 2)
    return [
        use(image, kernel, (1, 1), "SAME"),
        use(image, kernel, (2, 1), [(1, 2), (0, 3)], (1, 2), (2, 1)),
        use(a(1, 7, 6, 4), a(3, 3, 2, 6), (1, 1), "VALID", None, None, _CHANNELS_LAST, 2),
        use(a(4, 2, 5, 5), a(6, 2, 3, 3), (1, 1), "VALID", batch_group_count=2),
        use(a(2, 3, 9), a(5, 3, 4), (3,), "SAME"),
        use(a(1, 1, 4, 4), a(1, 1, 5, 5), (1, 1), "VALID"),
    ]


def _window(a: Arrays) -> list[Use]:
    zero, least = np.zeros((), a.dtype), np.array(-(2**31), a.dtype)
    return [
        use(a(4, 7), zero, lax.add, (2, 3), (1, 2), "SAME"),
        use(a(4, 7), least, lax.max, (2, 2), (2, 2), "VALID"),
        use(a(9), zero, lax.add, (3,), (1,), ((2, 1),), (2,), (2,)),
        use(a(5), np.ones((), a.dtype), lambda x, y: x * y, (2,), (1,), "VALID"),
    ]


TABLE: Table = {
    "conv": lambda a: [use(a(2, 3, 7, 6), a(4, 3, 3, 2), (1, 2), "SAME")],
    "conv_general_dilated": _general,
    "conv_with_general_padding": lambda a: [
        use(a(2, 3, 7, 6), a(4, 3, 3, 2), (1, 1), [(1, 0), (2, 2)], (1, 1), (1, 2))
    ],
    "conv_transpose": lambda a: [
        use(a(1, 5, 6, 3), a(3, 3, 4, 3), (2, 2), "SAME", transpose_kernel=True),
        use(a(1, 5, 6, 3), a(2, 3, 3, 4), (2, 1), "VALID"),
    ],
    "conv_general_dilated_local": lambda a: [
        use(a(2, 3, 5, 6), a(4, 18, 3, 5), (1, 1), "VALID", (3, 2)),
    ],
    "conv_general_dilated_patches": lambda a: [
        use(a(2, 3, 7, 6), (3, 2), (2, 1), "SAME"),
        use(a(1, 2, 6), (3,), (1,), "VALID", rhs_dilation=(2,)),
    ],
    "reduce_window": _window,
}
