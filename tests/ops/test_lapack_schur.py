"""LAPACK's eigenvalues of matrices that are not Hermitian, three ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support.errors import UnsupportedError
from tests.ops.test_lapack import LETTERS, TYPES, adjoint, program, random, run, text
from tests.three_ways import check

COMPLEX = {"s": "c", "d": "z"}
SIZES = [1, 2, 3, 6]


def geev(letter: str, *dimensions: int, left: str = "V", right: str = "V") -> str:
    a, values = text(letter, *dimensions), text(letter, *dimensions[:-1])
    vectors = text(COMPLEX.get(letter, letter), *dimensions)
    results = [values] * (2 if letter in "sd" else 1) + [vectors, vectors]
    results += [text("s32", *dimensions[:-2])]
    config = f"{{compute_left = {ord(left)} : ui8, compute_right = {ord(right)} : ui8}}"
    return program(f"lapack_{letter}geev_ffi", f"({', '.join(results)})", [a], config)


def gees(letter: str, *dimensions: int, sort: str = "N") -> str:
    a, values = text(letter, *dimensions), text(letter, *dimensions[:-1])
    number = text("s32", *dimensions[:-2])
    results = [a, a] + [values] * (2 if letter in "sd" else 1) + [number, number]
    config = f"{{mode = 86 : ui8, sort = {ord(sort)} : ui8}}"
    return program(f"lapack_{letter}gees_ffi", f"({', '.join(results)})", [a], config)


def assert_small(difference: Any, a: Any) -> None:
    """Next to the matrix, in units of the last place and for each row."""
    size = np.linalg.norm(a, axis=(-2, -1), keepdims=True) + np.finfo(a.dtype).tiny
    limit = 20 * a.shape[-1] * np.finfo(a.dtype).eps
    assert np.all(np.abs(difference) <= limit * size)


def matrices(letter: str, n: int) -> Any:
    """Of several kinds: any, orthogonal, of one eigenvalue, Hermitian, skew, of rank 1, zero."""
    a = random(letter, n, n)
    made = [a, np.linalg.qr(a)[0], np.eye(n) * 2 + np.eye(n, k=-1), a + adjoint(a), a - adjoint(a)]
    return np.array([*made, np.outer(a[0], a[0]), np.zeros((n, n))], TYPES[letter][1])


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors(letter: str, n: int) -> None:
    a = matrices(letter, n)
    *values, left, right, info = run(geev(letter, *a.shape), a)
    assert not info.any()
    w = values[0] if len(values) == 1 else values[0] + 1j * values[1]
    wide = a.astype(np.complex128)
    assert_small(wide @ right - right * w[..., None, :], a)
    assert_small(adjoint(left) @ wide - w[..., None] * adjoint(left), a)
    np.testing.assert_allclose(np.linalg.norm(right, axis=-2), 1, 1e-5)
    np.testing.assert_allclose(np.linalg.norm(left, axis=-2), 1, 1e-5)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", SIZES)
def test_schur_form(letter: str, n: int) -> None:
    a = matrices(letter, n)
    form, vectors, *_, info = run(gees(letter, *a.shape), a)
    assert not info.any()
    assert_small(vectors.astype(np.complex128) @ form @ adjoint(vectors) - a, a)
    identity = np.broadcast_to(np.eye(n, dtype=a.dtype), a.shape)
    assert_small(adjoint(vectors) @ vectors - identity, identity)
    beside = np.diagonal(form, -1, -2, -1)
    assert not np.tril(form, -2).any()
    if letter in "cz":
        assert not beside.any()
    else:
        assert not (beside[..., 1:] * beside[..., :-1]).any()
        above, diagonal = (np.diagonal(form, k, -2, -1) for k in (1, 0))
        pairs = beside != 0
        assert np.all(diagonal[..., 1:][pairs] == diagonal[..., :-1][pairs])
        assert np.all(np.sign(above[pairs]) == -np.sign(beside[pairs]))


def test_eigenvalues_alone() -> None:
    a = random("d", 4, 4)
    re, im, left, right, _ = run(geev("d", 4, 4, left="N", right="N"), a)
    expected = np.linalg.eigvals(a)
    np.testing.assert_allclose(np.sort_complex(re + 1j * im), np.sort_complex(expected))
    assert not left.any() and not right.any()


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e30])
def test_tiny_and_huge_matrices(scale: float) -> None:
    a = (random("s", 4, 4) * scale).astype(np.float32)
    re, im, *_ = run(geev("s", 4, 4), a)
    expected = np.linalg.eigvals(a.astype(np.float64))
    got = np.sort_complex(re.astype(np.float64) + 1j * im)
    np.testing.assert_allclose(got, np.sort_complex(expected), 1e-4)


@pytest.mark.parametrize("letter", "sz")
def test_what_is_not_finite_has_an_info(letter: str) -> None:
    a = random(letter, 2, 3, 3)
    a[1, 0, 2] = np.nan
    assert run(geev(letter, 2, 3, 3), a)[-1].tolist() == [0, -4]
    assert run(gees(letter, 2, 3, 3), a)[-1].tolist() == [0, -4]


@pytest.mark.parametrize("dimensions", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_nothing(dimensions: tuple[int, ...]) -> None:
    a = np.zeros(dimensions, np.float32)
    run(geev("s", *dimensions), a)
    run(gees("s", *dimensions), a)


@pytest.mark.parametrize("letter", LETTERS)
def test_optimised_c_agrees(letter: str) -> None:
    a = random(letter, 5, 5)
    check(geev(letter, 5, 5), a)
    check(gees(letter, 5, 5), a)


def test_an_order_of_the_callers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="order of the caller's"):
        check(gees("s", 2, 2, sort="S"))
