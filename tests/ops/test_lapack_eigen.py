"""LAPACK's eigenvalues and singular values: three ways with the same bits, and right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support.errors import InputError, UnsupportedError
from tests.ops.test_lapack import LETTERS, adjoint, assert_near, program, random, run, text
from tests.three_ways import check

REAL = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}


def heevd(letter: str, *dimensions: int, mode: str = "V", uplo: str = "L") -> str:
    *batch, n, _ = dimensions
    target = f"lapack_{letter}{'he' if letter in 'cz' else 'sy'}evd_ffi"
    a = text(letter, *dimensions)
    results = f"({a}, {text(REAL[letter], *batch, n)}, {text('s32', *batch)})"
    config = f"{{mode = {ord(mode)} : ui8, uplo = {ord(uplo)} : ui8}}"
    return program(target, results, [a], config)


def gesdd(letter: str, *dimensions: int, mode: str, name: str = "gesdd", whole: bool = True) -> str:
    """`whole`: whether u and v have all columns where they are not computed."""
    *batch, m, n = dimensions
    least = min(m, n)
    columns, rows = (m, n) if mode == "A" or (mode == "N" and whole) else (least, least)
    a, s = text(letter, *dimensions), text(REAL[letter], *batch, least)
    u, vt = text(letter, *batch, m, columns), text(letter, *batch, rows, n)
    results = f"({a}, {s}, {u}, {vt}, {text('s32', *batch)})"
    return program(f"lapack_{letter}{name}_ffi", results, [a], f"{{mode = {ord(mode)} : ui8}}")


def hermitian(a: Any, uplo: str) -> Any:
    """The matrix of which a holds this triangle; the diagonal's imaginary part counts as zero."""
    triangle = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    diagonal = np.eye(a.shape[-1]) * a.real
    return (triangle + adjoint(triangle) + diagonal).astype(a.dtype)


def assert_orthonormal(columns: Any) -> None:
    product = adjoint(columns) @ columns
    assert_near(product, np.broadcast_to(np.eye(columns.shape[-1]), product.shape))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("dimensions", [(4, 4), (2, 3, 3), (1, 1), (0, 0), (2, 0, 0)])
def test_eigenvectors(letter: str, uplo: str, dimensions: tuple[int, ...]) -> None:
    a = random(letter, *dimensions)
    vectors, values, info = run(heevd(letter, *dimensions, uplo=uplo), a)
    whole = hermitian(a, uplo)
    assert not info.any()
    assert_near(whole @ vectors, vectors * values[..., None, :])
    assert_orthonormal(vectors)
    assert_near(values, np.linalg.eigvalsh(whole))


@pytest.mark.parametrize("letter", LETTERS)
def test_eigenvalues_alone(letter: str) -> None:
    a = random(letter, 2, 4, 4)
    vectors, values, info = run(heevd(letter, 2, 4, 4, mode="N"), a)
    assert not info.any() and not vectors.any()
    assert_near(values, np.linalg.eigvalsh(hermitian(a, "L")))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("mode", "AS")
@pytest.mark.parametrize("dimensions", [(3, 3), (4, 2), (2, 4), (1, 1), (1, 3), (3, 1), (2, 2, 3)])
def test_singular_vectors(letter: str, mode: str, dimensions: tuple[int, ...]) -> None:
    a = random(letter, *dimensions)
    _, s, u, vt, info = run(gesdd(letter, *dimensions, mode=mode), a)
    least = s.shape[-1]
    assert not info.any()
    assert_near(u[..., :least] * s[..., None, :] @ vt[..., :least, :], a)
    assert_orthonormal(u)
    assert_orthonormal(adjoint(vt))
    assert_near(s, np.linalg.svd(a, compute_uv=False))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("name", ["gesdd", "gesvd"])
@pytest.mark.parametrize("whole", [True, False])
def test_singular_values_alone(letter: str, name: str, whole: bool) -> None:
    a = random(letter, 2, 4, 3)
    module = gesdd(letter, 2, 4, 3, mode="N", name=name, whole=whole)
    _, s, u, vt, info = run(module, a)
    assert not info.any() and not u.any() and not vt.any()
    assert_near(s, np.linalg.svd(a, compute_uv=False))


