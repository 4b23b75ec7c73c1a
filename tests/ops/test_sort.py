"""sort, topk and select-and-scatter."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.ops import topk
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.target import load
from tests import three_ways
from tests.ops.scope import check_lowering, module_of

LESS = """
less {{ a = {0}[] parameter(0)
        b = {0}[] parameter(1)
        ROOT c = pred[] compare(a, b), direction={1}{2} }}
"""
BY_KEY = """
less { a = s32[] parameter(0)
       b = s32[] parameter(1)
       p = f32[] parameter(2)
       q = f32[] parameter(3)
       ROOT c = pred[] compare(a, b), direction=LT }
"""


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 13])
@pytest.mark.parametrize("dimension", [0, 1])
def test_sort_of_one_operand(n, dimension):
    shape = (n, 3) if dimension == 0 else (3, n)
    x = np.random.default_rng(n).integers(0, 9, shape).astype(np.int32)
    text = f"""{LESS.format("s32", "GT", "")}
ENTRY e {{ x = s32[{shape[0]},{shape[1]}] parameter(0)
  ROOT r = s32[{shape[0]},{shape[1]}] sort(x), dimensions={{{dimension}}}, to_apply=less }}"""
    (found,) = check_lowering(text, x)
    assert np.array_equal(found, -np.sort(-x, dimension))


@pytest.mark.parametrize("n", [15, 16, 17, 29, 33, 48])
def test_sort_is_stable_and_moves_operands_together(n):
    random = np.random.default_rng(1)
    keys = random.choice(np.array([-5, 0, 1, 2**31 - 1], np.int32), (2, n))
    values = random.standard_normal((2, n)).astype(np.float32)
    text = f"""{BY_KEY}
ENTRY e {{ k = s32[2,{n}] parameter(0)
  v = f32[2,{n}] parameter(1)
  ROOT r = (s32[2,{n}], f32[2,{n}]) sort(k, v), dimensions={{1}}, to_apply=less }}"""
    found = check_lowering(text, keys, values)
    order = np.argsort(keys, 1, kind="stable")
    assert np.array_equal(found[0], np.take_along_axis(keys, order, 1))
    assert np.array_equal(found[1], np.take_along_axis(values, order, 1))


@pytest.mark.parametrize("order", ["", ", type=TOTALORDER"])
def test_sort_of_nan_and_zeros(order):
    x = np.array([1, np.nan, -0.0, 0.0, -np.inf, -np.nan, 3, -0.0, np.inf, np.nan], np.float32)
    text = f"""{LESS.format("f32", "LT", order)}
