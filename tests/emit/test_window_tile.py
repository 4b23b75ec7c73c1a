"""Window tiles: every body that the compiler may choose gives the sums, in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ccodegen.emit import runtime
from ccodegen.loop.ir import Buffer, CallC
from ccodegen.loop.library import effect_of
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.errors import InternalError
from tests.emit.test_tile import MACHINES, build, called

SHAPE = (4, 11, 20)  # rows, columns and lanes of the left operand


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", [*MACHINES, "-mavx2 -mf16c"])
@pytest.mark.parametrize(
    "name",
    [
        *("f32_8x16_3s1", "f64_3x8_3s2", "f32_1x4_1s1", "f32_4x16_2s3"),
        *("bf16_8x16_3s1", "bf16_2x4_2s1", "f16_8x16_3s1", "f16_3x8_1s2"),
    ],
)
def test_strict_sums_are_in_order(
    name: str, machine: str, compiler: str, tmp_path: Path
) -> None:
    function = f"ccg_window_{name}"
    run = build(function, tmp_path, compiler, f"{machine} -ffp-contract=off", sizes=6)
    kind = HLO_TYPES[name.partition("_")[0]]
    dtype = kind.dtype
    places, lanes = map(int, name.split("_")[1].split("x"))
    taps = int(name.split("_")[2][0])
    random = np.random.default_rng(0)
    lhs, rhs = (random.standard_normal(shape).astype(dtype) for shape in (SHAPE, (3, taps, 17)))
    sums, expected = np.empty((2, places, lanes), dtype if kind.bytes > 2 else np.float32)
    sizes = (SHAPE[1] * SHAPE[2] + 2, SHAPE[1] * SHAPE[2], SHAPE[2], 1, 17, 3)
    called(run, (sums, lhs, rhs), sizes)
    buffer = Buffer("any", ElementType.F32, (1,))
    effect_of(CallC(function, "", (buffer,), ()))((expected, lhs, rhs), sizes)
    np.testing.assert_array_equal(sums, expected)


def test_interpreted_sums() -> None:
    lhs, rhs = np.arange(60.0).reshape(3, 5, 4), np.arange(16.0).reshape(2, 2, 4)
    sums = np.empty((2, 2))
    buffer = Buffer("any", ElementType.F64, (1,))
    call = CallC("ccg_window_f64_2x2_2s2", "", (buffer,), ())
    effect_of(call)((sums, lhs, rhs), (1, 20, 4, 1, 4, 2))
    expected = [(lhs[:2, n : n + 2, 1:3] * rhs[:, :, 1:3]).sum((0, 1)) for n in (0, 2)]
    np.testing.assert_array_equal(sums, expected)


def test_names_of_window_tiles() -> None:
    assert "void ccg_window_f64_2x4_3s1(" in runtime.header_text("ccg_window_f64_2x4_3s1.h")
    for name in ("ccg_window_f64_2x4.h", "ccg_window_f32_0x8_3s1.h"):
        with pytest.raises(InternalError):
            runtime.header_text(name)
