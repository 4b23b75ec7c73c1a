"""Features in the last dimension: the same numbers, and no transposes between layers."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.lay_out_features import lay_out_features
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, leaves_alone, module

CONTEXT = PassContext(target=load("x86-64"))
RANDOM = np.random.default_rng(0)

REDUCERS = """
add { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q) }
max { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] maximum(p, q) }
"""
HEAD = """
  x = f32[2,160,7,5] parameter(0)
  k = f32[160,160,3,3] parameter(1)
  z = f32[] constant(0)
  c = f32[2,160,7,5] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
"""
# What is computed from c, and how many transposes of whole arrays stay.
TAILS = {
    "nothing": ("ROOT r = f32[2,160,7,5] negate(c)", 2),
    "a scale for each feature, and the input": (
        """s = f32[160] parameter(2)
        b = f32[2,160,7,5] broadcast(s), dimensions={1}
        m = f32[2,160,7,5] multiply(c, b)
        ROOT r = f32[2,160,7,5] add(m, x)""",
        2,
    ),
    "a choice": (
        """zs = f32[2,160,7,5] broadcast(z), dimensions={}
        p = pred[2,160,7,5] compare(c, zs), direction=GT
        low = f32[] constant(-1)
        clamp = f32[2,160,7,5] clamp(low, c, z)
        ROOT r = f32[2,160,7,5] select(p, c, clamp)""",
        2,
    ),
    "another layer": (
        """t = f32[2,160,7,5] tanh(c)
        k2 = f32[160,1,2,2] parameter(2)
        d = f32[2,160,3,2] convolution(t, k2), window={size=2x2 stride=2x2},
            dim_labels=bf01_oi01->bf01, feature_group_count=160
        ROOT r = f32[2,160] reduce(d, z), dimensions={2,3}, to_apply=add""",
        2,  # of the input, and of few weights
    ),
    "windows and slices": (
        """w = f32[2,160,3,5] reduce-window(c, z), window={size=1x1x3x1 stride=1x1x2x1},
            to_apply=max
        s = f32[2,80,2,5] slice(w), slice={[0:2], [0:160:2], [1:3], [0:5]}
        e = f32[2,80,2,8] pad(s, z), padding=0_0x0_0x0_0x1_2
        v = f32[2,80,2,8] reverse(e), dimensions={1,3}
        g = f32[2,160,2,8] concatenate(v, e), dimensions={1}
        ROOT r = f32[2,160] reduce(g, z), dimensions={3,2}, to_apply=add""",
        1,
    ),
    "sums that change the order of what stays": (
        "ROOT r = f32[160,7,5] reduce(c, z), dimensions={0}, to_apply=add",
        2,
    ),
    "a reshape of features too": ("ROOT r = f32[2,5600] reshape(c)", 2),
    "tokens": (
        """t = f32[2,160,35] reshape(c)
        ROOT r = f32[2,35,160] transpose(t), dimensions={0,2,1}""",
        1,
    ),
    "another order": ("ROOT r = f32[5,2,7,160] transpose(c), dimensions={3,0,2,1}", 2),
    "gathers in the image": (
        """i = s32[3,4,2] iota(), iota_dimension=0
        g = f32[2,160,3,4] gather(c, i), offset_dims={0,1}, collapsed_slice_dims={2,3},
            start_index_map={3,2}, index_vector_dim=2, slice_sizes={2,160,1,1}
        n = f32[2,160,3,4] negate(g)
        j = s32[6,1] iota(), iota_dimension=0
        h = f32[2,160,6,4] gather(n, j), offset_dims={0,1,3}, collapsed_slice_dims={2},
            start_index_map={2}, index_vector_dim=1, slice_sizes={2,160,1,4}
        ROOT r = f32[2,160] reduce(h, z), dimensions={2,3}, to_apply=max""",
        1,
    ),
    "a gather of features": (
        """j = s32[6,1] iota(), iota_dimension=0
        ROOT r = f32[2,6,3,5] gather(c, j), offset_dims={0,2,3}, collapsed_slice_dims={1},
            start_index_map={1}, index_vector_dim=1, slice_sizes={2,1,3,5}""",
        2,
    ),
    "layers of tokens": (
        """t = f32[2,160,35] reshape(c)
        u = f32[2,35,160] transpose(t), dimensions={0,2,1}
        n = f32[2,35,160] negate(u)
        v = f32[2,160,35] transpose(n), dimensions={0,2,1}
        w = f32[2,160,7,5] reshape(v)
        k2 = f32[160,1,2,2] parameter(2)
        d = f32[2,160,3,2] convolution(w, k2), window={size=2x2 stride=2x2},
            dim_labels=bf01_oi01->bf01, feature_group_count=160
        ROOT r = f32[2,160,6,1] reshape(d)""",
        3,  # of the input, of few weights and of the result
    ),
}


def program(tail: str) -> Module:
    return module(f"{REDUCERS}\nENTRY e {{ {HEAD} {tail} }}")


def arguments(of: Module) -> list[np.ndarray]:
    shapes = (p.array_shape.dimensions for p in of.entry.parameters)
    return [RANDOM.standard_normal(shape, np.float32) for shape in shapes]


def leaves_of(result: np.ndarray | tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", TAILS)
def test_the_numbers_stay(name: str) -> None:
    tail, transposes = TAILS[name]
    old = program(tail)
    new = lay_out_features(old, CONTEXT)
    assert new is not old
    assert [i.op for i in new.entry.instructions].count("transpose") == transposes
    given = arguments(old)
    expected = evaluate(old, *given)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(evaluate(new, *given), expected, atol=2e-6 * scale)
    np.testing.assert_allclose(ccodegen.compile(old)(*given), expected, atol=4e-6 * scale)


def test_depthwise_convolutions_pay_for_transposes_sooner() -> None:
    text = """x = f32[1,32,9,9] parameter(0)
        k = f32[32,{0},5,5] parameter(1)
        ROOT c = f32[1,32,5,5] convolution(x, k), window={{size=5x5}}, dim_labels=bf01_oi01->bf01,
            feature_group_count={1}"""
    old = module(text.format(1, 32))
    assert lay_out_features(old, CONTEXT) is not old
    leaves_alone(text.format(2, 16), lay_out_features, CONTEXT)


@pytest.mark.parametrize(
    ("features", "spatial", "kernel", "window", "labels"),
    [
        (640, "7", "640,640,3", "3 pad=1_1", "bf0_oi0->bf0"),
        (160, "4,3,5", "160,3,3,3,160", "3x3x3 pad=1_1x1_1x1_1", "bf012_i012o->bf012"),
    ],
)
def test_other_ranks(features: int, spatial: str, kernel: str, window: str, labels: str) -> None:
    shape = f"f32[1,{features},{spatial}]"
    old = module(
        f"""x = {shape} parameter(0)
        k = f32[{kernel}] parameter(1)
        c = {shape} convolution(x, k), window={{size={window}}}, dim_labels={labels}
        ROOT r = {shape} abs(c)"""
    )
    new = lay_out_features(old, CONTEXT)
    assert new is not old
    given = arguments(old)
    expected = evaluate(old, *given)
    np.testing.assert_allclose(evaluate(new, *given), expected, atol=2e-6 * expected.max())


IMAGE_OF_TOKENS = """
  x = f32[2,35,160] parameter(0)
  k = f32[160,320,3,3] parameter(1)
  t = f32[2,160,35] transpose(x), dimensions={0,2,1}
  r = f32[2,160,7,5] reshape(t)
  n = f32[2,160,7,5] exponential(r)
  i = s32[7,5,2] iota(), iota_dimension=0
  g = f32[2,160,7,5] gather(n, i), offset_dims={0,1}, collapsed_slice_dims={2,3},
      start_index_map={3,2}, index_vector_dim=2, slice_sizes={2,160,1,1}
  l = f32[2,320,7,5] concatenate(g, r), dimensions={1}
  c = f32[2,160,7,5] convolution(l, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
"""


@pytest.mark.parametrize(
    ("root", "transposes"),
    [
        ("ROOT r2 = f32[2,160,7,5] negate(c)", 1),  # of the result
        ("ROOT r2 = (f32[2,160,7,5], f32[2,320,7,5]) tuple(c, l)", 3),  # as l is there anyway
    ],
)
def test_what_an_image_is_computed_from_has_features_last(root: str, transposes: int) -> None:
    old = module(f"{IMAGE_OF_TOKENS} {root}")
    new = lay_out_features(old, CONTEXT)
    assert [i.op for i in new.entry.instructions].count("transpose") == transposes
    given = arguments(old)
    for expected, found in zip(*(leaves_of(evaluate(m, *given)) for m in (old, new)), strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_few_products_are_not_worth_transposes() -> None:
    text = """x = f32[1,8,9,9] parameter(0)
        k = f32[9,8,3,3] parameter(1)
        ROOT c = f32[1,9,7,7] convolution(x, k), window={size=3x3}, dim_labels=bf01_oi01->bf01"""
    leaves_alone(text, lay_out_features, CONTEXT)


@pytest.mark.parametrize(("features", "moves"), [(1, True), (3, True), (9, False)])
def test_few_features_pay_for_transposes_sooner(features: int, moves: bool) -> None:
    old = module(f"""x = f32[1,8,9,9] parameter(0)
        k = f32[{features},8,3,3] parameter(1)
        ROOT c = f32[1,{features},7,7] convolution(x, k), window={{size=3x3}},
          dim_labels=bf01_oi01->bf01""")
    assert (lay_out_features(old, CONTEXT) is not old) is moves


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT)
def test_where_it_stays(context: PassContext) -> None:
    old = program("ROOT r = f32[2,160,7,5] negate(c)")
    assert lay_out_features(old, context) is old


def test_features_that_are_last_stay() -> None:
    text = """x = f32[1,9,9,160] parameter(0)
        k = f32[3,3,160,160] parameter(1)
        ROOT c = f32[1,7,7,160] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f"""
    leaves_alone(text, lay_out_features, CONTEXT)
