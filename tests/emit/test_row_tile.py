"""Row tiles: every body that the compiler may choose gives the sums, whatever rest there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit import runtime
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InternalError
from tests.emit.test_tile import INTEGER_MACHINES, build, called, extremes

MACHINES = ("-mavx512f", *INTEGER_MACHINES)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", ["f32", "f64", "s8_s8", "s8_u8", "u8_s8", "u8_u8", "s16_s16"])
def test_products_of_rows(kind: str, machine: str, compiler: str, tmp_path: Path) -> None:
    lanes = {"f32": "x8", "f64": "x8"}.get(kind, "")  # some machine's vectors have as many
    run = build(f"ccg_rows_{kind}_3x4{lanes}", tmp_path, compiler, machine)
    left, right = (HLO_TYPES[part].dtype for part in (kind.split("_") * 2)[:2])
    sums_type = left if kind in ("f32", "f64") else np.dtype(np.uint32)
    for depth in (3, 64, 191):
        lhs, rhs = numbers((4, depth + 9), left), numbers((6, depth + 5), right)
        sums = np.empty((3, 4), sums_type)
        called(run, (sums, lhs, rhs), (depth + 16, depth + 9, depth + 8, depth + 5, depth))
        wide = (
            array.reshape(-1)[start:].astype(sums_type)
            for array, start in ((lhs, depth + 16), (rhs, depth + 8))
        )
        a, b = (np.lib.stride_tricks.sliding_window_view(w, depth) for w in wide)
        expected = a[: 3 * (depth + 9) : depth + 9][:3] @ b[: 4 * (depth + 5) : depth + 5][:4].T
        np.testing.assert_allclose(sums, expected, 0 if sums_type == np.uint32 else 1e-4, 1e-4)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", ["f32", "s8_u8", "s16_s16"])
def test_runs_of_the_depth(kind: str, machine: str, compiler: str, tmp_path: Path) -> None:
    name = f"ccg_rows_{kind}_3x2{'x8' if kind == 'f32' else ''}_runs"
    run = build(name, tmp_path, compiler, machine, sizes=7)
    left, right = (HLO_TYPES[part].dtype for part in (kind.split("_") * 2)[:2])
    sums_type = left if kind == "f32" else np.dtype(np.uint32)
    for length in (5, 64, 99):
        lhs, rhs = numbers((8, length + 3), left), numbers((2, 4 * length), right)
        sums = np.empty((3, 2), sums_type)
        sizes = (1, length + 3, 0, 4 * length, 4 * length, length, length + 3)
        called(run, (sums, lhs, rhs), sizes)
        rows = [lhs[i : i + 4, 1 : length + 1].reshape(-1) for i in range(3)]
        expected = np.array(rows).astype(sums_type) @ rhs.astype(sums_type).T
        np.testing.assert_allclose(sums, expected, 0 if sums_type == np.uint32 else 1e-4, 1e-4)


def numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    if dtype.kind != "f":
        return extremes(shape, dtype)
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def test_infinity_behind_the_rest_is_not_read(tmp_path: Path) -> None:
    run = build("ccg_rows_f32_1x1x16", tmp_path, "gcc", "-march=native")
    lhs, rhs = np.ones(40, np.float32), np.ones(40, np.float32)
    lhs[0], rhs[0], rhs[39] = 0, 5, np.inf
    sums = np.empty(1, np.float32)
    called(run, (sums, lhs, rhs), (0, 0, 0, 0, 39))
    assert sums[0] == 38
    lhs[0], rhs[0] = np.inf, 1
    called(run, (sums, lhs, rhs), (0, 0, 0, 0, 39))
    assert sums[0] == np.inf


def test_names_of_row_tiles() -> None:
    assert "void ccg_rows_f64_2x4x8(" in runtime.header_text("ccg_rows_f64_2x4x8.h")
    for name in ("ccg_rows_f64_2x4.h", "ccg_rows_f32_0x8x8.h"):
        with pytest.raises(InternalError):
            runtime.header_text(name)
