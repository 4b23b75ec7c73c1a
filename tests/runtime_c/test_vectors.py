"""Compilers make vectors of loops: else they take ten times as long."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ccodegen.backend.compilers import CompilerCommand
from ccodegen.backend.toolchain import own_flags
from ccodegen.support.runtime_c import header_dir
from ccodegen.target import load

GCC = CompilerCommand(("gcc",))
C_TYPES = {
    "f16": "uint16_t",
    "f32": "float",
    "f64": "double",
    **{f"{s}{bits}": f"{c}int{bits}_t" for s, c in (("s", ""), ("u", "u")) for bits in (8, 16, 32)},
}
CONVERSIONS = [
    (f"ccg_{to}_from_{of}(x[i])", to, of)
    for of in ("f32", "f64")
    for to in ("s8", "s16", "s32", "u8", "u16", "u32")
]
DIVISIONS = [
    (f"ccg_{operator}_{t}(x[i], y[i])", t, t)
    for operator in ("divide", "remainder")
    for t in ("s8", "s16", "s32", "u8", "u16", "u32")
]
CHOICES = [
    # A lazy arm that converts, and a conversion with choices of its own around such an arm.
    ("x[i] > y[i] ? y[i] : ccg_f16_from_f32(ccg_f32_from_f16(x[i]) + 1.0f)", "f16", "f16"),
    (
        "ccg_f32_from_f16(x[i]) != 0.0f ? x[i]"
        " : ccg_f16_from_f32(ccg_expm1_f32(ccg_f32_from_f16(x[i])))",
        "f16",
        "f16",
    ),
    ("ccg_f8e5m2_from_f32(x[i])", "u8", "f32"),
]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize(("expression", "to", "of"), [*CONVERSIONS, *DIVISIONS, *CHOICES])
def test_vectors(tmp_path: Path, expression: str, to: str, of: str) -> None:
    source = tmp_path / "loop.c"
    headers = ("math_f32", "scalar")
    source.write_text(
        "\n".join(f'#include "ccg_{header}.h"' for header in headers)
        + f"\nvoid f(const {C_TYPES[of]} *CCG_RESTRICT x, const {C_TYPES[of]} *CCG_RESTRICT y,\n"
        f"       {C_TYPES[to]} *CCG_RESTRICT z)\n{{\n"
        "    CCG_SIMD\n    for (ptrdiff_t i = 0; i < 4096; ++i) {\n"
        f"        z[i] = ({C_TYPES[to]})({expression});\n    }}\n    (void)y;\n}}\n"
    )
    flags = (*load("x86-64").compile_flags(False), "-march=x86-64-v3", *own_flags(GCC))
    command = [*GCC.words, *flags, f"-I{header_dir()}", "-fopt-info-vec-optimized"]
    object_file = str(tmp_path / "loop.o")
    said = subprocess.run(
        [*command, "-c", str(source), "-o", object_file], capture_output=True, text=True, check=True
    )
    assert "loop vectorized" in said.stderr


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
def test_clang_looks_for_vectors_in_a_short_loop(tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text(
        '#include "ccg_base.h"\n'
        "void f(const float *CCG_RESTRICT x, float *CCG_RESTRICT y, ptrdiff_t n)\n{\n"
        "    for (ptrdiff_t i = 0; i < n; ++i) {\n"
        "        CCG_SHORT CCG_SIMD\n        for (ptrdiff_t j = 0; j < 32; ++j) {\n"
        "            y[i * 32 + j] = y[i * 32 + j] - x[i * 512] * x[j];\n        }\n    }\n}\n"
    )
    flags = (*load("x86-64").compile_flags(False), "-march=x86-64-v3", f"-I{header_dir()}")
    command = ["clang", *flags, "-Rpass=loop-vectorize", "-c", str(source), "-o"]
    said = subprocess.run(
        [*command, str(tmp_path / "loop.o")], capture_output=True, text=True, check=True
    )
    assert "loop.c:6:9: remark: vectorized loop" in said.stderr
