"""Tiles: every body that the compiler may choose gives the sums, in order."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit import runtime
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InternalError
from ccodegen.support.runtime_c import header_dir

WARNINGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Werror"
MACHINES = ("-mavx512f", "-mavx2", "-msse2", "-DCCG_PLAIN")
INTEGER_MACHINES = (*MACHINES[1:], "-mavx512bw", "-mavx512vnni -mavx512bw", "-mavxvnni")
NAMES = ("ccg_tile_f32_14x32", "ccg_tile_f32_3x8", "ccg_tile_f64_6x8", "ccg_tile_f32_5x7")
DEPTH = 9


def build(
    name: str,
    folder: Path,
    compiler: str,
    flags: str,
    sizes: int = 5,
    last: str = "",
    call: str = "",
) -> Any:
    """The tile as a function of a shared library, over pointers and so many sizes; `last`: the type
    of what is behind them, if anything is; `call`: what calls it, if that is not just a call."""
    for file, text in runtime.closure([f"{name}.h"]).items():
        (folder / file).write_text(text)
    names = [f"size{n}" for n in range(sizes)]
    given = ", ".join(f"ptrdiff_t {size}" for size in names)
    if last:
        given, names = f"{given}, {last} last", [*names, "last"]
    signature = f"void run(void *s, const void *a, const void *b, {given})"
    default = f"{name}(s, a, b, {', '.join(names)});"
    body = f"{{ {call or default} }}"
    (folder / "run.c").write_text(f'#include "{name}.h"\n{signature};\n{signature} {body}\n')
    command = [compiler, *WARNINGS.split(), "-O2", *flags.split(), "-shared", "-fPIC"]
    subprocess.run([*command, str(folder / "run.c"), "-o", str(folder / "run.so")], check=True)
    if not runs_here(flags):
        pytest.skip(f"this machine has not all of {flags}")
    return ctypes.CDLL(str(folder / "run.so")).run


def called(run: Any, arrays: Sequence[Any], sizes: Sequence[int], *last: int) -> None:
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    run(*pointers, *map(ctypes.c_ssize_t, sizes), *map(ctypes.c_int, last))


def in_order(lhs: Any, rhs: Any) -> Any:
    """The product, one term after the other."""
    total = np.zeros((lhs.shape[0], rhs.shape[1]), lhs.dtype)
    for k in range(lhs.shape[1]):
        total += lhs[:, k, None] * rhs[None, k]
    return total


def runs_here(flags: str) -> bool:
    features = [f[2:] for f in flags.split() if f.startswith("-m")]
    spelled = {"vnni": "_vnni", "512bf16": "512_bf16", "-": "_"}  # as Linux does
    for gcc, linux in spelled.items():
        features = [f.replace(gcc, linux) for f in features]
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
@pytest.mark.parametrize("machine", MACHINES)
def test_runs_in_planes(machine: str, compiler: str, tmp_path: Path) -> None:
    flags = f"{machine} -ffp-contract=off"
    run = build("ccg_tile_f32_3x8_planes", tmp_path, compiler, flags, sizes=9)
    random = np.random.default_rng(0)
    volume = random.standard_normal((3, 4, 7, 2)).astype(np.float32)
    rhs = random.standard_normal((36, 8)).astype(np.float32)
    sums = np.empty((3, 8), np.float32)
    called(run, (sums, volume, rhs), (70, 4, 1, 0, 36, 6, 14, 3, 56))
    lhs = np.stack([volume[1:, 1:, at : at + 3].reshape(-1) for at in (0, 2, 4)])
    np.testing.assert_array_equal(sums, in_order(lhs, rhs))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("size", ["1x64", "2x16", "1x6"])
def test_columns_in_two_panels(size: str, machine: str, compiler: str, tmp_path: Path) -> None:
    run = build(f"ccg_tile_f32_{size}_apart", tmp_path, compiler, machine, sizes=6)
    rows, columns = map(int, size.split("x"))
    random = np.random.default_rng(0)
    lhs = random.integers(-9, 9, (rows, DEPTH)).astype(np.float32)
    panels = random.integers(-9, 9, (3, DEPTH, columns // 2)).astype(np.float32)
    sums = np.empty((rows, columns), np.float32)
    called(run, (sums, lhs, panels), (0, DEPTH, 1, 0, DEPTH, 2 * panels[0].size))
    np.testing.assert_array_equal(sums, lhs @ np.hstack([panels[0], panels[2]]))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", INTEGER_MACHINES)
@pytest.mark.parametrize("types", ["s8_s8", "s8_u8", "u8_s8", "u8_u8", "s16_s16", "u32"])
@pytest.mark.parametrize("size", ["12x32", "3x8", "5x7"])
def test_integers_are_exact(
    size: str, types: str, machine: str, compiler: str, tmp_path: Path
) -> None:
    run = build(f"ccg_tile_{types}_{size}", tmp_path, compiler, machine)
    check_integers(run, size, types)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", INTEGER_MACHINES)
@pytest.mark.parametrize("types", ["s8_s8", "s8_u8", "u8_s8", "u8_u8"])
@pytest.mark.parametrize("size", ["8x32", "3x8", "5x7"])
def test_what_changed_signs_add_may_be_known(
    size: str, types: str, machine: str, compiler: str, tmp_path: Path
) -> None:
    name, columns = f"ccg_tile_{types}_{size}_noted", int(size.split("x")[1])
    call = f"""uint32_t excess[{columns + 3}];
    ccg_excess_{types}(excess, b, 3, size3, {columns}, size4);
    {name}(s, a, b, excess, size0, size1, size2, size3, size4, 3);"""
    check_integers(build(name, tmp_path, compiler, machine, call=call), size, types)


def check_integers(run: Any, size: str, types: str) -> None:
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


PAIR_MACHINES = (*MACHINES[:3], "-mavx512bf16 -mavx512bw", "-DCCG_PLAIN")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", PAIR_MACHINES)
@pytest.mark.parametrize("size", ["14x32", "3x8", "5x7"])
@pytest.mark.parametrize("least", [-1000, 142], ids=["any", "fast"])
def test_pairs_take_the_second_first(
    size: str, least: int, machine: str, compiler: str, tmp_path: Path
) -> None:
    """The same bits by the instruction and without it, infinities and NaN included."""
    run = build(f"ccg_tile_bf16_bf16_{size}", tmp_path, compiler, machine, 5, "int32_t")
    rows, columns = map(int, size.split("x"))
    random, depth = np.random.default_rng(0), 24
    bf16 = HLO_TYPES["bf16"].dtype
    lhs, rhs = (random.standard_normal(s).astype(bf16) for s in ((rows, depth), (depth, columns)))
    lhs[0, 3], rhs[7, 2], rhs[8, 3], lhs[2, :] = np.inf, np.nan, 1e38, 0
    panel = rhs.reshape(depth // 2, 2, columns).transpose(0, 2, 1).copy()
    sums = np.empty((rows, columns), np.float32)
    called(run, (sums, lhs, panel), (0, depth, 2, 0, depth), least)
    np.testing.assert_array_equal(sums, by_pairs(lhs, rhs))
    assert not np.signbit(sums[2, np.isfinite(rhs.astype(np.float32)).all(axis=0)]).any()


def by_pairs(lhs: Any, rhs: Any) -> Any:
    """The product in f32, of each pair of the depth the second term first."""
    pairs = np.arange(lhs.shape[1]).reshape(-1, 2)[:, ::-1].reshape(-1)
    with np.errstate(all="ignore"):
        return in_order(lhs.astype(np.float32)[:, pairs], rhs.astype(np.float32)[pairs])


@pytest.mark.parametrize("machine", ["-mavx512bf16 -mavx512bw", "-mavx2"])
def test_pairs_whose_last_place_is_just_no_denormal(machine: str, tmp_path: Path) -> None:
    """Products are multiples of 2^-126, and many sums are small ones."""
    run = build("ccg_tile_bf16_bf16_14x32", tmp_path, "gcc", machine, 5, "int32_t")
    random, depth = np.random.default_rng(0), 16
    lhs, rhs = (random.integers(128, 256, size) for size in ((14, depth), (depth, 32)))
    lhs[:, 1::2], rhs[1::2] = lhs[:, ::2], -rhs[::2] + (random.random((depth // 2, 32)) < 0.2)
    lhs, rhs = ((n * 2.0**-63).astype(HLO_TYPES["bf16"].dtype) for n in (lhs, rhs))
    panel = rhs.reshape(depth // 2, 2, 32).transpose(0, 2, 1).copy()
    sums = np.empty((14, 32), np.float32)
    called(run, (sums, lhs, panel), (0, depth, 2, 0, depth), 142)
    np.testing.assert_array_equal(sums, by_pairs(lhs, rhs))
    assert 0 < np.abs(sums[sums != 0]).min() < 2.0**-118


@pytest.mark.parametrize("machine", ["-mavx2 -O3", "-DCCG_PLAIN"])
@pytest.mark.parametrize("least", [0x0001, 0x007F, 0x0080, 0x3F80, 0x7F80, 0])
def test_the_least_exponent(least: int, machine: str, tmp_path: Path) -> None:
    command = """#include "ccg_bf16_pairs.h"
