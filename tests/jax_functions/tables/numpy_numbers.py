"""jax.numpy: products, polynomials and functions of numbers that need more than one array each."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from tests.jax_functions.arrays import Arrays
from tests.jax_functions.use import Table, Use, use


def _two_vectors(a: Arrays) -> list[Use]:
    return [use(a(5), a(3)), use(a(1), a(4)), use(a(2), a(6))]


def _sliding(a: Arrays) -> list[Use]:
    return [use(a(7), a(3)), *(use(a(3), a(6), mode=m) for m in ("full", "same", "valid"))]


def _whole_powers(a: Arrays) -> list[Use]:
    return [
        use(a(3, 5), a(3, 5)),
        use(a.positive(4), a(4)),
        use(a(3, 5), 3),
        use(a(6), a.ints(6, least=-3, below=4)),
        use(a.special(), np.roll(a.special(), 3)),
    ]


TABLE: Table = {
    "apply_along_axis": lambda a: [use(lambda x: x[::-1] * 2, 1, a(3, 4))],
    "apply_over_axes": lambda a: [use(jnp.sum, a(2, 3, 4), (0, 2))],
    "around": lambda a: [use(a(3, 5)), use(a(4), 2), use(a(4) * 100, -1), use(a.special())],
    "round": lambda a: [use(a(3, 5)), use(a(4), 2), use(a(4) * 100, -1), use(a.special())],
    "clip": lambda a: [use(a(3, 5), -0.5, 0.5), use(a(4), a(4), a(4)), use(a.special(), 0, None)],
    "convolve": _sliding,
    "correlate": _sliding,
    "cross": lambda a: [use(a(3), a(3)), use(a(4, 3), a(4, 3)), use(a(2), a(2))],
    "dot": lambda a: [
        use(a(3, 4), a(4, 5)),
        use(a(4), a(4)),
        use(a(2, 3, 4), a(4)),
        use(a(), a(3)),
        use(a(2, 3), a(4, 3, 2)),
        use(a(3, 0), a(0, 2)),
    ],
    "einsum": lambda a: [
        use("ij,jk->ik", a(3, 4), a(4, 5)),
        use("ii->i", a(4, 4)),
        use("bij,bjk,k->bi", a(2, 3, 4), a(2, 4, 5), a(5)),
        use("i,j->ij", a(3), a(4)),
        use("...ij->...", a(2, 3, 4)),
    ],
    "float_power": _whole_powers,
    "power": _whole_powers,
    "pow": _whole_powers,
    "inner": lambda a: [use(a(4), a(4)), use(a(2, 4), a(3, 4))],
    "interp": lambda a: [
        use(a(6), a.ascending(5), a(5)),
        use(a(6), a.ascending(5), a(5), left=-1, right="extrapolate"),
        use(a(6), a.ascending(5), a(5), period=2),
    ],
    "kron": lambda a: [use(a(2, 3), a(4, 1)), use(a(3), a(2))],
    "ldexp": lambda a: [
        use(a(3, 5), a.ints(3, 5, least=-5)),
        use(a.special(), np.array(100, np.int32)),
    ],
    "matmul": lambda a: [
        use(a(3, 4), a(4, 5)),
        use(a(4), a(4)),
        use(a(2, 1, 3, 4), a(3, 4, 2)),
        use(a(17, 33), a(33, 9)),
        use(a(2, 0), a(0, 3)),
    ],
    "matvec": lambda a: [use(a(3, 4), a(4)), use(a(2, 3, 4), a(2, 4))],
    "vecmat": lambda a: [use(a(3), a(3, 4)), use(a(2, 3), a(2, 3, 4))],
    "outer": lambda a: [use(a(3), a(4)), use(a(2, 2), a(3))],
    "tensordot": lambda a: [
        use(a(2, 3, 4), a(3, 4, 5)),
        use(a(2, 3), a(4, 2), axes=([0], [1])),
        use(a(2), a(3), axes=0),
    ],
    "vdot": lambda a: [use(a(4), a(4)), use(a(2, 3), a(2, 3))],
    "vecdot": lambda a: [use(a(4), a(4)), use(a(3, 4), a(3, 1), axis=0)],
    "nan_to_num": lambda a: [use(a.special()), use(a.special(), nan=1, posinf=2, neginf=3)],
    "piecewise": lambda a: [
        use(a(7), [a.bools(7), a.bools(7)], [lambda x: x * 2, lambda x: -x, 3]),
    ],
    "poly": lambda a: [use(a(4)), use(a(3, 3))],
    "polyadd": _two_vectors,
    "polysub": _two_vectors,
    "polymul": _two_vectors,
    "polyval": lambda a: [use(a(4), a(5)), use(a(20), a.unit(2, 3)), use(a(1), a(2))],
    "polyder": lambda a: [use(a(5)), use(a(5), m=2)],
    "polyint": lambda a: [use(a(5)), use(a(4), m=2, k=a(2))],
    "polydiv": lambda a: [use(a(5), a(3)), use(a(2), a(4))],
    "polyfit": lambda a: [use(a(9), a(9), 2), use(a(9), a(9), 1, w=a.positive(9))],
    "roots": lambda a: [use(a(5), strip_zeros=False)],
    "gcd": lambda a: [use(a.ints(3, 5, below=99), a.ints(3, 5, below=99)), use(a(4), a(4))],
    "lcm": lambda a: [use(a.ints(3, 5, below=99), a.ints(3, 5, below=99)), use(a(4), a(4))],
    "isclose": lambda a: [use(a(3, 5), a(5)), use(a.special(), a.special(), equal_nan=True)],
    "bitwise_count": lambda a: [use(a(3, 5)), use(a.special())],
}
