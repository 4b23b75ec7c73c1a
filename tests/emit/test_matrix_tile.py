"""Matrix tiles: the processor's registers and the portable body give the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit import runtime
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InternalError
from ccodegen.target import native
from tests.emit.test_tile import build, called, extremes

REGISTERS = "-mamx-tile -mamx-int8 -mamx-bf16 -mavx512f -O3"
PORTABLE = ("-DCCG_PLAIN", "-msse2 -O3")
SIZES = ("32x32", "16x32", "17x16", "3x32", "27x16")
COMPILERS = pytest.mark.parametrize("compiler", ["gcc", "clang"])
BF16 = HLO_TYPES["bf16"].dtype


@pytest.fixture(params=(REGISTERS, *PORTABLE))
def machine(request: pytest.FixtureRequest) -> str:
    if request.param == REGISTERS and not native.has_matrix_registers():
        pytest.skip("this process may not use AMX")
    return str(request.param)


@COMPILERS
@pytest.mark.parametrize("types", ["s8_s8", "s8_u8", "u8_s8", "u8_u8"])
@pytest.mark.parametrize("size", SIZES)
def test_bytes_are_exact(
    size: str, types: str, compiler: str, machine: str, tmp_path: Path
) -> None:
    run = build(f"ccg_matrix_{types}_{size}", tmp_path, compiler, machine, 7)
    rows, columns = map(int, size.split("x"))
    left, right = (HLO_TYPES[part].dtype for part in types.split("_"))
    lhs, rhs = extremes((rows + 2, 128 + 7), left), extremes((128, columns), right)
    panel = rhs.reshape(32, 4, columns).transpose(0, 2, 1).copy()
    sums = np.full((rows + 1, columns + 3), 7, np.uint32)
    expected = sums.copy()
    step = columns + 3
    called(run, (sums, lhs, panel), (step + 2, step, 2 * 135 + 5, 135, 4, 0, 128))
    product = lhs[2:, 5:133].astype(np.int64) @ rhs.astype(np.int64)
    expected[1:, 2 : columns + 2] = product.astype(np.uint32)
    np.testing.assert_array_equal(sums, expected)


@COMPILERS
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("least", [-1000, 142], ids=["any", "fast"])
def test_pairs_have_one_order(
    least: int, size: str, compiler: str, machine: str, tmp_path: Path
) -> None:
    flags = f"{machine} -ffp-contract=fast"
    run = build(f"ccg_matrix_bf16_bf16_{size}", tmp_path, compiler, flags, 7, "int32_t")
    rows, columns = map(int, size.split("x"))
    random = np.random.default_rng(0)
    lhs, rhs = (random.standard_normal(s).astype(BF16) for s in ((rows, 96), (96, columns)))
    lhs[0, 3], rhs[7, 2], rhs[8, 3], lhs[2, :], rhs[40, 5] = np.inf, np.nan, 1e38, 0, -np.inf
    panel = rhs.reshape(48, 2, columns).transpose(0, 2, 1).copy()
    sums = np.empty((rows, columns), np.float32)
    called(run, (sums, lhs, panel), (0, columns, 0, 96, 2, 0, 96), least)
    np.testing.assert_array_equal(sums, by_parity(lhs, rhs))


def by_parity(lhs: Any, rhs: Any) -> Any:
    """The product in f32: of 32 of the depth at a time the even terms, plus the odd ones."""
    lhs, rhs = lhs.astype(np.float32), rhs.astype(np.float32)
    total = np.zeros((lhs.shape[0], rhs.shape[1]), np.float32)
    with np.errstate(all="ignore"):
        for first in range(0, lhs.shape[1], 32):
            parts = np.zeros((2, *total.shape), np.float32)
            for k in range(first, first + 32):
                parts[k % 2] += lhs[:, k, None] * rhs[None, k]
            total += parts[0] + parts[1]
    return total


def test_pairs_whose_last_place_is_just_no_denormal(machine: str, tmp_path: Path) -> None:
    """Products are multiples of 2^-126, and many sums are small ones."""
    run = build("ccg_matrix_bf16_bf16_16x32", tmp_path, "gcc", machine, 7, "int32_t")
    random = np.random.default_rng(0)
    lhs, rhs = (random.integers(128, 256, size) for size in ((16, 32), (32, 32)))
    lhs[:, 2:18], rhs[2:18] = lhs[:, :16], -rhs[:16] + (random.random((16, 32)) < 0.2)
    lhs, rhs = ((n * 2.0**-63).astype(BF16) for n in (lhs, rhs))
    panel = rhs.reshape(16, 2, 32).transpose(0, 2, 1).copy()
    sums = np.empty((16, 32), np.float32)
    called(run, (sums, lhs, panel), (0, 32, 0, 32, 2, 0, 32), 142)
    np.testing.assert_array_equal(sums, by_parity(lhs, rhs))


def test_names() -> None:
    assert "void ccg_matrix_s8_s8_32x32(" in runtime.header_text("ccg_matrix_s8_s8_32x32.h")
    for name in ("ccg_matrix_s8_s8_33x32.h", "ccg_matrix_f32_16x16.h", "ccg_matrix_u8_u8_4x8.h"):
        with pytest.raises(InternalError):
            runtime.header_text(name)


def test_lines_are_short() -> None:
    for name in ("ccg_matrix_s8_s8_32x32.h", "ccg_matrix_bf16_bf16_32x32.h"):
        assert max(map(len, runtime.header_text(name).splitlines())) <= 120
