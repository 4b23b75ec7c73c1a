"""LAPACK's custom calls: evaluator, interpreter and C have the same bits, and are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.support.errors import InputError
from tests.three_ways import check, module_of

TYPES = {
    "s": ("f32", np.float32),
    "d": ("f64", np.float64),
    "c": ("c64", np.complex64),
    "z": ("c128", np.complex128),
}
LETTERS = [pytest.param(letter, id=dtype.__name__) for letter, (_, dtype) in TYPES.items()]
SIZES = [(4, 4), (5, 3), (3, 5), (1, 1), (1, 3), (3, 1), (2, 3, 4), (2, 1, 4, 2)]
EMPTY = [(0, 0), (0, 3), (3, 0), (0, 2, 2)]


def random(letter: str, *dimensions: int, seed: int = 0) -> Any:
    """Numbers near 1 of the type that LAPACK's letter stands for."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(dimensions)
    if letter in "cz":
        values = values + 1j * generator.standard_normal(dimensions)
    return values.astype(TYPES[letter][1])


def program(target: str, results: str, operands: list[str], config: str = "{}") -> str:
    """A module that is one custom call."""
    lines = [f"  a{n} = {shape} parameter({n})" for n, shape in enumerate(operands)]
    names = ", ".join(f"a{n}" for n in range(len(operands)))
    call = f'custom-call({names}), custom_call_target="{target}"'
    root = f"  ROOT r = {results} {call}, api_version=API_VERSION_TYPED_FFI"
    return "\n".join(["ENTRY e {", *lines, f"{root}, backend_config={config}", "}"])


def text(letter: str, *dimensions: int) -> str:
    element_type = TYPES[letter][0] if letter in TYPES else letter
    return f"{element_type}[{','.join(map(str, dimensions))}]"


def potrf(letter: str, uplo: str, *dimensions: int) -> str:
    a, info = text(letter, *dimensions), text("s32", *dimensions[:-2])
    config = f"{{uplo = {ord(uplo)} : ui8}}"
    return program(f"lapack_{letter}potrf_ffi", f"({a}, {info})", [a], config)


def getrf(letter: str, *dimensions: int) -> str:
    a, info = text(letter, *dimensions), text("s32", *dimensions[:-2])
    pivots = text("s32", *dimensions[:-2], min(dimensions[-2:]))
    return program(f"lapack_{letter}getrf_ffi", f"({a}, {pivots}, {info})", [a])


def geqrf(letter: str, *dimensions: int, target: str = "") -> str:
    a, taus = text(letter, *dimensions), text(letter, *dimensions[:-2], min(dimensions[-2:]))
    return program(target or f"lapack_{letter}geqrf_ffi", f"({a}, {taus})", [a])


def geqp3(letter: str, *dimensions: int) -> str:
    a, taus = text(letter, *dimensions), text(letter, *dimensions[:-2], min(dimensions[-2:]))
    numbers = text("s32", *dimensions[:-2], dimensions[-1])
    return program(f"lapack_{letter}geqp3_ffi", f"({a}, {numbers}, {taus})", [a, numbers])


def prefix(letter: str) -> str:
    return letter + ("un" if letter in "cz" else "or")


def orgqr(letter: str, k: int, *dimensions: int, target: str = "") -> str:
    a, taus = text(letter, *dimensions), text(letter, *dimensions[:-2], k)
    return program(target or f"lapack_{prefix(letter)}gqr_ffi", a, [a, taus])


def ormqr(letter: str, a: Any, taus: Any, c: Any, left: bool, adjoint: bool) -> str:
    config = f"{{left = {str(left).lower()}, transpose = {str(adjoint).lower()}}}"
    operands = [text(letter, *x.shape) for x in (a, taus, c)]
    return program(f"lapack_{prefix(letter)}mqr_ffi", operands[2], operands, config)


def trsm(letter: str, a: Any, b: Any, **letters: str) -> str:
    config = ", ".join(f"{name} = {ord(value)} : ui8" for name, value in letters.items())
    operands = [text(letter, *x.shape) for x in (a, b)]
    return program(f"lapack_{letter}trsm_ffi", operands[1], operands, f"{{{config}}}")


def run(module: str, *arguments: Any) -> Any:
    """What the evaluator says, after all three ways agreed to the bit."""
    check(module, *arguments, strict=True)
    return evaluate(module_of(module), *arguments)


def adjoint(a: Any) -> Any:
    return a.conj().swapaxes(-1, -2)


def assert_near(got: Any, expected: Any) -> None:
    tolerance = 1e-4 if got.dtype in (np.float32, np.complex64) else 1e-11
    np.testing.assert_allclose(got, expected, tolerance, tolerance)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("dimensions", [(5, 5), (2, 3, 3), (1, 1), (0, 0), (2, 0, 0)])
