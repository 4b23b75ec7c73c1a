"""LAPACK's tridiagonal and nearly triangular matrices, three ways; test_linalg.py has the C's
values against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support.errors import InputError
from tests.ops.test_lapack import LETTERS, adjoint, assert_near, program, random, run, text
from tests.three_ways import check


def gtsv(letter: str, *dimensions: int) -> str:
    b, diagonal = text(letter, *dimensions), text(letter, *dimensions[:-1])
    info = text("s32", *dimensions[:-2])
    results = f"({diagonal}, {diagonal}, {diagonal}, {b}, {info})"
    return program(f"lapack_{letter}gtsv_ffi", results, [diagonal] * 3 + [b])


def gehrd(letter: str, low: int, high: int, *dimensions: int) -> str:
    a, info = text(letter, *dimensions), text("s32", *dimensions[:-2])
    taus = text(letter, *dimensions[:-2], max(0, dimensions[-1] - 1))
    config = f"{{high = {high} : i32, low = {low} : i32}}"
    return program(f"lapack_{letter}gehrd_ffi", f"({a}, {taus}, {info})", [a], config)


def sytrd(letter: str, uplo: str, *dimensions: int) -> str:
    *batch, n, _ = dimensions
    real = "s" if letter in "sc" else "d"
    steps = (*batch, max(0, n - 1))
    results = [
        text(letter, *dimensions),
        text(real, *batch, n),
        text(real, *steps),
        text(letter, *steps),
        text("s32", *batch),
    ]
    name = "hetrd" if letter in "cz" else "sytrd"
    config = f"{{uplo = {ord(uplo)} : ui8}}"
    return program(f"lapack_{letter}{name}_ffi", f"({', '.join(results)})", results[:1], config)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("dimensions", [(2, 5, 3), (2, 1), (1, 1), (0, 2), (3, 0)])
def test_tridiagonal_systems(letter: str, dimensions: tuple[int, ...]) -> None:
    below, diagonal, above = random(letter, 3, *dimensions[:-1])
    b = random(letter, *dimensions)
    *_, x, info = run(gtsv(letter, *dimensions), below, diagonal, above, b)
    assert not info.any()
    product = diagonal[..., None] * x
    product[..., 1:, :] += below[..., 1:, None] * x[..., :-1, :]
    product[..., :-1, :] += above[..., :-1, None] * x[..., 1:, :]
    assert_near(product, b)


def perturbed(letter: str, *dimensions: int) -> str:
    b, diagonal = text(letter, *dimensions), text(letter, *dimensions[:-1])
    return program("tridiagonal_solve_perturbed_ffi", b, [diagonal] * 3 + [b])


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("dimensions", [(2, 5, 3), (1, 1), (0, 2), (3, 0)])
def test_perturbed_systems_have_the_solution_of_regular_ones(
    letter: str, dimensions: tuple[int, ...]
) -> None:
    arrays = [*random(letter, 3, *dimensions[:-1]), random(letter, *dimensions)]
    *_, expected, _ = run(gtsv(letter, *dimensions), *arrays)
    x = run(perturbed(letter, *dimensions), *arrays)
    assert_near(x, expected)


@pytest.mark.parametrize("letter", LETTERS)
def test_perturbed_systems_that_are_singular_give_the_null_vector(letter: str) -> None:
    """-1, 2, -1 with free ends has the constant vector as its null space."""
    one = np.ones(5, random(letter, 1).dtype)
    diagonal = np.array([1, 2, 2, 2, 1], one.dtype)
    b = random(letter, 5, 1)
    x = run(perturbed(letter, 5, 1), -one, diagonal, -one, b)
    assert np.isfinite(x).all()
    assert_near(x / x[2], np.ones_like(x))


def unpacked(reflectors: Any, taus: Any) -> Any:
    """The product of reflectors, of which column k starts below row k."""
    n = reflectors.shape[-1]
    q = np.eye(n, dtype=reflectors.dtype)
    for k in range(n - 1):
        v = np.concatenate([np.zeros(k + 1), [1], reflectors[k + 2 :, k]])
        q = q @ (np.eye(n) - taus[k] * np.outer(v, v.conj()))
    return q


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_hessenberg(letter: str, n: int) -> None:
    a = random(letter, 2, n, n)
    form, taus, info = run(gehrd(letter, 1, n, 2, n, n), a)
    assert not info.any()
    for matrix, h, own in zip(a, form, taus, strict=True):
        q = unpacked(h, own)
        assert_near((q @ np.triu(h, -1) @ adjoint(q)).astype(a.dtype), matrix)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_tridiagonal_form(letter: str, uplo: str, n: int) -> None:
    a = random(letter, 2, n, n)
    a = a + adjoint(a)
    triangle, other = (np.tril, np.triu) if uplo == "L" else (np.triu, np.tril)
    packed, diagonal, beside, taus, info = run(sytrd(letter, uplo, 2, n, n), triangle(a))
    assert not info.any()
    np.testing.assert_array_equal(other(packed, 1 if uplo == "L" else -1), 0)
    for matrix, reflectors, d, e, own in zip(a, packed, diagonal, beside, taus, strict=True):
        t = np.diag(d) + np.diag(e, -1) + np.diag(e, 1)
        if uplo == "L":
            q = unpacked(reflectors, own)
        else:
            q = unpacked(reflectors[::-1, ::-1], own[::-1])[::-1, ::-1]
        assert_near((q @ t @ adjoint(q)).astype(a.dtype), matrix)


@pytest.mark.parametrize("letter", LETTERS)
def test_optimised_c_agrees(letter: str) -> None:
    a = random(letter, 2, 6, 6)
    check(gehrd(letter, 1, 6, 2, 6, 6), a)
    check(sytrd(letter, "L", 2, 6, 6), a + adjoint(a))
    below, diagonal, above = random(letter, 3, 2, 6)
    check(gtsv(letter, 2, 6, 6), below, diagonal, above, a)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (gehrd("s", 3, 2, 4, 4), "has rows 3 to 2 of 4"),
        (program("lapack_sgtsv_ffi", "f32[2]", ["f32[3]", *["f32[2]"] * 2, "f32[2,1]"]), "operand"),
    ],
)
def test_what_does_not_fit_is_refused(module: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(module)
