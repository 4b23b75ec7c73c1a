"""Contractions whose result is padded: their kernel writes the edges too."""

from __future__ import annotations

import pytest

from ccodegen.backend.build import Build
from tests.lower.test_weights import MODES
from tests.three_ways import check, module_of

CONVOLUTION = """x = f32[2,7,9,5] parameter(0)  w = f32[3,3,5,8] parameter(1)
  c = f32[2,5,7,8] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f
  z = f32[] constant(0)  zeros = f32[2,5,7,8] broadcast(z), dimensions={}
  r = f32[2,5,7,8] maximum(c, zeros)"""


def kernels(built: Build) -> int:
    return len(built.program.kernels)


@MODES
@pytest.mark.parametrize(
    ("padding", "shape"),
    [
        ("0_0x1_1x1_1x0_0", "2,7,9,8"),
        ("1_0x0_2x3_0x0_1", "3,7,10,9"),
        ("0_0x0_0x0_0x2_0", "2,5,7,10"),
    ],
)
def test_convolution_with_edges_is_one_kernel(padding: str, shape: str, strict: bool) -> None:
    text = f"""ENTRY e {{ {CONVOLUTION}  s = f32[] parameter(2)
  ROOT p = f32[{shape}] pad(r, s), padding={padding} }}"""
    assert kernels(check(module_of(text), strict=strict)) == 1


@pytest.mark.parametrize(
    ("padding", "shape"),
    [("0_0x1_-1x1_1x0_0", "2,5,9,8"), ("0_0x1_1_1x0_0x0_0", "2,11,7,8")],
)
def test_gaps_and_cuts_are_not(padding: str, shape: str) -> None:
    text = f"""ENTRY e {{ {CONVOLUTION}
  ROOT p = f32[{shape}] pad(r, z), padding={padding} }}"""
    assert kernels(check(module_of(text))) == 2


def test_what_others_read_too_is_stored_first() -> None:
    text = f"""ENTRY e {{ {CONVOLUTION}
  p = f32[2,7,7,8] pad(r, z), padding=0_0x1_1x0_0x0_0
  ROOT t = tuple(p, r) }}"""
    assert kernels(check(module_of(text))) == 2


@MODES
def test_edges_of_a_product_of_matrices(strict: bool) -> None:
    text = """ENTRY e { x = s8[40,30] parameter(0)  w = s8[30,50] parameter(1)
  d = s32[40,50] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  m = s32[] constant(-1)  n = s32[40,50] negate(d)
  ROOT p = s32[41,60] pad(n, m), padding=1_0x3_7 }"""
    assert kernels(check(module_of(text), strict=strict)) == 1
