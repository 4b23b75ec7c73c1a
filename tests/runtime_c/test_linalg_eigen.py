"""Eigenvalues and singular values of hard matrices in C: as accurate as LAPACK's, and no hang."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.support.runtime_c import header_dir
from tests.runtime_c.compiled import FAST, STRICT, WARNINGS

Array = np.ndarray[Any, Any]
TYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
MODES = pytest.mark.parametrize("flags", [FAST, STRICT], ids=["fast", "strict"])
KINDS = pytest.mark.parametrize("kind", list(TYPES))

EIGEN = """
void heevd_{s}({t} *a, {t} *w, int32_t *info, {t} *work, ptrdiff_t count, ptrdiff_t n,
               ptrdiff_t lower, ptrdiff_t vectors);
void heevd_{s}({t} *a, {t} *w, int32_t *info, {t} *work, ptrdiff_t count, ptrdiff_t n,
               ptrdiff_t lower, ptrdiff_t vectors)
{{
    ccg_heevd_{s}(a, w, info, work, count, n, lower, vectors);
}}
void gesdd_{s}({t} *x, {t} *s, {t} *u, {t} *vt, int32_t *info, const {t} *a, {t} *work,
               ptrdiff_t count, ptrdiff_t m, ptrdiff_t n, ptrdiff_t u_columns,
               ptrdiff_t vt_rows, ptrdiff_t vectors);
