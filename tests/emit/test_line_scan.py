"""Running sums along a line: every body that the compiler may choose gives the very same ones."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccodegen.emit import runtime
from ccodegen.loop.line_scan import scan
from ccodegen.loop.neutral import neutral
from ccodegen.loop.spelling import c_type
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InternalError
from tests.emit.test_tile import MACHINES, WARNINGS, called, runs_here
from tests.passes.checking import assert_same_bits

NAMES = ("add_f32_16", "back_add_f64_8", "multiply_f32_4", "back_maximum_f32_16", "minimum_f64_4")
NAMES += ("add_s32_8", "maximum_u32_16", "back_minimum_s64_8", "multiply_u64_4")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_scans(name: str, machine: str, compiler: str, tmp_path: Path) -> None:
    function, element = f"ccg_scan_{name}", HLO_TYPES[name.split("_")[-2]]
    for file, text in runtime.closure([f"{function}.h"]).items():
        (tmp_path / file).write_text(text)
    signature = "void run(void *y, const void *x, ptrdiff_t o, ptrdiff_t n, ptrdiff_t i)"
    body = f"{{ {function}(y, x, o, n, ({c_type(element)})i); }}"
    (tmp_path / "run.c").write_text(f'#include "{function}.h"\n{signature};\n{signature} {body}\n')
    command = [compiler, *WARNINGS.split(), "-O2", *machine.split(), "-shared", "-fPIC"]
    subprocess.run([*command, str(tmp_path / "run.c"), "-o", str(tmp_path / "run.so")], check=True)
    if not runs_here(machine):
        pytest.skip(f"this machine has not all of {machine}")
    run = ctypes.CDLL(str(tmp_path / "run.so")).run
    for count in (0, 1, 15, 16, 67):
        x = numbers(element.dtype, count + 5)
        given, expected = np.zeros_like(x), np.zeros_like(x)
        called(run, (given, x), (3, count, 1))
        scan(function, (expected, x), (3, count, 1))
        assert_same_bits(expected, given)


def numbers(dtype: Any, count: int) -> Any:
    random = np.random.default_rng(count)
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, count, dtype, endpoint=True)
    x = random.standard_normal(count).astype(dtype)
    x[random.random(count) < 0.2] = 0
    x[random.random(count) < 0.2] *= -1
    x[random.random(count) < 0.02] = np.nan
    return x


def test_names_of_line_scans() -> None:
    assert "void ccg_scan_back_add_f32_16(" in runtime.header_text("ccg_scan_back_add_f32_16.h")
    for name in ("ccg_scan_and_u32_16.h", "ccg_scan_add_f32_3.h"):
        with pytest.raises(InternalError):
            runtime.header_text(name)


def test_neutral_values_change_nothing() -> None:
    assert neutral("add", HLO_TYPES["f32"]) == 0 and neutral("and", HLO_TYPES["s8"]) == -1
    assert neutral("power", HLO_TYPES["f32"]) is None
