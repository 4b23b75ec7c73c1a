"""Matrices: jax.numpy.linalg, jax.scipy.linalg and jax.lax.linalg.

Eigenvectors and the like are defined up to a factor: `after` keeps what is defined.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tests.jax_functions.arrays import Array, Arrays
from tests.jax_functions.tables import numpy_arrays, numpy_numbers
from tests.jax_functions.use import Table, Use, use


def phases_removed(vectors: Any) -> Any:
    """Columns, each turned so that its sum is real and not negative."""
    total = vectors.sum(-2, keepdims=True)
    size = abs(total)
    return vectors * jnp.where(size == 0, 1, total.conj() / jnp.where(size == 0, 1, size))


def columns_turned(*places: int) -> Any:
    """For results that are tuples: the matrices at these places without their columns' phases."""

    def after(result: Any) -> Any:
        return [phases_removed(r) if n in places else r for n, r in enumerate(result)]

    return after


def magnitudes(result: Any) -> Any:
    """Of Schur's form and its vectors, whose columns have phases of their own."""
    return [abs(matrix) for matrix in result]


def singular_vectors_turned(result: Any) -> Any:
    """Of (u, s, vh): the projector of each singular value."""
    if not isinstance(result, tuple):
        return result
    u, s, vh = result
    rank = s.shape[-1]
    return s, jnp.einsum("...ik,...kj->...kij", u[..., :rank], vh[..., :rank, :])


def _square(a: Arrays) -> list[Use]:
    return [use(a.matrix(4, 4)), use(a.matrix(2, 3, 3)), use(a.matrix(1, 1)), use(a.matrix(17, 17))]


def _definite(a: Arrays) -> list[Use]:
    return [use(a.definite(4, 4)), use(a.definite(2, 3, 3)), use(a.definite(9, 9))]


def _eigenvectors(a: Arrays) -> list[Use]:
    return [one.then(columns_turned(1)) for one in _definite(a)]


def _values(a: Arrays) -> list[Use]:
    return [use(a.definite(4, 4)), use(a.definite(2, 3, 3))]


def _by_size(result: Any) -> Any:
    return jnp.sort_complex(result)


def _pairs_by_size(result: Any) -> Any:
    """Eigenvalues in order, with their vectors' projections that no factor changes."""
    values, vectors = result[0], result[1]
    order = jnp.lexsort((values.imag, values.real))
    vectors = jnp.take_along_axis(vectors, order[..., None, :], -1)
    return jnp.take_along_axis(values, order, -1), abs(vectors)


def _any_shape(a: Arrays) -> list[Use]:
    return [use(a(4, 4)), use(a(5, 3)), use(a(2, 3, 5)), use(a(9, 1))]


def _decomposed(a: Arrays) -> list[Use]:
    thin = [use(a(5, 3), full_matrices=False), use(a(2, 3, 5), full_matrices=False)]
    return [use(a(4, 4)), *thin, use(a(5, 3), compute_uv=False)]


def _system(a: Arrays) -> list[Use]:
    return [
        use(a.matrix(4, 4), a(4)),
        use(a.matrix(3, 3), a(3, 2)),
        use(a.matrix(2, 3, 3), a(2, 3, 1)),
    ]