ENTRY e {{ x = f32[10] parameter(0)
  ROOT r = f32[10] sort(x), dimensions={{0}}, to_apply=less }}"""
    (found,) = check_lowering(text, x)
    if order:
        numbers = [-np.inf, -0.0, -0.0, 0.0, 1, 3, np.inf]
        assert found[1:8].tobytes() == np.array(numbers, np.float32).tobytes()
        assert np.isnan(found[[0, 8, 9]]).all()


@pytest.mark.parametrize("k", [0, 1, 5, 11])
def test_topk_agrees_with_jax(k):
    jax = pytest.importorskip("jax")
    x = np.random.default_rng(2).standard_normal((3, 11)).astype(np.float32)
    x[1] = [np.nan, 0, -0.0, 0, -np.nan, 1, 1, -0.0, np.inf, -np.inf, 1]
    text = f"""ENTRY e {{ x = f32[3,11] parameter(0)
  ROOT r = (f32[3,{k}], s32[3,{k}]) topk(x), k={k}, largest=true }}"""
    values, indices = check_lowering(text, x)
    expected = jax.lax.top_k(x, k)
    assert np.array_equal(values, expected[0], equal_nan=True)
    assert np.array_equal(indices, expected[1])


def test_topk_smallest():
    x = np.array([3, 1, 2, 1, 5], np.int32)
    text = """ENTRY e { x = s32[5] parameter(0)
  ROOT r = (s32[3], s32[3]) topk(x), k=3, largest=false }"""
    values, indices = check_lowering(text, x)
    assert values.tolist() == [1, 1, 2] and indices.tolist() == [1, 3, 2]


@pytest.mark.parametrize("k", [1, 2, 60])
@pytest.mark.parametrize("element_type", ["f32", "bf16", "f64", "s8", "u32", "s64"])
@pytest.mark.parametrize("largest", ["true", "false"])
@pytest.mark.parametrize("form", [topk.SORT, topk.CANDIDATES, topk.SEARCHES])
def test_topk_of_long_lines(k, element_type, largest, form, monkeypatch):
    shape = (2, 1, 321)
    if form == topk.SEARCHES and element_type in ("f64", "s64"):
        pytest.skip("keys and places fill more than 64 bits")
    monkeypatch.setattr(topk, "cheapest_form", lambda *_: form)
    dtype = HLO_TYPES[element_type].dtype
    random = np.random.default_rng(k)
    x = random.integers(-9, 9, shape).astype(np.float32)
    if element_type[0] in "bf":
        x = np.where(x > 5, random.choice([np.nan, -np.nan, np.inf, -0.0, 0.0], shape), x)
    else:
        x = abs(x)
    x[1] = np.sort(x[1])[..., :: 1 if largest == "true" else -1]
    text = f"""ENTRY e {{ x = {element_type}[2,1,321] parameter(0)
  ROOT r = ({element_type}[2,1,{k}], s32[2,1,{k}]) topk(x), k={k}, largest={largest} }}"""
    check_lowering(text, x.astype(dtype))


def test_few_of_a_line_are_searched_for_one_after_the_other():
    """While sorting, or candidates, take longer; never with keys of 64 bits or without vectors."""

    def form(n, k, element_type=ElementType.F32, target="x86-64"):
        return topk.cheapest_form(load(target), n, k, element_type)

    assert form(8, 2) == form(128, 1) == form(128, 5) == form(1000, 1) == topk.SEARCHES
    assert form(1000, 40) == form(50_000, 40) == topk.CANDIDATES
    assert form(1000, 900) == form(100, 100) == form(128, 0) == topk.SORT
    assert form(1000, 1, ElementType.F64) == form(1000, 1, target="cortex-m4") == topk.CANDIDATES


def test_topk_of_long_lines_compiled():
    x = np.random.default_rng(3).standard_normal((3, 700)).astype(np.float32)
    x[1], x[2] = np.sort(x[1]), np.nan
    text = """ENTRY e { x = f32[3,700] parameter(0)
  ROOT r = (f32[3,40], s32[3,40]) topk(x), k=40 }"""
    three_ways.check(text, x, strict=True)
    three_ways.check(text, x, strict=True, target=load("cortex-m4"))


@pytest.mark.parametrize("n", [600, 5_000, 70_001])
@pytest.mark.parametrize("k", [1, 7, 100])
@pytest.mark.parametrize("form", [topk.CANDIDATES, topk.SEARCHES])
def test_topk_of_lines_in_any_order(n, k, form, monkeypatch, tmp_path):
    """Below the limit that a search begins with: few elements, half of them, or all."""
    monkeypatch.setattr(topk, "cheapest_form", lambda *_: form)
    monkeypatch.setenv("CCODEGEN_CACHE_DIR", str(tmp_path))  # of programs made otherwise
    random = np.random.default_rng(n)
    ends = np.array([0, 1, 2**32 - 2, 2**32 - 1], np.uint32)
    x = random.integers(0, 2**32, (8, n), np.uint32)
    x[1], x[2] = np.sort(x[1]), np.sort(x[2])[::-1]
    x[3], x[4], x[5], x[6] = 2**32 - 1, 0, random.choice(ends, n), random.integers(0, 9, n)
    x[7, n // 2 :] = 2**32 - 1
    for largest in (True, False):
        text = f"""ENTRY e {{ x = u32[8,{n}] parameter(0)
  ROOT r = (u32[8,{k}], s32[8,{k}]) topk(x), k={k}, largest={str(largest).lower()} }}"""
        values, indices = ccodegen.compile(text)(x)
        order = np.argsort(~x if largest else x, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


SELECT_AND_SCATTER = """
ge {{ a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = pred[] compare(a, b), direction=GE }}
add {{ a = f32[] parameter(0)
       b = f32[] parameter(1)
       ROOT c = f32[] add(a, b) }}
