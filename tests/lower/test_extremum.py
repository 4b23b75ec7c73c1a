"""Argmax and its kin in lanes: ties, NaN and zeros in all places, three ways and in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.loop.ir import Program, Store
from ccodegen.loop.rebuild import statements
from ccodegen.support.element_type import HLO_TYPES
from tests.three_ways import check

MODES = pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
LENGTHS = [63, 64, 100, 1024, 1025, 2500]

Array = np.ndarray[Any, Any]


def _reducer(element_type: str, direction: str) -> str:
    """JAX's argmax or argmin, which gives the value, too."""
    return f"""f {{ a = {element_type}[] parameter(0)  i = s32[] parameter(1)
  b = {element_type}[] parameter(2)  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction={direction}  n = pred[] compare(a, a), direction=NE
  o = pred[] or(g, n)  v = {element_type}[] select(o, a, b)
  e = pred[] compare(a, b), direction=EQ  l = pred[] compare(i, j), direction=LT
  w = pred[] and(e, l)  q = pred[] or(o, w)  k = s32[] select(q, i, j)
  ROOT t = ({element_type}[], s32[]) tuple(v, k) }}
"""


def _program(
    element_type: str, dims: tuple[int, int], reduced: int, worst: str, direction: str = "GT"
) -> str:
    size, kept = f"{dims[0]},{dims[1]}", dims[1 - reduced]
    return f"""{_reducer(element_type, direction)}
ENTRY e {{ x = {element_type}[{size}] parameter(0)  c = s32[{size}] iota(), iota_dimension={reduced}
  low = {element_type}[] constant({worst})  zero = s32[] constant(0)
  ROOT r = ({element_type}[{kept}], s32[{kept}]) reduce(x, c, low, zero), dimensions={{{reduced}}},
    to_apply=f }}"""


def _floats(rows: int, length: int) -> Array:
    """Many ties, and rows with a NaN or two, of zeros of both signs, of the init value alone."""
    rng = np.random.default_rng(length)
    x = rng.integers(-50, 50, (rows, length)).astype(np.float32)
    x[1, [length // 2, length - 1]] = np.nan, -np.nan
    x[2, 0] = x[3, length - 1] = np.nan
    x[4], x[5] = -np.abs(x[4]), -np.inf
    x[6] = rng.choice(np.array([-0.0, 0.0], np.float32), length)
    x[7, :] = np.arange(length)
    return x


def _in_lanes(program: Program) -> bool:
    """Whether a place is looked for."""
    found = statements(tuple(s for kernel in program.kernels for s in kernel.body))
    return any(isinstance(s, Store) and s.buffer.name.startswith("place") for s in found)


@MODES
@pytest.mark.parametrize("length", LENGTHS)
def test_rows(strict: bool, length: int) -> None:
    x = _floats(8, length)
    built = check(_program("f32", (8, length), 1, "-inf"), x, strict=strict)
    assert _in_lanes(built.program) == (length >= 64)


@MODES
@pytest.mark.parametrize("length", [1, 5, 64])
def test_columns(strict: bool, length: int) -> None:
    x = np.ascontiguousarray(_floats(8, max(length, 2))[:, :length].T)
    check(_program("f32", (length, 8), 0, "-inf"), x, strict=strict)


@MODES
@pytest.mark.parametrize("element_type", ["s8", "u8", "u32", "s64", "pred", "f16", "bf16", "f64"])
def test_types(strict: bool, element_type: str) -> None:
    kind = HLO_TYPES[element_type]
    worst = {"s8": "127", "u8": "255", "u32": "9", "s64": "9", "pred": "true"}
    data = np.random.default_rng(1).integers(-100, 100, (3, 300)).astype(kind.dtype)
    program = _program(element_type, (3, 300), 1, worst.get(element_type, "inf"), "LT")
    assert _in_lanes(check(program, data, strict=strict).program)


@MODES
@pytest.mark.parametrize("length", [1500, 4096, 4097, 9000])
def test_of_what_the_kernel_computes(strict: bool, length: int) -> None:
    program = f"""{_reducer("f32", "GT")}
ENTRY e {{ x = f32[3,{length}] parameter(0)  s = f32[3,{length}] sine(x)
  m = f32[3,{length}] multiply(s, x)  d = f32[3,{length}] subtract(m, s)
  c = s32[3,{length}] iota(), iota_dimension=1
  low = f32[] constant(-inf)  zero = s32[] constant(0)
  ROOT r = (f32[3], s32[3]) reduce(d, c, low, zero), dimensions={{1}}, to_apply=f }}"""
    assert _in_lanes(check(program, strict=strict).program)


@MODES
def test_several_payloads(strict: bool) -> None:
    """Whatever goes with the first of the largest values; the init values' where none is larger."""
    program = """f { a = s32[] parameter(0)  p = f32[] parameter(1)  q = c64[] parameter(2)
  b = s32[] parameter(3)  r = f32[] parameter(4)  s = c64[] parameter(5)
  g = pred[] compare(b, a), direction=GT  v = s32[] select(g, b, a)
  w = f32[] select(g, r, p)  z = c64[] select(g, s, q)
  ROOT t = (s32[], f32[], c64[]) tuple(v, w, z) }
ENTRY e { x = s32[4,200] parameter(0)  y = f32[4,200] parameter(1)  z = c64[4,200] parameter(2)
  i = s32[] parameter(3)  j = f32[] parameter(4)  k = c64[] parameter(5)
  ROOT r = (s32[4], f32[4], c64[4]) reduce(x, y, z, i, j, k), dimensions={1}, to_apply=f }"""
    rng = np.random.default_rng(2)
    x = rng.integers(-9, 9, (4, 200), dtype=np.int32)
    x[3] -= 20
    y = rng.standard_normal((4, 200), np.float32)
    z = (y + 1j * rng.standard_normal((4, 200))).astype(np.complex64)
    init = np.int32(0), np.float32(np.nan), np.complex64(3j)
    assert _in_lanes(check(program, x, y, z, *init, strict=strict).program)


def test_a_counter_that_may_begin_below_the_init_value() -> None:
    """The init value's index is the higher one of a tie: no rule of ours."""
    program = _program("f32", (2, 128), 1, "0").replace("constant(0)\n", "constant(7)\n")
    program = program.replace("zero = s32[] constant(0)", "zero = s32[] constant(7)")
    x = np.zeros((2, 128), np.float32)
    assert not _in_lanes(check(program, x).program)
