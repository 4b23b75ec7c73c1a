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
    run = build(f"ccg_matrix_{types}_{size}", tmp_path, compiler, machine, 9)
    rows, columns = map(int, size.split("x"))
    left, right = (HLO_TYPES[part].dtype for part in types.split("_"))
    for depth, panels in ((128, 1), (1216, 3)):
        lhs, rhs = extremes((rows + 2, depth + 7), left), extremes((depth, panels, columns), right)
        packed = rhs.reshape(-1, 4, panels, columns).transpose(2, 0, 3, 1).copy()
        step = panels * columns + 3
        sums = np.full((rows + 1, step), 7, np.uint32)
        expected = sums.copy()
        steps = step + 2, step, columns, 2 * (depth + 7) + 5, depth + 7, 0, depth * columns
        called(run, (sums, lhs, packed), (*steps, panels, depth))
        product = lhs[2:, 5:-2].astype(np.int64) @ rhs.reshape(depth, -1).astype(np.int64)
        expected[1:, 2:-1] = product.astype(np.uint32)
        np.testing.assert_array_equal(sums, expected)


@COMPILERS
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("depth", [96, 608])
def test_pairs_have_one_order(
    depth: int, size: str, compiler: str, machine: str, tmp_path: Path
) -> None:
    """Of three panels, the middle one not by registers."""
    run = build_pairs(size, tmp_path, compiler, f"{machine} -ffp-contract=fast")
    rows, columns = map(int, size.split("x"))
    random = np.random.default_rng(0)
    shapes = (rows, depth), (depth, 3 * columns)
    lhs, rhs = (random.standard_normal(shape).astype(BF16) for shape in shapes)
    lhs[0, 3], rhs[7, 2], rhs[8, 3], lhs[2, :], rhs[40, 5] = np.inf, np.nan, 1e38, 0, -np.inf
    rhs[9, columns + 1] = np.inf
    packed = rhs.reshape(-1, 2, 3, columns).transpose(2, 0, 3, 1).copy()
    sums = np.empty((3, rows, columns), np.float32)
    sizes = 0, columns, rows * columns, 0, depth, 0, depth * columns, 3, depth
    called(run, (sums, lhs, packed), (*sizes, 1), 100)
    expected = by_parity(lhs, rhs).reshape(rows, 3, columns)
    np.testing.assert_array_equal(sums, expected.transpose(1, 0, 2))


def build_pairs(size: str, folder: Path, compiler: str, flags: str) -> Any:
    """With least exponents for panels from the place 1 on: 42, -1000 and 42."""
    name = f"ccg_matrix_bf16_bf16_{size}"
    given = ", ".join(f"size{n}" for n in range(10))
    leasts = "static const int32_t leasts[] = {7, 42, -1000, 42};"
    call = f"{leasts} {name}(s, a, b, leasts, {given}, last);"
    return build(name, folder, compiler, flags, 10, "int32_t", call)


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
    run = build_pairs("16x32", tmp_path, "gcc", machine)
    random = np.random.default_rng(0)
    lhs, rhs = (random.integers(128, 256, size) for size in ((16, 32), (32, 32)))
    lhs[:, 2:18], rhs[2:18] = lhs[:, :16], -rhs[:16] + (random.random((16, 32)) < 0.2)
    lhs, rhs = ((n * 2.0**-63).astype(BF16) for n in (lhs, rhs))
    panel = rhs.reshape(16, 2, 32).transpose(0, 2, 1).copy()
    sums = np.empty((16, 32), np.float32)
    called(run, (sums, lhs, panel), (0, 32, 0, 0, 32, 0, 0, 1, 32, 1), 100)
    np.testing.assert_array_equal(sums, by_parity(lhs, rhs))


def test_names() -> None:
    assert "void ccg_matrix_s8_s8_32x32(" in runtime.header_text("ccg_matrix_s8_s8_32x32.h")
    for name in ("ccg_matrix_s8_s8_33x32.h", "ccg_matrix_f32_16x16.h", "ccg_matrix_u8_u8_4x8.h"):
        with pytest.raises(InternalError):
            runtime.header_text(name)


def test_lines_are_short() -> None:
    for name in ("ccg_matrix_s8_s8_32x32.h", "ccg_matrix_bf16_bf16_32x32.h"):
        assert max(map(len, runtime.header_text(name).splitlines())) <= 120
