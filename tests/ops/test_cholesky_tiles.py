"""Cholesky's factor in register tiles: sizes that no tile divides, both triangles, no factor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.loop.ir import CallC
from ccodegen.loop.rebuild import statements
from tests.three_ways import check

Array = np.ndarray[Any, Any]
SIZES = [36, 41, 66]  # tiles have 6 rows here


def matrices(size: int, dtype: Any, lower: bool) -> Array:
    """Two of them; what is not to be read is NaN."""
    x = np.random.default_rng(size).standard_normal((2, size, size))
    a = x @ x.swapaxes(-1, -2) / size + np.eye(size)
    unread = np.tri(size, k=-1, dtype=bool)
    a[:, unread.T if lower else unread] = np.nan
    return a.astype(dtype)


def op(a: Array, lower: bool) -> str:
    shape = f"{'f32' if a.dtype == np.float32 else 'f64'}[{','.join(map(str, a.shape))}]"
    return f"""ENTRY e {{ a = {shape} parameter(0)
  ROOT r = {shape} cholesky(a), lower={str(lower).lower()} }}"""


def lapack(a: Array, lower: bool) -> str:
    letter, kind = ("s", "f32") if a.dtype == np.float32 else ("d", "f64")
    shape = f"{kind}[{','.join(map(str, a.shape))}]"
    return f"""ENTRY e {{ a = {shape} parameter(0)
  ROOT r = ({shape}, s32[{a.shape[0]}]) custom-call(a),
    custom_call_target="lapack_{letter}potrf_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={{uplo = {76 if lower else 85} : ui8}} }}"""


def in_tiles(built: Any) -> bool:
    found = statements(tuple(s for k in built.program.kernels for s in k.body))
    return any(isinstance(s, CallC) and "tile" in s.function for s in found)


@pytest.mark.parametrize("program", [op, lapack])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors(dtype: Any, lower: bool, program: Any) -> None:
    for size in SIZES:
        a = matrices(size, dtype, lower)
        assert in_tiles(check(program(a, lower), a))


@pytest.mark.parametrize("place", [0, 5, 6, 40])
@pytest.mark.parametrize("lower", [True, False])
def test_a_matrix_without_a_factor(lower: bool, place: int) -> None:
    a = np.stack([np.eye(41, dtype=np.float32)] * 2)
    a[1, place:, place:] *= -1
    check(op(a, lower), a)
    a[1, place, place] = np.nan
    check(op(a, lower), a)


@pytest.mark.parametrize("program", [op, lapack])
def test_strict_mode_and_small_matrices_keep_plain_loops(program: Any) -> None:
    for size, strict in [(35, False), (41, True)]:
        a = matrices(size, np.float32, True)
        assert not in_tiles(check(program(a, True), a, strict=strict))
