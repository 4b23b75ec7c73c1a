"""Linear algebra of JAX that LAPACK does for XLA: `ccodegen.jit` against XLA:CPU, and exported.

tests/jax_functions goes through every public function; here are programs of several of them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl

import ccodegen
from tests.e2e.agreement import assert_jit_agrees

Array = Any
TYPES = [np.float32, np.complex128]


def matrix(dtype: Any, *dimensions: int) -> Array:
    generator = np.random.default_rng(sum(dimensions))
    values = generator.standard_normal(dimensions)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.standard_normal(dimensions)
    return values.astype(dtype)


def definite(dtype: Any, *dimensions: int) -> Array:
    a = matrix(dtype, *dimensions)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(dimensions[-1], dtype=dtype)


def kalman_step(covariance: Array, observe: Array, noise: Array) -> Array:
    """The gain and the covariance after one observation, by Cholesky's factor."""
    across = observe @ covariance
    factor = jsl.cho_factor(across @ observe.conj().T + noise, lower=True)
    gain = jsl.cho_solve(factor, across).conj().T
    return gain, covariance - gain @ across


def least_squares(a: Array, b: Array) -> Array:
    q, r = jnp.linalg.qr(a)
    return jsl.solve_triangular(r, q.conj().T @ b)


def determinants(a: Array) -> Array:
    return jnp.linalg.det(a), jnp.linalg.slogdet(a), jnp.linalg.inv(a)


def inverse_derivative(a: Array) -> Array:
    return jax.jvp(jnp.linalg.inv, (a,), (jnp.ones_like(a),))[1]


def pivoted(a: Array) -> Array:
    return jsl.qr(a, pivoting=True)


def solved(a: Array, b: Array) -> Array:
    return jnp.linalg.solve(a, b), jsl.lu_solve(jsl.lu_factor(a[0]), b[0], trans=1)


def reduced(a: Array) -> Array:
    return jsl.hessenberg(a, calc_q=True), jax.lax.linalg.tridiagonal(a + a.conj().T)


def rebuilt(a: Array) -> Array:
    """a, of its eigenvalues and eigenvectors: whatever their order and signs are."""
    values, vectors = jnp.linalg.eig(a)
    return (vectors * values) @ jnp.linalg.inv(vectors), jsl.sqrtm(a @ a)


def heat(below: Array, diagonal: Array, above: Array, b: Array) -> Array:
    return jax.lax.linalg.tridiagonal_solve(below, diagonal, above, b)


def system(dtype: Any) -> list[Array]:
    below, diagonal, above = matrix(dtype, 3, 2, 5)
    return [below, diagonal + dtype(4), above, matrix(dtype, 2, 5, 2)]


def filtered(dtype: Any) -> list[Array]:
    return [definite(dtype, 4, 4), matrix(dtype, 2, 4), definite(dtype, 2, 2)]


PROGRAMS: list[tuple[Callable[..., Any], Callable[[Any], list[Array]]]] = [
    (jnp.linalg.cholesky, lambda t: [np.stack([definite(t, 4, 4), -definite(t, 4, 4)])]),
    (kalman_step, filtered),
    (least_squares, lambda t: [matrix(t, 6, 3), matrix(t, 6)]),
    (determinants, lambda t: [matrix(t, 2, 3, 3)]),
    (inverse_derivative, lambda t: [matrix(t, 4, 4)]),
    (pivoted, lambda t: [matrix(t, 4, 5)]),
    (solved, lambda t: [matrix(t, 2, 4, 4), matrix(t, 2, 4, 3)]),
    (jsl.lu, lambda t: [matrix(t, 4, 6)]),
    (jsl.expm, lambda t: [matrix(t, 3, 3)]),
    (reduced, lambda t: [matrix(t, 5, 5)]),
    (rebuilt, lambda t: [definite(t, 4, 4) + matrix(t, 4, 4) / 8]),
    (heat, system),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_program(function: Any, arguments: Any, dtype: Any) -> None:
    tolerance = 1e-3 if dtype in (np.float32, np.complex64) else 1e-10
    assert_jit_agrees(function, arguments(dtype), tolerance)


def test_an_exported_filter_runs_on_a_microcontroller(tmp_path: Path) -> None:
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm", "make"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    arguments = filtered(np.float32)
    lowered = jax.jit(kalman_step).lower(*arguments)
    ccodegen.export(lowered, "cortex-m4", "kalman", tmp_path, inputs=arguments)
    done = subprocess.run(
        ["timeout", "120", "make", "-s", "-C", str(tmp_path), "test"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("PASS\n"), done.stdout + done.stderr