NUMPY: Table = {
    "cholesky": _definite,
    "cond": lambda a: [use(a.matrix(4, 4)), use(a.matrix(3, 3), p=1), use(a(2, 3, 5))],
    "cross": lambda a: [use(a(3), a(3)), use(a(4, 3), a(4, 3))],
    "diagonal": lambda a: [use(a(3, 5)), use(a(2, 4, 4), offset=1)],
    "det": _square,
    "slogdet": lambda a: [*_square(a), use(a.matrix(3, 3), method="qr")],
    "inv": _square,
    "eig": lambda a: [use(m).then(_pairs_by_size) for m in (a.matrix(4, 4), a(2, 3, 3))],
    "eigvals": lambda a: [one.then(_by_size) for one in _square(a)],
    "eigh": _eigenvectors,
    "eigvalsh": _values,
    "lstsq": lambda a: [
        use(a(5, 3), a(5)),
        use(a(3, 5), a(3, 2)).then(lambda result: result[0]),  # the residuals are rounding
        use(a(6, 2), a(6, 3)),
    ],
    "matmul": numpy_numbers.TABLE["matmul"],
    "matrix_norm": lambda a: [
        use(a(3, 5)),
        *(use(a(2, 3, 4), ord=o) for o in (1, -1, 2, -2, np.inf, -np.inf, "nuc")),
    ],
    "matrix_power": lambda a: [use(a.matrix(3, 3), n) for n in (0, 1, 5, -2)],
    "matrix_rank": lambda a: [
        use(a(3, 5)),
        use(a(4, 2) @ a(2, 4)),
        use(a.definite(3, 3), hermitian=True),
    ],
    "matrix_transpose": numpy_arrays.TABLE["matrix_transpose"],
    "multi_dot": lambda a: [use([a(3, 4), a(4, 2), a(2, 5)]), use([a(4), a(4, 2), a(2)])],
    "norm": lambda a: [
        use(a(3, 5)),
        use(a(6)),
        *(use(a(6), ord=o) for o in (0, 1, 3, np.inf, -np.inf)),
        use(a(3, 5), ord="nuc"),
        use(a(2, 3, 4), axis=(0, 2), ord=2),
        use(a(0, 3), axis=0),
    ],
    "outer": lambda a: [use(a(3), a(4))],
    "pinv": lambda a: [*_any_shape(a), use(a.definite(3, 3), hermitian=True)],
    "qr": lambda a: [*_any_shape(a), use(a(5, 3), mode="complete"), use(a(3, 3), mode="r")],
    "solve": _system,
    "svd": lambda a: [one.then(singular_vectors_turned) for one in _decomposed(a)],
    "svdvals": _any_shape,
    "tensordot": numpy_numbers.TABLE["tensordot"],
    "tensorinv": lambda a: [use(a.matrix(6, 6).reshape(2, 3, 6), ind=2)],
    "tensorsolve": lambda a: [use(a.matrix(6, 6).reshape(2, 3, 2, 3), a(2, 3))],
    "trace": lambda a: [use(a(4, 4)), use(a(2, 3, 5), offset=-1)],
    "vecdot": numpy_numbers.TABLE["vecdot"],
    "vector_norm": lambda a: [use(a(3, 5)), *(use(a(3, 5), axis=1, ord=o) for o in (1, 3, np.inf))],
}


def _factor(a: Arrays) -> Array:
    return np.linalg.cholesky(a.definite(4, 4)).astype(a.dtype)


def _sized(a: Arrays) -> list[Use]:
    return [use(4), use(1)]


def _upper(a: Arrays, size: int) -> Array:
    return np.triu(a.matrix(size, size))


