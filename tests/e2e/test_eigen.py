"""Eigenvalues and singular values of JAX: `ccodegen.jit` against XLA:CPU, and exported.

Eigenvectors and singular vectors are known up to a factor: programs return what does not depend
on it.
"""

from __future__ import annotations

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
from jax.lax.linalg import SvdAlgorithm

import ccodegen
from tests.e2e.agreement import Example, assert_agrees, assert_jit_agrees
from tests.e2e.test_linear_algebra import definite, matrix
from tests.test_package import needs

Array = Any
TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def adjoint(a: Array) -> Array:
    return a.conj().swapaxes(-1, -2)


def eigen(a: Array) -> Array:
    values, vectors = jnp.linalg.eigh(a)
    root = vectors * jnp.sqrt(values)[..., None, :] @ adjoint(vectors)
    upper = jnp.linalg.eigvalsh(a, UPLO="U")
    return values, root, upper, jsl.eigh(a[0], eigvals_only=True)


def singular(a: Array) -> Array:
    """The matrix put together again, and what the whole of u and v are next to their adjoints."""
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    whole, _, whole_vt = jnp.linalg.svd(a)
    by_qr = jax.lax.linalg.svd(a, algorithm=SvdAlgorithm.QR)[1]
    products = adjoint(whole) @ whole, whole_vt @ adjoint(whole_vt)
    return s, u * s[..., None, :] @ vt, products, by_qr, jnp.linalg.svdvals(a)


def by_singular_values(a: Array) -> Array:
    norms = [jnp.linalg.norm(a, ord=order) for order in (2, -2, "nuc")]
    solution = jnp.linalg.lstsq(a, a[:, 0])[0]
    rank = jnp.linalg.matrix_rank(a)
    return norms, jnp.linalg.cond(a), rank, jnp.linalg.pinv(a), solution


def polar(a: Array) -> Array:
    return jsl.polar(a, method="svd"), jnp.linalg.svd(a @ adjoint(a), hermitian=True)[1]


def eigen_gradient(a: Array) -> Array:
    def loss(a: Array) -> Array:
        values, vectors = jnp.linalg.eigh((a + adjoint(a)) / 2)
        return (values**3).sum() + (jnp.abs(vectors[0]) ** 4 * values).sum()

    return jax.grad(loss)(a)


def singular_gradient(a: Array) -> Array:
    def loss(a: Array) -> Array:
        u, s, _ = jnp.linalg.svd(a, full_matrices=False)
        return jnp.log1p(s).sum() + (jnp.abs(u[0]) ** 4 * s).sum()

    return jax.grad(loss)(a)


def nothing_but_nan(a: Array) -> Array:
    bad = a.at[0, 1, 0].set(jnp.nan)
    return jnp.isnan(jnp.linalg.svd(bad)[0]), jnp.linalg.svdvals(bad)


PROGRAMS: list[tuple[Callable[..., Any], Callable[[Any], list[Array]]]] = [
    (eigen, lambda t: [definite(t, 2, 4, 4)]),
    (singular, lambda t: [matrix(t, 2, 5, 3)]),
    (singular, lambda t: [matrix(t, 3, 4)]),
    (by_singular_values, lambda t: [matrix(t, 5, 3)]),
    (polar, lambda t: [matrix(t, 4, 4)]),
    (eigen_gradient, lambda t: [definite(t, 4, 4)]),
    (singular_gradient, lambda t: [matrix(t, 4, 3)]),
    (nothing_but_nan, lambda t: [matrix(t, 2, 3, 3)]),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_program(function: Any, arguments: Any, dtype: Any) -> None:
    tolerance = 1e-4 if dtype in (np.float32, np.complex64) else 1e-11
    assert_jit_agrees(function, arguments(dtype), tolerance)


def put_together(a: Array) -> Array:
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    return s, u * s @ vt


@pytest.mark.parametrize("function", [eigen, put_together])
def test_what_jax_writes_for_a_tpu(function: Any) -> None:
    given = definite(np.float32, 2, 4, 4) if function is eigen else matrix(np.float32, 4, 3)
    assert_agrees(Example(function, (given,), platform="tpu"))


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_runs_on_a_microcontroller(strict: bool, tmp_path: Path) -> None:
    needs("arm-none-eabi-gcc", "qemu-system-arm", "make")

    def program(a: Array, b: Array) -> Array:
        return jnp.linalg.eigh(a), jnp.linalg.svd(b, full_matrices=False)

    arguments = [definite(np.float32, 6, 6), matrix(np.complex64, 5, 3)]
    lowered = jax.jit(program).lower(*arguments)
    ccodegen.export(lowered, "cortex-m4", "eigen", tmp_path, inputs=arguments, strict=strict)
    command = ["timeout", "120", "make", "-s", "-C", str(tmp_path), "test"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.endswith("PASS\n"), done.stdout + done.stderr
