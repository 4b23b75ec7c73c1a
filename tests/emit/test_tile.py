"""Tiles: every body that the compiler may choose gives the sums, in order."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit import runtime, tile
from ccodegen.support.errors import InternalError

WARNINGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"
MACHINES = ("-mavx512f", "-mavx2", "-msse2", "-DCCG_PLAIN")
NAMES = ("ccg_tile_f32_14x32", "ccg_tile_f32_3x8", "ccg_tile_f64_6x8", "ccg_tile_f32_5x7")
DEPTH = 9


def build(name: str, folder: Path, compiler: str, flags: str) -> Any:
    """The tile as a function of a shared library, over pointers and five sizes."""
    for file, text in runtime.closure([f"{name}.h"]).items():
        (folder / file).write_text(text)
    c_type = "float" if "f32" in name else "double"
    parameters = ", ".join(f"ptrdiff_t {letter}" for letter in "vwxyz")
    signature = f"void run({c_type} *s, const {c_type} *a, const {c_type} *b, {parameters})"
    body = f"{{ {name}(s, a, b, v, w, x, y, z); }}"
    (folder / "run.c").write_text(f'#include "{name}.h"\n{signature};\n{signature} {body}\n')
    command = [compiler, *WARNINGS.split(), "-O2", *flags.split(), "-shared", "-fPIC"]
    subprocess.run([*command, str(folder / "run.c"), "-o", str(folder / "run.so")], check=True)
    return ctypes.CDLL(str(folder / "run.so")).run


def in_order(lhs: Any, rhs: Any) -> Any:
    """The product, one term after the other."""
    total = np.zeros((lhs.shape[0], rhs.shape[1]), lhs.dtype)
    for k in range(lhs.shape[1]):
        total += lhs[:, k, None] * rhs[None, k]
    return total


def runs_here(flags: str) -> bool:
    feature = flags.removeprefix("-m")
    return not flags.startswith("-m") or feature in Path("/proc/cpuinfo").read_text()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_strict_sums_are_in_order(
    name: str, machine: str, compiler: str, tmp_path: Path
) -> None:
    if not runs_here(machine):
        pytest.skip(f"this machine has no {machine}")
    run = build(name, tmp_path, compiler, f"{machine} -ffp-contract=off")
    dtype = np.float32 if "f32" in name else np.float64
    rows, columns = map(int, name.rpartition("_")[2].split("x"))
    random = np.random.default_rng(0)
    lhs = random.standard_normal((rows + 2, DEPTH + 3)).astype(dtype)
    rhs = random.standard_normal((DEPTH + 1, columns)).astype(dtype)
    sums = np.empty((rows, columns), dtype)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (sums, lhs, rhs)]
    offset, row_step = 2 * (DEPTH + 3) + 1, DEPTH + 3
    run(*pointers, *map(ctypes.c_ssize_t, (offset, row_step, 1, columns, DEPTH)))
    np.testing.assert_array_equal(sums, in_order(lhs[2:, 1 : DEPTH + 1], rhs[1:]))


def test_packed_operand_and_contraction(tmp_path: Path) -> None:
    run = build("ccg_tile_f32_4x16", tmp_path, "gcc", "-march=native -O3 -ffp-contract=fast")
    lhs = np.arange(DEPTH * 4, dtype=np.float32).reshape(DEPTH, 4)
    rhs = np.arange(DEPTH * 16, dtype=np.float32).reshape(DEPTH, 16)
    sums = np.empty((4, 16), np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (sums, lhs, rhs)]
    run(*pointers, *map(ctypes.c_ssize_t, (0, 1, 4, 0, DEPTH)))
    np.testing.assert_array_equal(sums, lhs.T @ rhs)


def test_only_what_fits_registers_is_unrolled() -> None:
    text = tile.header_text("ccg_tile_f32_14x32.h")
    assert "CCG_VECTOR_BYTES == 64" in text
    assert "CCG_VECTOR_BYTES == 16" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_names_of_tiles() -> None:
    assert tile.is_tile("ccg_tile_f64_6x8.h")
    assert not tile.is_tile("ccg_base.h")
    with pytest.raises(InternalError):
        tile.header_text("ccg_tile_f32_0x8.h")