def test_cholesky(letter: str, uplo: str, dimensions: tuple[int, ...]) -> None:
    half = random(letter, *dimensions)
    a = half @ adjoint(half) + np.eye(dimensions[-1], dtype=half.dtype)
    factor, info = run(potrf(letter, uplo, *dimensions), a)
    assert not info.any()
    triangle, other = (np.tril, np.triu) if uplo == "L" else (np.triu, np.tril)
    t = triangle(factor)
    assert_near(t @ adjoint(t) if uplo == "L" else adjoint(t) @ t, a)
    k = 1 if uplo == "L" else -1
    np.testing.assert_array_equal(other(factor, k), other(a, k))


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [(np.diag([1.0, 4, 0, -1]), 3), ([[np.nan]], 1), ([[1, 2], [2, 1]], 2)],
)
def test_cholesky_of_what_is_not_positive_definite(matrix: Any, expected: int) -> None:
    a = np.array(matrix, np.float32)
    assert run(potrf("s", "L", *a.shape), a)[1] == expected


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("dimensions", SIZES)
def test_lu(letter: str, dimensions: tuple[int, ...]) -> None:
    a = random(letter, *dimensions)
    factors, pivots, info = run(getrf(letter, *dimensions), a)
    assert not info.any()
    m, n = dimensions[-2:]
    for lu, rows, matrix in zip(
        factors.reshape(-1, m, n), pivots.reshape(-1, min(m, n)), a.reshape(-1, m, n), strict=True
    ):
        lower = np.tril(lu, -1)[:, : min(m, n)] + np.eye(m, min(m, n))
        permuted = matrix.copy()
        for k, row in enumerate(rows):
            permuted[[k, row - 1]] = permuted[[row - 1, k]]
        assert_near((lower @ np.triu(lu)[: min(m, n)]).astype(a.dtype), permuted)
        assert np.all(np.abs(lower) <= 1.5)


@pytest.mark.parametrize("dimensions", EMPTY)
def test_factors_of_nothing(dimensions: tuple[int, ...]) -> None:
    a = np.zeros(dimensions, np.float32)
    run(getrf("s", *dimensions), a)
    run(geqrf("s", *dimensions), a)


def test_lu_takes_the_first_of_the_largest_pivots_by_both_parts() -> None:
    a = np.array([[3, 0], [2 + 2j, 1], [-4, 5]], np.complex64)
    assert run(getrf("c", 3, 2), a)[1].tolist() == [2, 3]


def test_lu_of_singular_matrices() -> None:
    a = np.array([[[0, 1], [0, 2]], [[1, 2], [2, 4]], [[np.nan, 1], [1, 1]]], np.float64)
    factors, pivots, info = run(getrf("d", 3, 2, 2), a)
    assert info.tolist() == [1, 2, 0]
    assert pivots[:2].tolist() == [[1, 2], [2, 2]]
    np.testing.assert_array_equal(factors[0], a[0])
    assert np.isnan(factors[2]).any()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("dimensions", SIZES)
def test_qr(letter: str, dimensions: tuple[int, ...]) -> None:
    a = random(letter, *dimensions)
    factors, taus = run(geqrf(letter, *dimensions), a)
    m, n = dimensions[-2:]
    k = min(m, n)
    q = run(orgqr(letter, k, *dimensions[:-1], k), np.ascontiguousarray(factors[..., :k]), taus)
    assert_near(adjoint(q) @ q, np.broadcast_to(np.eye(k), (*dimensions[:-2], k, k)))
    assert_near(q @ np.triu(factors)[..., :k, :], a)


def test_reflectors_that_are_not_needed() -> None:
    a = np.array([[-3, 1], [0, 2], [0, 0]], np.float32)
    factors, taus = run(geqrf("s", 3, 2), a)
    np.testing.assert_array_equal(factors, a)
    np.testing.assert_array_equal(taus, [0, 0])


@pytest.mark.parametrize("scale", [1e-41, 1e-38, 1e-25, 1e25, 1e37])
def test_qr_of_tiny_and_huge_matrices(scale: float) -> None:
    a = np.array([[1, 2], [-2, 1], [0.5, -1]]) * scale
    a = a.astype(np.float32)
    factors, taus = run(geqrf("s", 3, 2), a)
    q = run(orgqr("s", 2, 3, 2), factors, taus)
    assert_near(q.T @ q, np.eye(2))
    r = np.triu(factors)[:2].astype(np.float64) / scale
    assert_near((q @ r).astype(np.float32), a / scale)


@pytest.mark.parametrize("letter", LETTERS)
def test_q_of_fewer_reflectors_than_columns(letter: str) -> None:
    a = random(letter, 2, 5, 4)
    factors, taus = run(geqrf(letter, 2, 5, 4), a)
    whole = run(orgqr(letter, 4, 2, 5, 4), factors, taus)
    part = run(orgqr(letter, 2, 2, 5, 4), factors, taus[..., :2])
    assert_near(part[..., :2], whole[..., :2])
    assert_near(adjoint(part) @ part, np.broadcast_to(np.eye(4), (2, 4, 4)))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("adjoined", [False, True])
