"""erfc, a custom call of CHLO's name, three ways and against the C library."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ccodegen
from ccodegen import UnsupportedError
from ccodegen.support.element_type import HLO_TYPES
from tests.three_ways import check

ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 10.05, 10.2, -10.2, 1e-45, -1e-30, 3e38]


def program(shape: str) -> str:
    return f"""HloModule m
ENTRY e {{ x = {shape} parameter(0)
  ROOT c = {shape} custom-call(x), custom_call_target="chlo.erfc" }}"""


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("element_type", ["f32", "f16", "bf16"])
def test_three_ways(element_type: str, strict: bool) -> None:
    values = np.concatenate([ENDS[:-1], np.linspace(-4, 10.1, 90)])
    x = values.astype(HLO_TYPES[element_type].dtype).reshape(10, 10)
    check(program(f"{element_type}[10,10]"), x, strict=strict)


def test_exact_at_the_ends() -> None:
    x = np.array([*ENDS, 0.5], np.float32)
    result = ccodegen.evaluate(program("f32[12]"), x)
    assert result[:5].tolist()[:4] == [1, 1, 0, 2] and np.isnan(result[4])
    assert result[6:11].tolist() == [0, 2, 1, 1, 0]


def test_close_to_the_c_library() -> None:
    """Within 8 ulp, down to the least normal number."""
    x = np.linspace(-3, 9.19, 40001, dtype=np.float32)
    wanted = np.array([math.erfc(v) for v in x.tolist()])
    result = ccodegen.evaluate(program(f"f32[{x.size}]"), x)
    ulp = np.abs(result - wanted) / np.spacing(wanted.astype(np.float32))
    assert ulp.max() < 8


def test_wider_floats_are_not_known() -> None:
    with pytest.raises(UnsupportedError, match=r"chlo\.erfc"):
        ccodegen.compile(program("f64[3]"))