SCIPY: Table = {
    "block_diag": lambda a: [use(a(2, 3), a(1, 1), a(2, 2)), use(a(3), a(2, 0))],
    "cho_factor": lambda a: [use(a.definite(4, 4)), use(a.definite(3, 3), lower=True)],
    "cho_solve": lambda a: [use((_factor(a), True), a(4)), use((_factor(a), True), a(4, 2))],
    "cholesky": lambda a: [*_definite(a), use(a.definite(4, 4), lower=True)],
    "circulant": lambda a: [use(a(4)), use(a(2, 3))],
    "companion": lambda a: [use(a(4)), use(a(2, 3))],
    "convolution_matrix": lambda a: [use(a(3), 5), *(use(a(4), 5, m) for m in ("same", "valid"))],
    "det": _square,
    "dft": lambda a: [use(4), use(3, scale="sqrtn")],
    "eigh": lambda a: [*_eigenvectors(a), use(a.definite(4, 4), eigvals_only=True)],
    "eigh_tridiagonal": lambda a: [
        use(a.real(6), a.real(5), eigvals_only=True),
        use(a(6), a(5)).then(columns_turned(1)),
    ],
    "expm": lambda a: [
        use(a(4, 4)),
        use(a(3, 3) * 9),
        use(np.triu(a(3, 3)), upper_triangular=True),
    ],
    "expm_frechet": lambda a: [use(a(3, 3), a(3, 3)), use(a(3, 3), a(3, 3), compute_expm=False)],
    "fiedler": lambda a: [use(a(4)), use(a(2, 3))],
    "fiedler_companion": lambda a: [use(a.positive(5))],
    "funm": lambda a: [use(a.matrix(3, 3), jnp.exp, disp=False)],
    "hadamard": lambda a: [use(4, dtype=a.dtype), use(1, dtype=a.dtype)],
    "hankel": lambda a: [use(a(4)), use(a(3), a(5))],
    "helmert": lambda a: [use(4), use(3, full=True)],
    "hessenberg": lambda a: [use(a(4, 4)), use(a(2, 5, 5), calc_q=True)],
    "hilbert": _sized,
    "invhilbert": _sized,
    "invpascal": lambda a: [*_sized(a), use(3, kind="upper")],
    "inv": _square,
    "leslie": lambda a: [use(a(4), a(3))],
    "lu": lambda a: [*_any_shape(a), use(a(4, 4), permute_l=True)],
    "lu_factor": _square,
    "lu_solve": lambda a: [
        use((a.matrix(4, 4), np.array([2, 1, 3, 3], np.int32)), a(4), trans=t) for t in (0, 1, 2)
    ],
    "pascal": lambda a: [*_sized(a), use(3, kind="upper")],
    "polar": lambda a: [
        use(a.matrix(4, 4)),
        use(a(5, 3), method="svd"),
        use(a(3, 5), side="left", method="svd"),
    ],
    "qr": lambda a: [
        *_any_shape(a),
        use(a(5, 3), mode="economic"),
        use(a(4, 4), mode="r"),
        use(a(4, 3), pivoting=True),
    ],
    "qr_multiply": lambda a: [use(a(4, 4), a(4, 4)), use(a(5, 3), a(3, 2), mode="left")],
    "rsf2csf": lambda a: [use(_upper(a, 3), np.eye(3, dtype=a.dtype)).then(magnitudes)],
    "schur": lambda a: [
        use(a.definite(4, 4)).then(magnitudes),
        use(a.matrix(3, 3), output="complex").then(magnitudes),
    ],
    "solve": lambda a: [*_system(a)[:2], use(a.definite(4, 4), a(4), assume_a="pos")],
    "solve_sylvester": lambda a: [use(_upper(a, 3), _upper(a, 2), a(3, 2))],
    "solve_triangular": lambda a: [
        use(_upper(a, 4), a(4)),
        use(a.lower(3, 3), a(3, 2), lower=True, trans=1),
        use(a.lower(3, 3), a(3), lower=True, unit_diagonal=True),
    ],
    "sqrtm": lambda a: [use(a.definite(3, 3)), use(a.matrix(4, 4))],
    "svd": NUMPY["svd"],
    "toeplitz": lambda a: [use(a(4)), use(a(3), a(5))],
}


def _lax_svd(result: Any) -> Any:
    return singular_vectors_turned(tuple(result)) if isinstance(result, tuple | list) else result


LAX: Table = {
    "cholesky": _definite,
    "cholesky_update": lambda a: [use(_factor(a).T.conj(), a(4))],
    "eig": lambda a: [use(a(4, 4), compute_left_eigenvectors=False).then(_pairs_by_size)],
    "eigh": lambda a: [one.then(columns_turned(0)) for one in _definite(a)],
    "hessenberg": lambda a: [use(a(4, 4)), use(a(2, 5, 5))],
    "householder_product": lambda a: [use(a(4, 3), a.unit(3)), use(a(2, 3, 3), a.unit(2, 3))],
    "lu": _any_shape,
    "lu_pivots_to_permutation": lambda a: [use(np.array([2, 1, 3, 3], np.int32), 4)],
    "ormqr": lambda a: [
        use(a(4, 3), a.unit(3), a(4, 2)),
        use(a(4, 3), a.unit(3), a(2, 4), left=False),
    ],
    "qdwh": lambda a: [use(a.matrix(4, 4)), use(a(5, 3))],
    "qr": lambda a: [
        *_any_shape(a),
        use(a(5, 3), full_matrices=False),
        use(a(4, 3), pivoting=True),
    ],
    "schur": lambda a: [use(m).then(magnitudes) for m in (a.definite(4, 4), a.matrix(3, 3))],
    "svd": lambda a: [one.then(_lax_svd) for one in _decomposed(a)],
    "symmetric_product": lambda a: [use(a(4, 3), a.definite(4, 4), alpha=2.0, beta=0.5)],
    "triangular_solve": lambda a: [
        use(a.lower(4, 4), a(2, 4), lower=True),
        use(a.lower(3, 3), a(3, 2), left_side=True, lower=True, transpose_a=True),
        use(_upper(a, 3), a(3, 2), left_side=True, conjugate_a=True, transpose_a=True),
        use(_upper(a, 3), a(3, 1), left_side=True, unit_diagonal=True),
    ],
    "tridiagonal": lambda a: [use(a.definite(4, 4)), use(a.definite(2, 3, 3), lower=False)],
    "tridiagonal_solve": lambda a: [use(a(5), a.matrix(5, 5).sum(0) + 9, a(5), a(5, 2))],
}
