"""LAPACK's factorisations in C against SciPy's LAPACK, at odd sizes; no write outside of arrays."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.support.runtime_c import header_dir
from tests.runtime_c.compiled import FAST, SANITIZED, STRICT, WARNINGS

lapack = pytest.importorskip("scipy.linalg.lapack")

TYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
LETTERS = [pytest.param(letter, id=name) for letter, name in TYPES.items()]
FLAGS = [pytest.param(flags, id=f"flags{n}") for n, flags in enumerate((FAST, STRICT, SANITIZED))]
GUARD = 64  # bytes

# Numbers of pointers and of scalars of each routine, for complex elements.
ROUTINES = {
    "potrf": (3, 3),
    "getrf": (3, 3),
    "geqrf": (3, 3),
    "geqp3": (4, 3),
    "orgqr": (3, 4),
    "ormqr": (4, 7),
    "gtsv": (5, 3),
    "gehrd": (4, 4),
    "sytrd": (6, 3),
    "gees": (6, 2),
    "geev": (7, 4),
}
TWO_PARTS = ("gees", "geev")  # with one pointer more where eigenvalues of real matrices are written
HEADERS = ("potrf", "getrf", "geqrf", "gtsv", "gehrd", "geev")


@functools.cache
def library(flags: str) -> Any:
    """The routines as functions `run_<routine>_<type>` of a shared library."""
    folder = Path(tempfile.mkdtemp(prefix="ccodegen-linalg-"))
    lines = [f'#include "ccg_{name}.h"' for name in HEADERS]
    for name, (pointers, scalars) in ROUTINES.items():
        for element_type in TYPES.values():
            count = pointers + (name in TWO_PARTS and element_type.startswith("f"))
            names = [*(f"p{i}" for i in range(count)), *(f"n{i}" for i in range(scalars))]
            kinds = ["void *"] * count + ["ptrdiff_t "] * scalars
            parameters = ", ".join(kind + n for kind, n in zip(kinds, names, strict=True))
            head = f"void run_{name}_{element_type}({parameters})"
            lines += [f"{head};", f"{head} {{ ccg_{name}_{element_type}({', '.join(names)}); }}"]
    source, built = folder / "linalg.c", folder / "linalg.so"
    source.write_text("\n".join([*lines, ""]))
    command = ["gcc", *WARNINGS.split(), *flags.split(), "-fPIC", "-shared"]
    subprocess.run(
        [*command, f"-I{header_dir()}", str(source), "-o", str(built), "-lm"], check=True
    )
    return ctypes.CDLL(str(built))


def run(flags: str, routine: str, letter: str, arrays: list[Any], *scalars: int) -> list[Any]:
    """The arrays after the call; each stood between guards, which must be whole."""
    memories = [np.full(a.nbytes + 2 * GUARD, 0xA5, np.uint8) for a in arrays]
    for memory, array in zip(memories, arrays, strict=True):
        memory[GUARD : GUARD + array.nbytes] = array.reshape(-1).view(np.uint8)
    pointers = [ctypes.c_void_p(m.ctypes.data + GUARD) for m in memories]
    function = getattr(library(flags), f"run_{routine}_{TYPES[letter]}")
    function(*pointers, *map(ctypes.c_ssize_t, scalars))
    for memory in memories:
        assert np.all(memory[:GUARD] == 0xA5) and np.all(memory[-GUARD:] == 0xA5)
    return [
        memory[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
        for memory, array in zip(memories, arrays, strict=True)
    ]


def random(letter: str, *dimensions: int) -> Any:
    generator = np.random.default_rng(sum(dimensions))
    values = generator.standard_normal(dimensions)
    if letter in "cz":
        values = values + 1j * generator.standard_normal(dimensions)
    return values.astype(DTYPES[letter])


def zeros(letter: str, *dimensions: int) -> Any:
    return np.zeros(dimensions, DTYPES[letter])


def integers(*dimensions: int) -> Any:
    return np.zeros(dimensions, np.int32)


def scipys(letter: str, name: str) -> Any:
    return getattr(lapack, letter + name)


def assert_near(got: Any, expected: Any) -> None:
    tolerance = 1e-3 if got.dtype in (np.float32, np.complex64) else 1e-10
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    np.testing.assert_allclose(got, expected, tolerance, tolerance * scale)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", [1, 2, 7, 33, 65])
def test_potrf(flags: str, letter: str, n: int) -> None:
    half = random(letter, n, n)
    a = (half @ half.conj().T + n * np.eye(n)).astype(half.dtype)
    for lower in (0, 1):
        arrays = [a, integers(1), zeros(letter, min(n, 8) * (n + 1))]
        factor, info, _ = run(flags, "potrf", letter, arrays, 1, n, lower)
        expected, expected_info = scipys(letter, "potrf")(a, lower=lower, clean=0)
        assert info[0] == expected_info == 0
        assert_near(factor, expected)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("size", [(1, 1), (7, 7), (33, 33), (5, 9), (9, 5), (65, 3), (21, 50)])
def test_getrf(flags: str, letter: str, size: tuple[int, int]) -> None:
    a = random(letter, *size)
    arrays = [a, integers(min(size)), integers(1)]
    factors, pivots, info = run(flags, "getrf", letter, arrays, 1, *size)
    expected, expected_pivots, expected_info = scipys(letter, "getrf")(a)
    assert info[0] == expected_info == 0
    np.testing.assert_array_equal(pivots, expected_pivots + 1)
    assert_near(factors, expected)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("columns", [(0,), (5, 6), (15, 16, 30), (32,)])
def test_getrf_of_columns_without_pivot(
    flags: str, letter: str, columns: tuple[int, ...]
) -> None:
    a = random(letter, 33, 40)
    a[:, columns] = 0
    factors, pivots, info = run(flags, "getrf", letter, [a, integers(33), integers(1)], 1, 33, 40)
    expected, expected_pivots, expected_info = scipys(letter, "getrf")(a)
    assert info[0] == expected_info == columns[0] + 1
    np.testing.assert_array_equal(pivots, expected_pivots + 1)
    assert_near(factors, expected)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("size", [(1, 1), (7, 7), (33, 33), (5, 9), (9, 5), (65, 3)])
def test_geqrf_and_orgqr(flags: str, letter: str, size: tuple[int, int]) -> None:
    (m, n), k = size, min(size)
    panel = min(k, 8)
    arrays = [random(letter, m, n), zeros(letter, k), zeros(letter, panel * (m + n + panel))]
    factors, taus, _ = run(flags, "geqrf", letter, arrays, 1, m, n)
    expected, expected_taus, _, _ = scipys(letter, "geqrf")(arrays[0])
    assert_near(factors, expected)
    assert_near(taus, expected_taus)
    work = zeros(letter, panel * (m + k + panel))
    arrays = [np.ascontiguousarray(factors[:, :k]), taus, work]
    q, _, _ = run(flags, "orgqr", letter, arrays, 1, m, k, k)
    assert_near(q, scipys(letter, "ungqr" if letter in "cz" else "orgqr")(arrays[0], taus)[0])


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("adjoint", [0, 1])
def test_ormqr(letter: str, left: int, adjoint: int) -> None:
    order, k = 9, 5
    a, taus, _, _ = scipys(letter, "geqrf")(random(letter, order, k))
    c = random(letter, *((order, 4) if left else (4, order)))
    arrays = [c, np.ascontiguousarray(a), taus, zeros(letter, c.shape[1])]
    got = run(FAST, "ormqr", letter, arrays, 1, *c.shape, k, k, left, adjoint)[0]
    name, transposed = ("unmqr", "C") if letter in "cz" else ("ormqr", "T")
    trans = transposed if adjoint else "N"
    assert_near(got, scipys(letter, name)("L" if left else "R", trans, a, taus, c, 64)[0])


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("size", [(7, 7), (5, 9), (9, 5)])
def test_geqp3(letter: str, size: tuple[int, int]) -> None:
    (m, n), k = size, min(size)
    a = (random(letter, m, n) * np.arange(1, n + 1)).astype(DTYPES[letter])
    arrays = [a, integers(n), zeros(letter, k), zeros(letter, n)]
    factors, numbers, taus, _ = run(FAST, "geqp3", letter, arrays, 1, m, n)
    expected, expected_numbers, expected_taus, _, _ = scipys(letter, "geqp3")(a)
    np.testing.assert_array_equal(numbers, expected_numbers)
    assert_near(factors, expected)
    assert_near(taus, expected_taus)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_gtsv(flags: str, letter: str, n: int) -> None:
    below, diagonal, above = random(letter, 3, n)
    b = random(letter, n, 3)
    arrays = [below, diagonal, above, b, integers(1)]
    *_, x, info = run(flags, "gtsv", letter, arrays, 1, n, 3)
    if n == 1:
        expected = b / diagonal
    else:
        expected = scipys(letter, "gtsv")(below[1:], diagonal, above[:-1], b)[3]
    assert info[0] == 0
    assert_near(x, expected)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("diagonal", [[0, 0, 1], [1, 0, 0], [1, 1, 2], [2, 1, 0]])
def test_gtsv_says_which_pivot_is_zero(letter: str, diagonal: list[float]) -> None:
    values = ([0, 0, 0], diagonal, [1, 1, 0])
    arrays = [*(np.array(v, DTYPES[letter]) for v in values), random(letter, 3, 1), integers(1)]
    info = run(FAST, "gtsv", letter, arrays, 1, 3, 1)[4][0]
    assert info == (diagonal.index(0) + 1 if 0 in diagonal else 0)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(("n", "low", "high"), [(1, 0, 1), (2, 0, 2), (9, 0, 9), (9, 2, 7)])
def test_gehrd(flags: str, letter: str, n: int, low: int, high: int) -> None:
    a = random(letter, n, n)
    a[:, :low] = np.triu(a)[:, :low]
    a[high:] = np.triu(a)[high:]
    arrays = [a, zeros(letter, n - 1), integers(1), zeros(letter, n)]
    form, taus, info, _ = run(flags, "gehrd", letter, arrays, 1, n, low, high)
    expected, expected_taus, _ = scipys(letter, "gehrd")(a, low, high - 1)
    assert info[0] == 0
    assert_near(form, expected)
    assert_near(taus, expected_taus[: n - 1])


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_sytrd(flags: str, letter: str, lower: int, n: int) -> None:
    a = random(letter, n, n)
    real = zeros("s" if letter in "sc" else "d", n)
    arrays = [a, real, real[1:], zeros(letter, n - 1), integers(1), zeros(letter, n)]
    got = run(flags, "sytrd", letter, arrays, 1, n, lower)
    name = "hetrd" if letter in "cz" else "sytrd"
    expected = scipys(letter, name)(a, lower=lower)
    for mine, theirs in zip(got[:4], expected[:4], strict=True):
        assert_near(mine, np.asarray(theirs)[: len(mine)])


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", [1, 2, 5, 33])
def test_gees_and_geev(flags: str, letter: str, n: int) -> None:
    a = random(letter, n, n)
    values = [zeros(letter, n)] * (1 if letter in "cz" else 2)
    arrays = [a, a, *values, integers(1), integers(1), zeros(letter, 2 * n)]
    form, vectors, *rest = run(flags, "gees", letter, arrays, 1, n)
    assert rest[-2][0] == 0
    assert_near(vectors @ form @ vectors.conj().T, a)
    kind = {"s": "c", "d": "z"}.get(letter, letter)
    square = zeros(kind, n, n)
    work = [zeros(letter, 2 * n * n + 2 * n), zeros(kind, n)]
    arrays = [*values, square, square, integers(1), a, *work]
    *got, _, right, info, _, _, _ = run(flags, "geev", letter, arrays, 1, n, 1, 1)
    w = got[0] if letter in "cz" else got[0] + DTYPES[kind](1j) * got[1]
    assert info[0] == 0
    assert_near(a @ right, right * w)
    assert_near(np.sort_complex(w).real, np.sort_complex(np.linalg.eigvals(a)).real)
