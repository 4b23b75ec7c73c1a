"""Sums of narrow rows: several rows at a time, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.widen_narrow import widen_narrow
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, module

CONTEXT = PassContext(target=load("x86-64"))
RANDOM = np.random.default_rng(0)


def reduce(
    shape: str, dimensions: str, result: str, op: str = "add", kind: str = "f32", initial: str = "1"
) -> Module:
    return module(
        f"""f {{ p = {kind}[] parameter(0)
          q = {kind}[] parameter(1)
          ROOT s = {kind}[] {op}(p, q) }}
        ENTRY e {{
          x = {kind}[{shape}] parameter(0)
          z = {kind}[] constant({initial})
          ROOT r = {kind}[{result}] reduce(x, z), dimensions={{{dimensions}}}, to_apply=f }}"""
    )


def given(of: Module) -> np.ndarray:
    shape = of.entry.parameters[0].array_shape
    values = RANDOM.integers(-3, 9, shape.dimensions)
    return values.astype(HLO_TYPES[shape.element_type.text].dtype)


@pytest.mark.parametrize(
    ("shape", "dimensions", "result"),
    [
        ("512,3", "0", "3"),
        ("701,3", "0", "3"),
        ("40,23,5", "0,1", "5"),
        ("40,23,2,3", "1,0", "2,3"),
        ("641,1,7,1", "0", "1,7,1"),
        ("520,63", "0", "63"),
        ("3,701,5", "1", "3,5"),
        ("2,3,32,16,12", "2,3", "2,3,12"),
    ],
)
@pytest.mark.parametrize("op", ["add", "maximum", "multiply"])
def test_nothing_is_lost(shape: str, dimensions: str, result: str, op: str) -> None:
    old = reduce(shape, dimensions, result, op)
    new = widen_narrow(old, CONTEXT)
    assert new is not old
    x = given(old)
    if op == "multiply":
        x = np.where(x == 3, x, 1).astype(np.float32) / np.float32(2.5)
    expected = evaluate(old, x)
    np.testing.assert_allclose(evaluate(new, x), expected, rtol=1e-4)
    np.testing.assert_allclose(ccodegen.compile(old)(x), expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("op", "kind", "initial"),
    [("add", "s8", "1"), ("minimum", "u32", "4"), ("xor", "u16", "5"), ("maximum", "f64", "-inf")],
)
def test_types(op: str, kind: str, initial: str) -> None:
    old = reduce("2000,3", "0", "3", op, kind, initial)
    new = widen_narrow(old, CONTEXT)
    assert new is not old
    x = given(old)
    np.testing.assert_array_equal(evaluate(new, x), evaluate(old, x))
    np.testing.assert_array_equal(ccodegen.compile(old)(x), evaluate(old, x))


@pytest.mark.parametrize(
    "old",
    [
        reduce("300,64", "0", "64"),
        reduce("300,3", "0", "3"),
        reduce("2000,3", "1", "2000"),
        reduce("2000,1", "0", "1"),
        reduce("0,3", "0", "3"),
        reduce("2000,0", "0", "0"),
        reduce("2000,3", "0", "3", kind="bf16"),
        reduce("2000,3", "0", "3", "subtract"),
    ],
)
def test_what_stays(old: Module) -> None:
    assert widen_narrow(old, CONTEXT) is old


def test_rows_that_are_looked_up_stay() -> None:
    """They are added up where they are found."""
    old = module("""f { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
        ENTRY e { x = f32[99,7] parameter(0)  i = s32[3,700] parameter(1)  z = f32[] constant(0)
          y = f32[3,700,7] gather(x, i), offset_dims={2}, collapsed_slice_dims={0},
            start_index_map={0}, index_vector_dim=2, slice_sizes={1,7}
          ROOT r = f32[3,7] reduce(y, z), dimensions={1}, to_apply=f }""")
    assert widen_narrow(old, CONTEXT) is old


def computed(of: str) -> Module:
    return module(
        f"""f {{ p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }}
        ENTRY e {{ x = f32[2001,7] parameter(0)  z = f32[] constant(1)  {of}
          ROOT r = f32[7] reduce(y, z), dimensions={{0}}, to_apply=f }}"""
    )


def test_what_is_computed_element_by_element() -> None:
    old = computed("b = f32[2001,7] broadcast(z), dimensions={}  y = f32[2001,7] multiply(x, b)")
    new = widen_narrow(old, CONTEXT)
    assert new is not old
    x = given(old)
    np.testing.assert_allclose(ccodegen.compile(old)(x), evaluate(old, x), rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "dimensions", "row", "along"),
    [
        ("2001,7", "0", "7", "1"),
        ("64,33,7", "0,1", "7", "2"),
        ("701,2,3", "0", "3,2", "2,1"),
        ("701,2,3", "0", "2", "1"),
        ("3,1024,5", "1", "5", "2"),
        ("3,1024,5", "1", "3", "0"),
    ],
)
def test_what_is_computed_of_one_row_for_all(
    shape: str, dimensions: str, row: str, along: str
) -> None:
    sizes = shape.split(",")
    result = ",".join(s for d, s in enumerate(sizes) if str(d) not in dimensions.split(","))
    text = f"""f {{ p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }}
        ENTRY e {{ x = f32[{shape}] parameter(0)  z = f32[] constant(1)
          c = f32[{row}] parameter(1)  b = f32[{shape}] broadcast(c), dimensions={{{along}}}
          k = f32[{shape}] broadcast(z), dimensions={{}}  m = f32[{shape}] multiply(x, b)
          y = f32[{shape}] add(m, k)  t = f32[{shape}] tanh(y)
          ROOT r = f32[{result}] reduce(t, z), dimensions={{{dimensions}}}, to_apply=f }}"""
    old = module(text)
    new = widen_narrow(old, CONTEXT)
    assert new is not old
    arguments = [given_to(p.array_shape.dimensions) for p in old.entry.parameters]
    expected = evaluate(old, *arguments)
    np.testing.assert_allclose(evaluate(new, *arguments), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ccodegen.compile(old)(*arguments), expected, rtol=1e-4, atol=1e-4)


def given_to(sizes: tuple[int, ...]) -> np.ndarray:
    return RANDOM.standard_normal(sizes).astype(np.float32)


@pytest.mark.parametrize("root", ["m", "b"])
def test_what_others_read_stays(root: str) -> None:
    """It would be computed twice; but for what lies in memory."""
    old = module(f"""f {{ p = f32[] parameter(0)  q = f32[] parameter(1)
          ROOT s = f32[] add(p, q) }}
        ENTRY e {{ x = f32[2001,7] parameter(0)  c = f32[7] parameter(1)  z = f32[] constant(1)
          b = f32[2001,7] broadcast(c), dimensions={{1}}  m = f32[2001,7] multiply(x, b)
          r = f32[7] reduce(m, z), dimensions={{0}}, to_apply=f
          ROOT t = tuple(r, {root}) }}""")
    assert (widen_narrow(old, CONTEXT) is old) == (root == "m")


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT)
def test_where_it_stays(context: PassContext) -> None:
    old = reduce("2000,3", "0", "3")
    assert widen_narrow(old, context) is old
