"""Tiles: every body that the compiler may choose gives the sums, in order."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit import runtime, tile
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InternalError

WARNINGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"
MACHINES = ("-mavx512f", "-mavx2", "-msse2", "-DCCG_PLAIN")
INTEGER_MACHINES = (*MACHINES[1:], "-mavx512bw", "-mavx512vnni -mavx512bw", "-mavxvnni")
NAMES = ("ccg_tile_f32_14x32", "ccg_tile_f32_3x8", "ccg_tile_f64_6x8", "ccg_tile_f32_5x7")
DEPTH = 9


def build(name: str, folder: Path, compiler: str, flags: str, sizes: int = 5) -> Any:
    """The tile as a function of a shared library, over pointers and so many sizes."""
    for file, text in runtime.closure([f"{name}.h"]).items():
        (folder / file).write_text(text)
    names = [f"size{n}" for n in range(sizes)]
    given = ", ".join(f"ptrdiff_t {size}" for size in names)
    signature = f"void run(void *s, const void *a, const void *b, {given})"
    body = f"{{ {name}(s, a, b, {', '.join(names)}); }}"
    (folder / "run.c").write_text(f'#include "{name}.h"\n{signature};\n{signature} {body}\n')
    command = [compiler, *WARNINGS.split(), "-O2", *flags.split(), "-shared", "-fPIC"]
    subprocess.run([*command, str(folder / "run.c"), "-o", str(folder / "run.so")], check=True)
    if not runs_here(flags):
        pytest.skip(f"this machine has not all of {flags}")
    return ctypes.CDLL(str(folder / "run.so")).run


def called(run: Any, arrays: Sequence[Any], sizes: Sequence[int]) -> None:
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    run(*pointers, *map(ctypes.c_ssize_t, sizes))


def in_order(lhs: Any, rhs: Any) -> Any:
    """The product, one term after the other."""
    total = np.zeros((lhs.shape[0], rhs.shape[1]), lhs.dtype)
    for k in range(lhs.shape[1]):
        total += lhs[:, k, None] * rhs[None, k]
    return total


def runs_here(flags: str) -> bool:
    features = (f[2:].replace("vnni", "_vnni") for f in flags.split() if f.startswith("-m"))
    return set(features) <= {"arch=native", *Path("/proc/cpuinfo").read_text().split()}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_strict_sums_are_in_order(
    name: str, machine: str, compiler: str, tmp_path: Path
) -> None:
    run = build(name, tmp_path, compiler, f"{machine} -ffp-contract=off")
    dtype = np.float32 if "f32" in name else np.float64
    rows, columns = map(int, name.rpartition("_")[2].split("x"))
    random = np.random.default_rng(0)
    lhs = random.standard_normal((rows + 2, DEPTH + 3)).astype(dtype)
    rhs = random.standard_normal((DEPTH + 1, columns)).astype(dtype)
    sums = np.empty((rows, columns), dtype)
    offset, row_step = 2 * (DEPTH + 3) + 1, DEPTH + 3
    called(run, (sums, lhs, rhs), (offset, row_step, 1, columns, DEPTH))
    np.testing.assert_array_equal(sums, in_order(lhs[2:, 1 : DEPTH + 1], rhs[1:]))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
def test_runs_of_the_depth(machine: str, compiler: str, tmp_path: Path) -> None:
    flags = f"{machine} -ffp-contract=off"
    run = build("ccg_tile_f32_3x8_runs", tmp_path, compiler, flags, sizes=7)
    random = np.random.default_rng(0)
    image = random.standard_normal((4, 7, 2)).astype(np.float32)
    rhs = random.standard_normal((18, 8)).astype(np.float32)
    sums = np.empty((3, 8), np.float32)
    called(run, (sums, image, rhs), (14, 4, 1, 0, 18, 6, 14))
    lhs = np.stack([image[1:, at : at + 3].reshape(-1) for at in (0, 2, 4)])
    np.testing.assert_array_equal(sums, in_order(lhs, rhs))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", INTEGER_MACHINES)
@pytest.mark.parametrize("types", ["s8_s8", "s8_u8", "u8_s8", "u8_u8", "s16_s16", "u32"])
@pytest.mark.parametrize("size", ["12x32", "3x8", "5x7"])
def test_integers_are_exact(
    size: str, types: str, machine: str, compiler: str, tmp_path: Path
) -> None:
    run = build(f"ccg_tile_{types}_{size}", tmp_path, compiler, machine)
    rows, columns = map(int, size.split("x"))
    left, right = (HLO_TYPES[part].dtype for part in (types.split("_") * 2)[:2])
    group, depth = 4 // left.itemsize, 24
    lhs, rhs = extremes((rows + 2, depth + 12), left), extremes((depth, columns), right)
    panel = rhs.reshape(depth // group, group, columns).transpose(0, 2, 1).copy()
    sums = np.empty((rows, columns), np.uint32)
    called(run, (sums, lhs, panel), (2 * (depth + 12) + 5, depth + 12, group, 0, depth))
    wide = lhs[2:, 5 : depth + 5].astype(np.uint32)
    np.testing.assert_array_equal(sums, in_order(wide, rhs.astype(np.uint32)))


def extremes(shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers of which many are the largest and the least."""
    limits = np.iinfo(dtype)
    numbers = np.random.default_rng(0).integers(limits.min, limits.max, shape, dtype, True)
    numbers[::2, ::3] = limits.max
    numbers[::3, ::2] = limits.min
    return numbers


def test_packed_operand_and_contraction(tmp_path: Path) -> None:
    run = build("ccg_tile_f32_4x16", tmp_path, "gcc", "-march=native -O3 -ffp-contract=fast")
    lhs = np.arange(DEPTH * 4, dtype=np.float32).reshape(DEPTH, 4)
    rhs = np.arange(DEPTH * 16, dtype=np.float32).reshape(DEPTH, 16)
    sums = np.empty((4, 16), np.float32)
    called(run, (sums, lhs, rhs), (0, 1, 4, 0, DEPTH))
    np.testing.assert_array_equal(sums, lhs.T @ rhs)


def test_only_what_fits_registers_is_unrolled() -> None:
    text = tile.header_text("ccg_tile_f32_14x32.h")
    assert "CCG_VECTOR_BYTES == 64" in text
    assert "CCG_VECTOR_BYTES == 16" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_names_of_tiles() -> None:
    assert tile.is_tile("ccg_tile_f64_6x8.h")
    assert not tile.is_tile("ccg_base.h")
    for name in ("ccg_tile_f32_0x8.h", "ccg_tile_s8_u8_8x8_runs.h"):
        with pytest.raises(InternalError):
            tile.header_text(name)