def test_products_with_q(letter: str, left: bool, adjoined: bool) -> None:
    a = random(letter, 2, 4, 3)
    factors, taus = evaluate(module_of(geqrf(letter, 2, 4, 3)), a)
    padded = np.concatenate([factors, np.zeros((2, 4, 1), a.dtype)], -1)
    q = evaluate(module_of(orgqr(letter, 3, 2, 4, 4)), padded, taus)
    c = random(letter, 2, 4, 2, seed=1)
    c = c if left else adjoint(c).copy()
    got = run(ormqr(letter, factors, taus, c, left, adjoined), factors, taus, c)
    factor = adjoint(q) if adjoined else q
    assert_near(got, factor @ c if left else c @ factor)


@pytest.mark.parametrize("letter", LETTERS)
def test_qr_with_pivots(letter: str) -> None:
    a = random(letter, 2, 4, 5) * np.array([1, 5, 2, 9, 3])
    a = a.astype(TYPES[letter][1])
    marks = np.array([[0, 0, 0, 0, 0], [0, 1, 0, 0, 1]], np.int32)
    factors, numbers, taus = run(geqp3(letter, 2, 4, 5), a, marks)
    square = np.ascontiguousarray(factors[..., :4])
    q = run(orgqr(letter, 4, 2, 4, 4), square, taus)
    chosen = np.take_along_axis(a, numbers[:, None, :] - 1, -1)
    assert_near(q @ np.triu(factors), chosen)
    diagonal = np.abs(factors[0].diagonal())
    assert np.all(diagonal[:-1] >= diagonal[1:])
    assert numbers[1, :2].tolist() == [2, 5]


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("side", "LR")
@pytest.mark.parametrize(("uplo", "trans"), ["LN", "UT", "LC"])
@pytest.mark.parametrize("diag", "NU")
def test_triangular_solve(letter: str, side: str, uplo: str, trans: str, diag: str) -> None:
    a = random(letter, 2, 3, 3) + 3 * np.eye(3, dtype=TYPES[letter][1])
    b = random(letter, 2, 3, 2) if side == "L" else random(letter, 2, 2, 3)
    x = run(trsm(letter, a, b, side=side, uplo=uplo, trans_x=trans, diag=diag), a, b)
    t = np.tril(a) if uplo == "L" else np.triu(a)
    t = t if diag == "N" else np.tril(np.triu(t, 1) + np.tril(t, -1)) + np.triu(t, 1) + np.eye(3)
    t = {"N": t, "T": t.swapaxes(-1, -2), "C": adjoint(t)}[trans].astype(a.dtype)
    assert_near(t @ x if side == "L" else x @ t, b)


@pytest.mark.parametrize("letter", LETTERS)
def test_optimised_c_agrees(letter: str) -> None:
    a = random(letter, 2, 6, 6)
    check(potrf(letter, "L", 2, 6, 6), a @ adjoint(a))
    check(getrf(letter, 2, 6, 6), a)
    check(geqrf(letter, 2, 6, 6), a)
    check(orgqr(letter, 6, 2, 6, 6), *evaluate(module_of(geqrf(letter, 2, 6, 6)), a))


def test_targets_of_other_platforms() -> None:
    a = random("z", 2, 4, 3)
    factors, taus = run(geqrf("z", 2, 4, 3, target="Qr"), a)
    product = orgqr("z", 3, 2, 4, 3, target="ProductOfElementaryHouseholderReflectors")
    assert_near(run(product, factors, taus) @ np.triu(factors)[..., :3, :], a)
    shapes = f"({text('z', 2, 4, 3)}, s32[2,3], s32[2,4])"
    lu = program("LuDecomposition", shapes, [text("z", 2, 4, 3)])
    factors, pivots, rows = run(lu, a)
    lower = np.tril(factors, -1) + np.eye(4, 3)
    permuted = np.take_along_axis(a, rows[..., None], -2)
    assert_near(lower @ np.triu(factors)[..., :3, :], permuted)
    assert pivots.min() == 0


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (potrf("s", "X", 2, 2), r"lapack_spotrf_ffi' has uplo = 88, which is none of L, U"),
        (potrf("s", "L", 2, 3), r"takes square matrices, not f32\[2,3\]"),
        (program("lapack_sgetrf_ffi", "f32[2,2]", ["f32[2,2]"]), r"has as result \(f32\[2,2\],"),
        (program("lapack_dgetrf_ffi", "f32[2]", ["f32[2,2]"]), r"takes matrices of f64, not f32"),
        (program("Eigh", "f32[2]", ["f32[2,2]"], '"x"'), r"has 'x' as first part"),
        (program("Qr", "f32[2]", ["f32[2]"]), r"takes matrices, not f32\[2\]"),
        (program("lapack_sgeqrf_ffi", "f32[2]", ["f32[2,2]"] * 2), r"takes 1 operands, not 2"),
    ],
)
def test_what_does_not_fit_is_refused(module: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(module)