int32_t run(const uint16_t *x);
int32_t run(const uint16_t *x) { int32_t n; ccg_least_bf16(&n, x, 0, 3, 2, 40, 37); return n; }"""
    (tmp_path / "run.c").write_text(command)
    flags = [*WARNINGS.split(), *machine.split(), f"-I{header_dir()}", "-shared", "-fPIC"]
    files = [str(tmp_path / "run.c"), "-o", str(tmp_path / "run.so")]
    subprocess.run(["gcc", *flags, *files], check=True)
    found = ctypes.CDLL(str(tmp_path / "run.so")).run
    bits = np.full((2, 40), 0xFFC0, np.uint16)
    bits[:, 37:], bits[1, 5], bits[0, 3], bits[1, 36] = 1, 0x8000, 0, least | 0x8000
    start = np.concatenate([np.ones(3, np.uint16), bits.reshape(-1)])
    exponent = found(ctypes.c_void_p(start.ctypes.data))
    known = (least or 0xFFC0 & 0x7FFF) >> 7
    assert exponent == known if known else exponent + 512 < 142


def test_packed_operand_and_contraction(tmp_path: Path) -> None:
    run = build("ccg_tile_f32_4x16", tmp_path, "gcc", "-march=native -O3 -ffp-contract=fast")
    lhs = np.arange(DEPTH * 4, dtype=np.float32).reshape(DEPTH, 4)
    rhs = np.arange(DEPTH * 16, dtype=np.float32).reshape(DEPTH, 16)
    sums = np.empty((4, 16), np.float32)
    called(run, (sums, lhs, rhs), (0, 1, 4, 0, DEPTH))
    np.testing.assert_array_equal(sums, lhs.T @ rhs)


def test_only_what_fits_registers_is_unrolled() -> None:
    text = runtime.header_text("ccg_tile_f32_14x32.h")
    assert "CCG_VECTOR_BYTES == 64" in text
    assert "CCG_VECTOR_BYTES == 16" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_names_of_tiles() -> None:
    assert "void ccg_tile_f64_6x8(" in runtime.header_text("ccg_tile_f64_6x8.h")
    for name in ("ccg_tile_f32_0x8.h", "ccg_tile_s8_u8_8x8_runs.h", "ccg_tile_f32_2x8_noted.h"):
        with pytest.raises(InternalError):
            runtime.header_text(name)
