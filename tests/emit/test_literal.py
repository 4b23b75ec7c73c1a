"""Constants in C: read back by a compiler they have the same bits."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ccodegen.backend.transfer import sign_extended
from ccodegen.emit.constants import print_constant
from ccodegen.emit.literal import literal
from ccodegen.loop.ir import Buffer, ConstantData, Space
from ccodegen.support.element_type import ElementType, from_dtype
from tests.emit.c_compiler import write

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize(
    ("element", "value", "text"),
    [
        (ElementType.F32, np.float32(0.1), "0.1f"),
        (ElementType.F32, 1, "1.0f"),
        (ElementType.F32, -0.0, "-0.0f"),
        (ElementType.F32, 1e-45, "1e-45f"),
        (ElementType.F32, np.inf, "CCG_INFINITY"),
        (ElementType.F64, -np.inf, "-(double)CCG_INFINITY"),
        (ElementType.F64, 0.1, "0.1"),
        (ElementType.F16, -2.0, "0xc000u"),
        (ElementType.BF16, ml_dtypes.bfloat16(1.5), "0x3fc0u"),
        (ElementType.S32, -(2**31), "INT32_MIN"),
        (ElementType.S64, -(2**63), "INT64_MIN"),
        (ElementType.S64, -5, "INT64_C(-5)"),
        (ElementType.U64, 2**64 - 1, "UINT64_C(18446744073709551615)"),
        (ElementType.U32, 7, "7u"),
        (ElementType.S4, ml_dtypes.int4(-3), "-3"),
        (ElementType.PRED, True, "1"),
        (ElementType.INDEX, 12, "12"),
        (ElementType.C64, 1 - 2j, "ccg_complex_c64(1.0f, -2.0f)"),
    ],
)
def test_literal(element: ElementType, value: object, text: str) -> None:
    assert literal(element, value) == text


def _arrays() -> list[Array]:
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**32, 300, np.uint64)
    odd_nans = np.array([0x7FC00001, 0xFFC00000, 0x3F800000], np.uint32).view(np.float32)
    usual = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3.4028235e38, 1e-5, 16777216.0]
    extremes = [np.iinfo(t) for t in (np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64)]
    return [
        np.array(usual, np.float32),
        np.array(usual, np.float64),
        odd_nans,
        odd_nans.astype(np.float64),
        random.standard_normal(2000).astype(np.float32),
        bits.astype(np.uint32).view(np.float32),
        bits.astype(np.uint16).view(np.float16),
        bits.astype(np.uint16).view(ml_dtypes.bfloat16),
        bits.astype(np.uint8).view(ml_dtypes.float8_e4m3fn),
        *(np.array([info.min, info.max, 1], info.dtype) for info in extremes),
        np.array([-8, 7], ml_dtypes.int4),
        np.array([True, False]),
        np.array([1 + 2j, complex(np.nan, -0.0)], np.complex64),
        np.array(3.5, np.float32),
        np.zeros((2, 0), np.float32),
    ]


def test_arrays_keep_their_bits(tmp_path: Path) -> None:
    arrays = _arrays()
    lines = ['#include "ccg_base.h"']
    for number, array in enumerate(arrays):
        element = from_dtype(array.dtype)
        buffer = Buffer(f"a{number}", element, array.shape, Space.CONSTANT)
        text = print_constant(ConstantData(buffer, array), buffer.name, 16)
        lines.append(f"{text.declaration} = {{\n{text.values}\n}};")
        lines.append(f"const void *get{number}(void) {{ return {text.reference}; }}")
    (source,) = write({"a.c": "\n".join(lines)}, tmp_path)
    library = tmp_path / "a.so"
    flags = ["-std=c99", "-Wall", "-Wconversion", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, source, "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    for number, array in enumerate(arrays):
        get = loaded[f"get{number}"]
        get.restype = ctypes.c_void_p
        assert ctypes.string_at(get(), array.nbytes) == sign_extended(array).tobytes()
