"""Bytes that short loops store are computed in words: the same numbers, in two loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.loop.ir import Let
from ccodegen.loop.parts import applied
from ccodegen.loop.rebuild import expressions, statements
from tests.three_ways import check, module_of, plain_target

TARGET = replace(
    plain_target(),
    machine=replace(plain_target().machine, vector_bytes=32, vector_registers=16),
)


def product(epilogue: str, result: str, columns: int = 37) -> str:
    shape = f"[50,{columns}]"
    return f"""ENTRY e {{
  x = s8[50,19] parameter(0)  y = s8[19,{columns}] parameter(1)
  z = {result}{shape} parameter(2)  a = f32{shape} parameter(3)
  d = s32{shape} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  f = f32{shape} convert(d)  h = f32[] constant(0.37)
  s = f32{shape} broadcast(h), dimensions={{}}
  l = f32[] constant(-5.5)  m = f32[] constant(90.25)
  lo = f32{shape} broadcast(l), dimensions={{}}  hi = f32{shape} broadcast(m), dimensions={{}}
  q = f32{shape} multiply(f, s)
  {epilogue.replace("$", shape).replace("T[", f"{result}[")} }}"""


def in_words(text: str, strict: bool = False) -> bool:
    """Whether the program is right, and computes words before it stores bytes."""
    built = check(module_of(text), target=TARGET, strict=strict)
    return "name='wide" in str(built.program.kernels[-1].body)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("result", ["s8", "u8", "s16", "u16", "s4", "u4"])
@pytest.mark.parametrize(
    "epilogue",
    [
        "ROOT r = T$ convert(q)",
        "c = f32$ clamp(lo, q, hi)  ROOT r = T$ convert(c)",
        "b = f32$ maximum(q, lo)  c = f32$ minimum(hi, b)  ROOT r = T$ convert(c)",
        "b = f32$ minimum(q, lo)  c = f32$ maximum(b, hi)  ROOT r = T$ convert(c)",
        "b = f32$ multiply(q, a)  ROOT r = T$ convert(b)",  # what is infinite, and NaN
        "b = s32$ negate(d)  ROOT r = T$ convert(b)",
        "c = T$ convert(q)  ROOT r = T$ add(c, z)",
        "c = T$ convert(q)  n = f32$ convert(c)  ROOT r = (T$, f32$) tuple(c, n)",
        "g = f32$ convert(z)  b = f32$ add(q, g)  ROOT r = T$ convert(b)",
    ],
)
def test_epilogues(epilogue: str, result: str, strict: bool) -> None:
    """Of tiles whose last columns are fewer."""
    assert in_words(product(epilogue, result), strict) is (" add(c" not in epilogue)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("columns", "narrow"), [(3, True), (8, False), (16, False), (500, True)])
@pytest.mark.parametrize("result", ["s8", "u8", "s4"])
def test_what_passes_as_bytes_stays_a_word(
    result: str, columns: int, narrow: bool, strict: bool
) -> None:
    """Unless the loop is long enough for vectors of bytes, or too short for any."""
    text = f"""ENTRY e {{ x = f32[40,{columns}] parameter(0)  h = f32[{columns}] parameter(1)
      s = f32[40,{columns}] broadcast(h), dimensions={{1}}
      q = f32[40,{columns}] multiply(x, s)  n = {result}[40,{columns}] convert(q)
      f = f32[40,{columns}] convert(n)  i = s32[40,{columns}] convert(n)
      g = f32[40,{columns}] convert(i)  d = f32[40,{columns}] add(f, g)
      ROOT r = f32[40,{columns}] tanh(d) }}"""
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((40, columns)) * 200).astype(np.float32)
    x[:4, 0] = np.nan, np.inf, -np.inf, -0.5
    h = rng.standard_normal(columns).astype(np.float32)
    (kernel,) = check(module_of(text), x, h, target=TARGET, strict=strict).program.kernels
    types = {s.var.type.text for s in statements(kernel.body) if isinstance(s, Let)}
    types |= {e.type.text for e in applied(*expressions(kernel.body))}
    assert (result in types) is narrow


@pytest.mark.parametrize("columns", [2, 8, 16, 31, 32, 40])
def test_sizes(columns: int) -> None:
    in_words(product("ROOT r = T$ convert(q)", "s8", columns))


def test_long_loops_stay() -> None:
    text = "ENTRY e { x = f32[3,500] parameter(0)  ROOT r = s8[3,500] convert(x) }"
    assert not in_words(text)


@pytest.mark.parametrize("result", ["f32", "s32", "bf16", "pred"])
def test_other_types_stay(result: str) -> None:
    assert not in_words(product("ROOT r = T$ convert(q)", result))
