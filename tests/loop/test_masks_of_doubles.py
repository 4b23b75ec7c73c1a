"""Truth values beside doubles are widened where vectors of AVX-512 choose by them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, compare, const
from ccodegen.loop.ir import Buffer, Kernel, LoopKind, Space
from ccodegen.loop.masks_of_doubles import widen_masks_of_doubles
from ccodegen.loop.text import to_text
from ccodegen.loop.verify_kernel import verify_kernel
from ccodegen.support.element_type import ElementType
from ccodegen.support.runtime_c import header_dir
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import assert_same_effect

PRED = ElementType.PRED
WIDE = "negate(convert:s64(m[i])) < 0:s64"


def widened(element: ElementType, kind: LoopKind = LoopKind.VECTOR) -> list[str]:
    """The statements of a loop that chooses by a mask, combines it, stores it, converts it."""
    x, y = (Buffer(name, element, (8,), Space.ARGUMENT) for name in "xy")
    m, p = (Buffer(name, PRED, (8,), Space.ARGUMENT) for name in "mp")
    b = Builder()
    with b.loop(8, "i", kind) as i:
        mask, value, zero = b.load(m, (i,)), b.load(x, (i,)), const(element, 0.0)
        b.store(y, (i,), apply("select", mask, value, zero))
        b.store(p, (i,), apply("and", mask, compare("gt", value, zero)))
        b.store(p, (i,), mask)
        b.store(y, (i,), apply("convert", mask, type=element))
    kernel = Kernel("k", (x, y, m, p), widen_masks_of_doubles(b.statements))
    verify_kernel(kernel)
    return [line.strip() for line in to_text(kernel).splitlines()[2:-2]]


def test_what_is_chosen_by() -> None:
    for kind in (LoopKind.VECTOR, LoopKind.LANES):
        assert widened(ElementType.F64, kind) == [
            f"y[i] = select({WIDE}, x[i], 0.0:f64)",
            f"p[i] = {WIDE} and x[i] > 0.0:f64",
            "p[i] = m[i]",
            "y[i] = convert:f64(m[i])",
        ]


def test_floats_and_other_loops_stay() -> None:
    assert widened(ElementType.F32)[0] == "y[i] = select(m[i], x[i], 0.0:f32)"
    assert widened(ElementType.F64, LoopKind.SERIAL)[0] == "y[i] = select(m[i], x[i], 0.0:f64)"


@settings(max_examples=100, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    assert_same_effect(kernel, widen_masks_of_doubles(kernel.body))


@pytest.mark.parametrize("value", ["m[i] ? x[i] : 0", "m[i] && x[i] > y[i] ? x[i] : 1"])
def test_gcc_makes_vectors_of_it(tmp_path: Path, value: str) -> None:
    file = tmp_path / "choose.c"
    wide = value.replace("m[i]", "((int64_t)(0u - (uint64_t)(int64_t)m[i]) < INT64_C(0))")
    file.write_text(
        f"""#include "ccg_base.h"
#include "ccg_double.h"
void choose(const uint8_t *restrict m, const double *restrict x, double *restrict y);
void choose(const uint8_t *restrict m, const double *restrict x, double *restrict y)
{{
    for (int i = 0; i < 1000; ++i) {{
        y[i] = {wide};
    }}
}}
"""
    )
    flags = ["-O3", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-fopt-info-vec"]
    command = ["gcc", *flags, f"-I{header_dir()}", "-c", file, "-o", tmp_path / "choose.o"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "unrecognized" in done.stderr or "not supported" in done.stderr:
        pytest.skip("gcc of another processor")
    assert not done.returncode, done.stderr
    assert "vectorized using 32 byte vectors" in done.stderr