@pytest.mark.parametrize("dimensions", [(0, 0), (0, 3), (3, 0), (0, 2, 3), (2, 0, 2)])
def test_singular_vectors_of_nothing(dimensions: tuple[int, ...]) -> None:
    a = np.zeros(dimensions, np.float32)
    _, _, u, vt, _ = run(gesdd("s", *dimensions, mode="A"), a)
    assert_orthonormal(u)
    assert_orthonormal(vt)


@pytest.mark.parametrize("letter", "sz")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_gives_nan(letter: str, bad: float) -> None:
    a = random(letter, 2, 3, 3)
    a[1, 2, 0] = bad
    vectors, values, info = run(heevd(letter, 2, 3, 3), a)
    assert np.isnan(vectors[1]).all() and np.isnan(values[1]).all()
    assert np.isfinite(values[0]).all() and info.tolist() == [0, 0]
    _, s, u, _, info = run(gesdd(letter, 2, 3, 3, mode="A"), a)
    assert np.isnan(u[1]).all() and np.isnan(s[1]).all()
    assert np.isfinite(s[0]).all() and info.tolist() == [0, -4]


def test_what_the_other_triangle_holds_does_not_matter() -> None:
    a = random("s", 4, 4)
    a[np.triu_indices(4, 1)] = np.nan
    _, values, _ = run(heevd("s", 4, 4), a)
    assert_near(values, np.linalg.eigvalsh(np.nan_to_num(a), UPLO="L"))


@pytest.mark.parametrize("letter", LETTERS)
def test_optimised_c_agrees(letter: str) -> None:
    a = random(letter, 2, 6, 6)
    check(heevd(letter, 2, 6, 6), a)
    check(gesdd(letter, 2, 6, 4, mode="A"), np.ascontiguousarray(a[..., :4]))
    check(gesdd(letter, 2, 4, 6, mode="S", name="gesvd"), np.ascontiguousarray(a[:, :4]))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("uplo", "LU")
def test_eigenvectors_as_jax_asks_for_them_on_a_tpu(letter: str, uplo: str) -> None:
    a = random(letter, 2, 3, 3)
    results = f"({text(letter, 2, 3, 3)}, {text(REAL[letter], 2, 3)})"
    config = f'"{"UL".index(uplo)},1,100,1e-6"'
    vectors, values = run(program("Eigh", results, [text(letter, 2, 3, 3)], config), a)
    assert_near(hermitian(a, uplo) @ vectors, vectors * values[..., None, :])
    assert_orthonormal(vectors)


def test_calls_that_differ_in_their_configuration_alone() -> None:
    a = random("s", 3, 3)
    results = f"({text('s', 3, 3)}, {text('s', 3)}, s32[])"
    call = 'custom-call(a), custom_call_target="lapack_ssyevd_ffi"'
    lower, upper = (f"backend_config={{mode = 86 : ui8, uplo = {n} : ui8}}" for n in b"LU")
    module = f"""ENTRY e {{ a = f32[3,3] parameter(0)
  l = {results} {call}, {lower}
  u = {results} {call}, {upper}
  ROOT r = ({results}, {results}) tuple(l, u) }}"""
    found = run(module, a)
    for (_, values, _), uplo in zip(found, "LU", strict=True):
        assert_near(values, np.linalg.eigvalsh(a, UPLO=uplo))


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (heevd("s", 2, 3), r"takes square matrices, not f32\[2,3\]"),
        (heevd("s", 2, 2, uplo="X"), r"has uplo = 88, which is none of L, U"),
        (heevd("d", 2, 2).replace("dsy", "ssy"), r"takes matrices of f32, not f64"),
        (gesdd("s", 2, 3, mode="Z"), r"has mode = 90, which is none of A, S, N, O"),
        (gesdd("s", 2, 3, mode="N").replace(", f32[2,2], ", ", f32[2,5], "), "has as result"),
    ],
)
def test_what_does_not_fit_is_refused(module: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(module)


def test_mode_o_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="SVD with mode O"):
        check(gesdd("s", 2, 3, mode="O"))
