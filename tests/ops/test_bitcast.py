"""Bits read as another type, three ways: complex numbers and elements below a byte too."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from tests.three_ways import check, module_of

PAIRS = [
    ("c64[3]", "f32[3,2]"),
    ("c64[2]", "u8[2,8]"),
    ("c128[3]", "c64[3,2]"),
    ("c64[3]", "f64[3]"),
    ("c64[3]", "s64[3]"),
    ("c128[2]", "u16[2,8]"),
    ("c128[2]", "f64[2,2]"),
    ("c64[2]", "s4[2,16]"),
    ("u8[3]", "s4[3,2]"),
    ("s8[3]", "u2[3,4]"),
    ("pred[3]", "u8[3]"),
    ("f16[2]", "s1[2,16]"),
    ("f8e4m3fn[4]", "f4e2m1fn[4,2]"),
]


@pytest.mark.parametrize("op", ["bitcast-convert", "bitcast"])
@pytest.mark.parametrize(("wide", "narrow"), PAIRS)
def test_both_directions(op, wide, narrow):
    for source, target in ((wide, narrow), (narrow, wide)):
        check(f"ENTRY e {{ x = {source} parameter(0)\n ROOT y = {target} {op}(x) }}", strict=True)


def test_a_complex_number_is_its_real_part_first():
    text = "ENTRY e { x = c64[1] parameter(0)\n ROOT y = f32[1,2] bitcast-convert(x) }"
    assert evaluate(module_of(text), np.array([3 - 4j], np.complex64)).tolist() == [[3, -4]]


def test_a_bitcast_reads_the_operand_in_its_layout():
    text = """ENTRY e { x = f32[2,3]{0,1} parameter(0)
  ROOT y = f32[3,2]{1,0} bitcast(x) }"""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(evaluate(module_of(text), x), x.T)