ENTRY e {{ x = f32[{0}] parameter(0)
  s = f32[{1}] parameter(1)
  z = f32[] parameter(2)
  ROOT r = f32[{0}] select-and-scatter(x, s, z), window={{{2}}}, select=ge, scatter=add }}
"""


@pytest.mark.parametrize(
    ("window", "source", "args"),
    [
        ("size=2x2 stride=2x2", (3, 3), ((2, 2), (2, 2), ((0, 0), (0, 0)))),
        ("size=3x2 stride=1x2", (4, 3), ((3, 2), (1, 2), ((0, 0), (0, 0)))),
        ("size=3x3 stride=1x1 pad=1_1x1_1", (6, 7), ((3, 3), (1, 1), ((1, 1), (1, 1)))),
    ],
)
def test_select_and_scatter_is_the_gradient_of_max_pooling(window, source, args):
    jax = pytest.importorskip("jax")
    random = np.random.default_rng(4)
    x = random.permutation(42).reshape(6, 7).astype(np.float32)
    s = random.standard_normal(source).astype(np.float32)

    def pooled(x):
        return jax.lax.reduce_window(x, np.float32(-np.inf), jax.lax.max, *args)

    (expected,) = jax.vjp(pooled, x)[1](s)
    text = SELECT_AND_SCATTER.format("6,7", ",".join(map(str, source)), window)
    (found,) = check_lowering(text, x, s, np.zeros((), np.float32))
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("width", [1, 5, 70])
@pytest.mark.parametrize(
    ("window", "positions"),
    [
        ("size=1x2x2x1 stride=1x2x2x1", "2,3,3"),
        ("size=1x3x2x1 stride=1x2x1x1 pad=0_0x1_1x1_0x0_0", "2,3,7"),
        ("size=2x1x3x1 pad=1_0x0_0x2_2x0_0 rhs_dilate=1x1x2x1", "2,6,7"),
    ],
)
def test_select_and_scatter_of_features(window, positions, width):
    x = np.random.default_rng(6).integers(-9, 9, (2, 6, 7, width)).astype(np.float32)
    x[0, 2, 3] = np.nan
    sources = (*map(int, positions.split(",")), width)
    s = np.arange(np.prod(sources), dtype=np.float32).reshape(sources)
    shapes = f"2,6,7,{width}", f"{positions},{width}"
    text = SELECT_AND_SCATTER.format(*shapes, window)
    three_ways.check(text, x, s, np.float32(1), strict=True)
    in_lanes = three_ways.check(text, x, s, np.float32(1), target=load("host"))
    assert any("best" in str(kernel.body) for kernel in in_lanes.program.kernels)


def test_select_and_scatter_takes_the_first_of_equal_elements():
    text = SELECT_AND_SCATTER.format("5", "2", "size=3 stride=2")
    x, s = np.ones(5, np.float32), np.array([2, 4], np.float32)
    (found,) = check_lowering(text, x, s, np.asarray(10, np.float32))
    assert found.tolist() == [12, 10, 14, 10, 10]


def test_a_large_sort_is_quick():
    x = np.random.default_rng(5).standard_normal(5_000).astype(np.float32)
    text = f"""{LESS.format("f32", "LT", "")}
ENTRY e {{ x = f32[5000] parameter(0)
  ROOT r = f32[5000] sort(x), dimensions={{0}}, to_apply=less }}"""
    assert np.array_equal(evaluate(module_of(text), x), np.sort(x))
