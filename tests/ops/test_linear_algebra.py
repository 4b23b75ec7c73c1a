"""cholesky and triangular-solve."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.ops.scope import check_lowering

DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def matrices(element_type: str, *shape: int, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape)
    if element_type.startswith("c"):
        x = x + 1j * random.standard_normal(shape)
    return x.astype(DTYPES[element_type])


def cholesky(element_type: str, shape: tuple[int, ...], lower: bool) -> str:
    dims = ",".join(map(str, shape))
    return f"""ENTRY e {{ a = {element_type}[{dims}] parameter(0)
  ROOT r = {element_type}[{dims}] cholesky(a), lower={str(lower).lower()} }}"""


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("element_type", list(DTYPES))
@pytest.mark.parametrize("n", [0, 1, 5])
def test_cholesky_multiplies_back(element_type, lower, n):
    x = matrices(element_type, 2, n, n)
    a = x @ x.conj().swapaxes(-1, -2) + n * np.eye(n, dtype=x.dtype)
    (factor,) = check_lowering(cholesky(element_type, a.shape, lower), a)
    lower_factor = factor if lower else factor.conj().swapaxes(-1, -2)
    assert np.allclose(lower_factor @ lower_factor.conj().swapaxes(-1, -2), a, atol=1e-4)
    assert np.array_equal(lower_factor, np.tril(lower_factor))


def test_a_matrix_without_a_factor_gives_nan_in_its_triangle():
    a = np.stack([np.eye(3), np.diag([1.0, -1.0, 1.0])]).astype(np.float32)
    (found,) = check_lowering(cholesky("f32", a.shape, True), a)
    assert np.array_equal(found[0], np.eye(3))
    assert np.array_equal(np.isnan(found[1]), np.tri(3, dtype=bool))


@pytest.mark.parametrize("element_type", ["f32", "c128"])
@pytest.mark.parametrize(
    "case",
    list(
        itertools.product(
            [True, False], [True, False], [True, False], ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]
        )
    ),
)
def test_triangular_solve_agrees_with_jax(element_type, case):
    jax = pytest.importorskip("jax")
    left, lower, unit, transpose = case
    a = matrices(element_type, 2, 4, 4) + 4 * np.eye(4, dtype=DTYPES[element_type])
    b = matrices(element_type, 2, *((4, 3) if left else (3, 4)), seed=2)
    flags = {"left_side": left, "lower": lower, "unit_diagonal": unit}
    text = f"""ENTRY e {{ a = {element_type}[2,4,4] parameter(0)
  b = {element_type}[{",".join(map(str, b.shape))}] parameter(1)
  ROOT r = {element_type}[{",".join(map(str, b.shape))}] triangular-solve(a, b),
    {", ".join(f"{k}={str(v).lower()}" for k, v in flags.items())}, transpose_a={transpose} }}"""
    (found,) = check_lowering(text, a, b)
    with jax.enable_x64(True):
        expected = jax.lax.linalg.triangular_solve(
            a, b, transpose_a=transpose != "NO_TRANSPOSE", conjugate_a=transpose == "ADJOINT",
            **flags,
        )
    assert np.allclose(found, expected, atol=1e-4)