void gesdd_{s}({t} *x, {t} *s, {t} *u, {t} *vt, int32_t *info, const {t} *a, {t} *work,
               ptrdiff_t count, ptrdiff_t m, ptrdiff_t n, ptrdiff_t u_columns,
               ptrdiff_t vt_rows, ptrdiff_t vectors)
{{
    ccg_gesdd_{s}(x, s, u, vt, info, a, work, count, m, n, u_columns, vt_rows, vectors);
}}
"""


@functools.cache
def library(flags: str, compiler: str = "gcc") -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="ccodegen-eigen-"))
    source, built = folder / "eigen.c", folder / "eigen.so"
    types = {s: "float" if s in ("f32", "c64") else "double" for s in TYPES}
    functions = [EIGEN.format(s=s, t=t) for s, t in types.items()]
    source.write_text("\n".join(['#include "ccg_gesdd.h"', '#include "ccg_heevd.h"', *functions]))
    command = [compiler, *WARNINGS.split(), *flags.split(), "-fPIC", "-shared"]
    command += [f"-I{header_dir()}", str(source), "-o", str(built), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))


def call(name: str, arrays: list[Array], scalars: list[int], flags: str = FAST) -> None:
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    getattr(library(flags), name)(*pointers, *map(ctypes.c_ssize_t, scalars))


def eigen(kind: str, a: Array, flags: str, lower: bool = True) -> tuple[Array, Array, int]:
    n = len(a)
    vectors, values = np.array(a, TYPES[kind], order="C"), np.empty(n, TYPES[kind]).real.copy()
    info, work = np.empty(1, np.int32), np.empty(3 * n, TYPES[kind])
    call(f"heevd_{kind}", [vectors, values, info, work], [1, n, int(lower), 1], flags)
    return vectors, values, int(info[0])


def singular(kind: str, a: Array, flags: str, whole: bool, vectors: bool = True) -> Any:
    a = np.array(a, TYPES[kind], order="C")
    m, n = a.shape
    least = min(m, n)
    columns, rows = (m, n) if whole else (least, least)
    s, info = np.empty(least, a.real.dtype), np.empty(1, np.int32)
    u, vt = np.empty((m, columns), a.dtype), np.empty((rows, n), a.dtype)
    arrays = [np.empty_like(a), s, u, vt, info, a, np.empty(m + n + 3 * least, a.dtype)]
    call(f"gesdd_{kind}", arrays, [1, m, n, columns, rows, int(vectors)], flags)
    return u, s, vt, int(info[0])


def random(generator: np.random.Generator, kind: str, *dimensions: int) -> Array:
    x = generator.standard_normal(dimensions)
    return x + 1j * generator.standard_normal(dimensions) if kind.startswith("c") else x


def with_values(generator: np.random.Generator, kind: str, s: Array, m: int, n: int) -> Array:
    """A matrix [m, n] with these singular values."""
    u = np.linalg.qr(random(generator, kind, m, m))[0][:, : len(s)]
    v = np.linalg.qr(random(generator, kind, n, n))[0][: len(s)]
    return np.asarray((u * s) @ v)


def hard_matrices(kind: str, m: int, n: int) -> Iterator[tuple[str, Array]]:
    generator, least = np.random.default_rng(m + n), min(m, n)
    ends = np.finfo(TYPES[kind])
    fall = 10.0 ** (-np.arange(max(m, n)) / 4)
    x = random(generator, kind, m, n)
    half = np.where(np.arange(least) < least // 2, 1.0, 0.0)
    yield "random", x
    yield "zero", np.zeros((m, n))
    yield "identity", np.eye(m, n)
    yield "ones", np.ones((m, n))
    yield "shift", np.eye(m, n, 1)
    yield "equal values", with_values(generator, kind, np.ones(least), m, n)
    yield "two values", with_values(generator, kind, half + 1, m, n)
    yield "half the rank", with_values(generator, kind, half, m, n)
    yield "falling values", with_values(generator, kind, fall[:least] ** 4, m, n)
    yield "falling rows and columns", x * fall[:m, None] * fall[:n]
    yield "rising rows and columns", (x * fall[:m, None] * fall[:n])[::-1, ::-1]
    yield "tiny", x * float(ends.tiny) * 64
    yield "huge", x / np.abs(x).max() * (float(ends.max) / 4 / max(m, n))
    yield "bidiagonal", np.eye(m, n) + np.eye(m, n, 1)
    yield "bidiagonal, rising", np.eye(m, n) * fall[:m, None][::-1] + np.eye(m, n, 1)
    ragged = np.eye(m, n) + np.eye(m, n, 1)
    ragged[least // 2, least // 2] = ragged[least - 1, least - 1] = 0
    yield "zeros on the diagonal", ragged
    yield "a zero column", x * (np.arange(n) != 1)
    yield "Wilkinson's", np.eye(m, n, 1) + np.eye(m, n, -1) + np.eye(m, n) * fall[:n] * 20


def scaled(a: Array) -> tuple[Array, float]:
    """The matrix in double precision with a largest element of 1, and its size."""
    size = float(np.abs(a).max(initial=0)) or 1.0
    return a.astype(np.complex128) / size, size


@MODES
@KINDS
@pytest.mark.parametrize("n", [1, 2, 3, 6, 33])
def test_eigenvectors_of_hard_matrices(kind: str, n: int, flags: str) -> None:
    for name, a in hard_matrices(kind, n, n):
        a = (a / 2 + a.conj().T / 2).astype(TYPES[kind])
        vectors, values, info = eigen(kind, a, flags)
        exact, size = scaled(a)
        values = values.astype(np.float64) / size
        bound = 4 * (n + 4) * np.finfo(TYPES[kind]).eps * max(1, np.linalg.norm(exact, 2))
        assert info == 0 and np.all(np.diff(values) >= 0), name
        assert np.abs(exact @ vectors - vectors * values).max() <= bound, name
        assert np.abs(vectors.conj().T @ vectors - np.eye(n)).max() <= bound, name
        assert np.abs(values - np.linalg.eigvalsh(exact)).max() <= bound, name


@MODES
@KINDS
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 4), (6, 6), (33, 33), (30, 12), (12, 30)])
def test_singular_vectors_of_hard_matrices(kind: str, shape: tuple[int, int], flags: str) -> None:
    for name, a in hard_matrices(kind, *shape) if min(shape) > 1 else [("row", np.ones(shape))]:
        a = a.astype(TYPES[kind])
        exact, size = scaled(a)
        bound = 4 * (max(shape) + 4) * np.finfo(TYPES[kind]).eps * max(1, np.linalg.norm(exact, 2))
        for whole in (False, True):
            u, s, vt, info = singular(kind, a, flags, whole)
            s = s.astype(np.float64) / size
            k = min(shape)
            assert info == 0 and np.all(np.diff(s) <= 0) and np.all(s >= 0), name
            assert np.abs((u[:, :k] * s) @ vt[:k] - exact).max() <= bound, name
            assert np.abs(u.conj().T @ u - np.eye(u.shape[1])).max() <= bound, name
            assert np.abs(vt @ vt.conj().T - np.eye(vt.shape[0])).max() <= bound, name
            assert np.abs(s - np.linalg.svd(exact, compute_uv=False)).max() <= bound, name


@KINDS
def test_as_accurate_as_lapack(kind: str) -> None:
    linalg = pytest.importorskip("scipy.linalg")
    a = random(np.random.default_rng(0), kind, 96, 96).astype(TYPES[kind])
    exact = a.astype(np.complex128)

    def residual(u: Array, s: Array, vt: Array) -> float:
        return float(np.abs((u * s) @ vt - exact).max())

    u, s, vt, _ = singular(kind, a, STRICT, whole=True)
    assert residual(u, s, vt) <= 4 * residual(*linalg.svd(a))
    a = a + a.conj().T
    vectors, values, _ = eigen(kind, a, STRICT)
    exact = a.astype(np.complex128)
    known_values, known = linalg.eigh(a, driver="ev")
    ours = np.abs(exact @ vectors - vectors * values).max()
    assert ours <= 4 * np.abs(exact @ known - known * known_values).max()


def test_small_singular_values_of_a_bidiagonal_matrix_keep_their_digits() -> None:
    d = 10.0 ** -np.arange(8)
    a = (np.diag(d) + np.diag(d[:-1] / 2, 1)).astype(np.float32)
    _, s, _, _ = singular("f32", a, STRICT, whole=True, vectors=False)
    exact = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(s, exact, rtol=1e-5)


@KINDS
def test_many_rotations_keep_vectors_orthonormal(kind: str) -> None:
    a = random(np.random.default_rng(0), kind, 128, 128).astype(TYPES[kind])
    bound = 32 * np.finfo(TYPES[kind]).eps
    u, _, vt, _ = singular(kind, a, STRICT, whole=True)
    vectors, _, _ = eigen(kind, a, STRICT)
    for columns in (u, vt.T, vectors):
        exact = columns.astype(np.complex128)
        assert np.abs(exact.conj().T @ exact - np.eye(128)).max() <= bound


@KINDS
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_end_at_once(kind: str, bad: float) -> None:
    a = random(np.random.default_rng(0), kind, 20, 20).astype(TYPES[kind])
    a[12, 3] = bad
    vectors, values, info = eigen(kind, a, FAST)
    assert np.isnan(vectors).all() and np.isnan(values).all() and info == 0
    _, upper, _ = eigen(kind, a, FAST, lower=False)
    assert np.isfinite(upper).all()
    u, s, vt, info = singular(kind, a, FAST, whole=True)
    assert np.isnan(u).all() and np.isnan(s).all() and np.isnan(vt).all() and info == -4


def test_clang_has_no_warning_and_nothing_undefined_happens() -> None:
    library("-O2", "clang")
    library("-O1 -DCCG_PLAIN", "clang")
    sanitized = "-O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error"
    for shape in ((0, 0), (0, 3), (5, 5), (5, 2), (2, 5)):
        u, s, vt, info = singular("c64", np.ones(shape), sanitized, whole=True)
        assert info == 0 and np.allclose((u[:, : len(s)] * s) @ vt[: len(s)], 1)
    assert eigen("f32", np.zeros((0, 0)), sanitized)[2] == 0
