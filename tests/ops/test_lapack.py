"""LAPACK's custom calls: evaluator, interpreter and C have the same bits, and are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from tests.three_ways import check, module_of

TYPES = {
    "s": ("f32", np.float32),
    "d": ("f64", np.float64),
    "c": ("c64", np.complex64),
    "z": ("c128", np.complex128),
}
LETTERS = [pytest.param(letter, id=dtype.__name__) for letter, (_, dtype) in TYPES.items()]


def random(letter: str, *dimensions: int, seed: int = 0) -> Any:
    """Numbers near 1 of the type that LAPACK's letter stands for."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(dimensions)
    if letter in "cz":
        values = values + 1j * generator.standard_normal(dimensions)
    return values.astype(TYPES[letter][1])


def program(target: str, config: str, results: str, *operands: str) -> str:
    """A module that is one custom call."""
    lines = [f"  a{n} = {shape} parameter({n})" for n, shape in enumerate(operands)]
    names = ", ".join(f"a{n}" for n in range(len(operands)))
    call = f'custom-call({names}), custom_call_target="lapack_{target}_ffi"'
    root = f"  ROOT r = {results} {call}, api_version=API_VERSION_TYPED_FFI"
    return "\n".join(["ENTRY e {", *lines, f"{root}, backend_config={config}", "}"])


def text(letter: str, *dimensions: int) -> str:
    return f"{TYPES[letter][0]}[{','.join(map(str, dimensions))}]"


def positive(letter: str, *dimensions: int) -> Any:
    """Positive definite matrices."""
    half = random(letter, *dimensions)
    return half @ half.conj().swapaxes(-1, -2) + np.eye(dimensions[-1], dtype=half.dtype)


def potrf(letter: str, uplo: str, *dimensions: int) -> str:
    a, info = text(letter, *dimensions), f"s32[{','.join(map(str, dimensions[:-2]))}]"
    return program(f"{letter}potrf", f"{{uplo = {ord(uplo)} : ui8}}", f"({a}, {info})", a)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("uplo", "LU")
def test_cholesky_factors_agree_three_ways(letter: str, uplo: str) -> None:
    a = positive(letter, 2, 5, 5)
    module = potrf(letter, uplo, 2, 5, 5)
    check(module, a, strict=True)
    check(module, a)
    factor, info = evaluate(module_of(module), a)
    assert not info.any()
    triangle, other = (np.tril, np.triu) if uplo == "L" else (np.triu, np.tril)
    t = triangle(factor)
    product = t @ t.conj().swapaxes(-1, -2) if uplo == "L" else t.conj().swapaxes(-1, -2) @ t
    np.testing.assert_allclose(product, a, rtol=1e-4)
    k = 1 if uplo == "L" else -1
    np.testing.assert_array_equal(other(factor, k), other(a, k))


def test_a_matrix_that_is_not_positive_definite_has_an_info() -> None:
    a = np.diag([1.0, 4.0, 0.0, -1.0]).astype(np.float32)
    bad = np.array([[np.nan]], np.float32)
    for matrix, expected in ((a, 3), (bad, 1), (np.zeros((0, 0), np.float32), 0)):
        module = potrf("s", "L", *matrix.shape)
        check(module, matrix, strict=True)
        assert evaluate(module_of(module), matrix)[1] == expected
