"""Doubles in short rows, of which gcc makes permutations of vectors."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("shape", "result", "op"),
    [
        ("800,2,4", "800,2,3", "slice(x), slice={[0:800], [0:2], [0:3]}"),
        ("40,20,3,3", "42,20,4,2", "pad(x, z), padding=1_1x0_0x1_0x0_-1"),
        ("800,3,3", "800,3,2", "slice(x), slice={[0:800], [0:3], [0:2]}"),
    ],
)
def test_short_rows_are_copied_as_they_are(
    shape: str, result: str, op: str, strict: bool
) -> None:
    text = f"""HloModule m
ENTRY e {{ x = f64[{shape}] parameter(0)  z = f64[] constant(0)  c = f64[{result}] {op}
  ROOT n = f64[{result}] negate(c) }}"""
    x = RANDOM.standard_normal([int(n) for n in shape.split(",")])
    for program in (text, text.replace("ROOT n", "n").replace("c = f64", "ROOT c = f64")):
        expected = ccodegen.evaluate(program, x)
        np.testing.assert_array_equal(ccodegen.compile(program, strict=strict)(x), expected)


@pytest.mark.parametrize(
    ("body", "has_doubles"),
    [
        ("x = f64[9] parameter(0)  ROOT y = f64[9] negate(x)", True),
        ("x = c128[9] parameter(0)  ROOT y = c128[9] negate(x)", True),
        (
            """x = f32[9] parameter(0)  d = f64[9] convert(x)  s = f64[9] sine(d)
            ROOT y = f32[9] convert(s)""",
            True,
        ),
        ("x = f32[9] parameter(0)  ROOT double = f32[9] negate(x)", False),
    ],
)
def test_kernels_of_doubles_ask_for_shorter_vectors(body: str, has_doubles: bool) -> None:
    program = ccodegen.compile(f"HloModule m\nENTRY e {{ {body} }}")
    assert ("ccg_double.h" in program.as_text("c")) is has_doubles
