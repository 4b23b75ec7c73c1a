"""Windows of f16 and bf16 in f32: extrema have the same bits, others are rounded once."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.windows_in_f32 import windows_in_f32
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import load
from tests.passes.checking import module, same_bits

PC, STRICT = (PassContext(target=load("x86-64"), strict=strict) for strict in (False, True))
LOG_ADD = """
  h = {t}[] maximum(a, b)  d = {t}[] subtract(a, b)  n = pred[] compare(d, d), direction=NE
  s = {t}[] add(a, b)  o = {t}[] constant(1)  m = {t}[] abs(d)  g = {t}[] negate(m)
  e = {t}[] exponential(g)  l = {t}[] add(e, o)  k = {t}[] log(l)  j = {t}[] add(h, k)
  ROOT r = {t}[] select(n, s, j)"""


def program(
    operator: str, t: str, window: str = "size=3x3 pad=1_1x1_1", initial: str = "0"
) -> Module:
    body = f"ROOT r = {t}[] {operator}(a, b)" if operator != "log_add" else LOG_ADD.format(t=t)
    return module(f"""
f {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  {body} }}
ENTRY e {{ x = {t}[12,70] parameter(0)  z = {t}[] constant({initial})
  ROOT r = {t}[12,70] reduce-window(x, z), window={{{window}}}, to_apply=f }}""")


def is_in_f32(changed: Module) -> bool:
    windows = ("reduce-window", "select-and-scatter")
    (found,) = (i for i in changed.entry.instructions if i.op in windows)
    return {o.array_shape.element_type.text for o in (found, *found.operands)} == {"f32"}


@pytest.mark.parametrize("t", ["f16", "bf16"])
@pytest.mark.parametrize("operator", ["maximum", "minimum"])
@pytest.mark.parametrize("context", [PC, STRICT])
def test_extrema(operator: str, t: str, context: PassContext) -> None:
    old = program(operator, t)
    new = windows_in_f32(old, context)
    assert is_in_f32(new) and same_bits(old, new)


@pytest.mark.parametrize("t", ["f16", "bf16"])
@pytest.mark.parametrize("operator", ["add", "multiply", "log_add"])
def test_others_are_rounded_once(operator: str, t: str) -> None:
    old = program(operator, t, initial={"add": "0", "multiply": "1", "log_add": "-inf"}[operator])
    assert windows_in_f32(old, STRICT) is old
    new = windows_in_f32(old, PC)
    assert is_in_f32(new)
    x = np.random.default_rng(1).uniform(0.8, 1.25, (12, 70)).astype(HLO_TYPES[t].dtype)
    got, want = (np.asarray(evaluate(m, x)).astype(np.float64) for m in (new, old))
    np.testing.assert_allclose(got, want, rtol=5e-2 if t == "bf16" else 5e-3)


@pytest.mark.parametrize("operator", ["add", "log_add"])
@pytest.mark.parametrize("pad", ["11_0x0_0", "0_11x0_0", "0_0x69_0", "0_0x0_69"])
def test_long_ones_do_not_come_to_a_halt(operator: str, pad: str) -> None:
    size = "12x1" if "11" in pad else "1x70"
    initial = "0" if operator == "add" else "-inf"
    old = program(operator, "bf16", f"size={size} pad={pad}", initial)
    x = np.zeros((12, 70)) if operator == "log_add" else np.ones((12, 70))
    got = np.asarray(ccodegen.compile(old)(x.astype(ml_dtypes.bfloat16))).astype(np.float64)
    axis = 0 if "11" in pad else 1
    counts = np.cumsum(np.ones((12, 70)), axis)
    if pad[-2:] != "_0" or pad.startswith("0_11"):
        counts = np.flip(counts, axis)
    np.testing.assert_allclose(got, counts if operator == "add" else np.log(counts), rtol=5e-3)


@pytest.mark.parametrize("t", ["f16", "bf16"])
@pytest.mark.parametrize("window", ["size=2x3 stride=2x3", "size=3x3 pad=1_1x1_1"])
def test_select_and_scatter(window: str, t: str) -> None:
    sizes = "6,20" if "stride" in window else "12,60"
    old = module(f"""
g {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }}
f {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  ROOT r = {t}[] add(a, b) }}
ENTRY e {{ x = {t}[12,60] parameter(0)  s = {t}[{sizes}] parameter(1)  z = {t}[] constant(0)
  ROOT r = {t}[12,60] select-and-scatter(x, s, z), window={{{window}}}, select=g, scatter=f }}""")
    assert windows_in_f32(old, STRICT) is old
    new = windows_in_f32(old, PC)
    assert is_in_f32(new)
    random, dtype = np.random.default_rng(2), HLO_TYPES[t].dtype
    x = random.integers(-9, 9, (12, 60)).astype(dtype)
    s = random.uniform(0.8, 1.25, old.entry.parameters[1].array_shape.dimensions).astype(dtype)
    want = np.asarray(evaluate(old, x, s)).astype(np.float64)
    for got in evaluate(new, x, s), ccodegen.compile(old)(x, s):
        np.testing.assert_allclose(
            np.asarray(got).astype(np.float64), want, rtol=5e-2 if t == "bf16" else 5e-3
        )


@pytest.mark.parametrize(
    "old",
    [
        program("add", "f32"),
        program("maximum", "s16"),
        program("maximum", "bf16", "size=4x1 pad=1_2x0_0"),  # vectors have it as it is
        module("x = bf16[3] parameter(0)  ROOT r = bf16[3] maximum(x, x)"),
    ],
)
def test_what_stays(old: Module) -> None:
    assert windows_in_f32(old, PC) is old


def test_not_where_a_computation_is_of_several_types() -> None:
    text = "c = f32[] convert(a)  d = bf16[] convert(c)  ROOT r = bf16[] add(d, b)"
    old = module(f"""
f {{ a = bf16[] parameter(0)  b = bf16[] parameter(1)  {text} }}
ENTRY e {{ x = bf16[70] parameter(0)  z = bf16[] constant(0)
  ROOT r = bf16[70] reduce-window(x, z), window={{size=3 pad=1_1}}, to_apply=f }}""")
    assert windows_in_f32(old, PC) is old


def test_not_without_vectors() -> None:
    old = program("maximum", "f16")
    assert windows_in_f32(old, PassContext(target=load("cortex-m4"))) is old
