"""reduce and reduce-window: against plain NumPy, and their loops against the references."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo import opdef
from ccodegen.hlo.evaluate import evaluate
from ccodegen.support.errors import InputError
from tests.ops.scope import check_lowering, lowered, module_of

ADD = """
add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
"""
ARGMAX = """
argmax { a = f32[] parameter(0)
         i = s32[] parameter(1)
         b = f32[] parameter(2)
         j = s32[] parameter(3)
         ge = pred[] compare(a, b), direction=GE
         v = f32[] select(ge, a, b)
         n = s32[] select(ge, i, j)
         ROOT t = (f32[], s32[]) tuple(v, n) }
"""


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def binary(op: str, element_type: str) -> str:
    return f"""
f {{ a = {element_type}[] parameter(0)
    b = {element_type}[] parameter(1)
    ROOT c = {element_type}[] {op}(a, b) }}
"""


@pytest.mark.parametrize("dimensions", [(), (0,), (1,), (2,), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 1, 7), (3, 0, 2)])
def test_reduce_is_left_to_right_from_the_init_value(dimensions, shape):
    kept = [n for d, n in enumerate(shape) if d not in dimensions]
    text = f"""{ADD}
ENTRY e {{ x = f32[{",".join(map(str, shape))}] parameter(0)
  z = f32[] parameter(1)
  ROOT r = f32[{",".join(map(str, kept))}] reduce(x, z),
    dimensions={{{",".join(map(str, dimensions))}}}, to_apply=add }}"""
    x, z = floats(*shape), np.asarray(0.5, np.float32)
    (found,) = check_lowering(text, x, z)
    order = sorted(dimensions)
    rest = [d for d in range(3) if d not in order]
    rows = x.transpose(*order, *rest).reshape(int(np.prod([shape[d] for d in order])), *kept)
    expected = np.full(kept, z)
    for row in rows:
        expected = expected + row
    assert np.array_equal(found, expected)


def test_reduce_of_two_operands():
    text = f"""{ARGMAX}
ENTRY e {{ x = f32[4,9] parameter(0)
  i = s32[4,9] parameter(1)
  low = f32[] constant(-inf)
  z = s32[] constant(0)
  ROOT r = (f32[4], s32[4]) reduce(x, i, low, z), dimensions={{1}}, to_apply=argmax }}"""
    x = floats(4, 9)
    i = np.broadcast_to(np.arange(9, dtype=np.int32), (4, 9))
    values, indices = check_lowering(text, x, i)
    assert np.array_equal(values, x.max(1)) and np.array_equal(indices, x.argmax(1))


@pytest.mark.parametrize("element_type", ["f16", "bf16", "s8", "u8", "s64", "c64"])
def test_reduce_keeps_the_element_type(element_type):
    dtype = {"f16": "float16", "bf16": "bfloat16", "c64": "complex64"}.get(
        element_type, element_type.replace("s", "int").replace("u", "uint")
    )
    x = (floats(5, 40) * 30).astype(getattr(ml_dtypes, dtype, None) or dtype)
    text = f"""{binary("add", element_type)}
ENTRY e {{ x = {element_type}[5,40] parameter(0)
  z = {element_type}[] parameter(1)
  ROOT r = {element_type}[5] reduce(x, z), dimensions={{1}}, to_apply=f }}"""
    check_lowering(text, x, np.zeros((), x.dtype))


def windowed(window: str, shape: str, result: str, op: str = "add", init: str = "0") -> str:
    return f"""{binary(op, "f32")}
ENTRY e {{ x = f32[{shape}] parameter(0)
  z = f32[] constant({init})
  ROOT r = f32[{result}] reduce-window(x, z), window={{{window}}}, to_apply=f }}"""


def test_padding_holds_the_init_value():
    text = windowed("size=2 pad=1_1", "4", "5", init="10")
    (found,) = check_lowering(text, np.array([1, 2, 3, 4], np.float32))
    assert found.tolist() == [21, 13, 15, 17, 24]


@pytest.mark.parametrize(
    ("window", "result"),
    [
        ("size=2x3", "4,5"),
        ("size=2x2 stride=2x3 pad=1_0x0_2", "3,3"),
        ("size=2x3 pad=-1_0x2_-1 rhs_dilate=2x1", "2,6"),
        ("size=3x2 lhs_dilate=2x3 pad=1_1x0_0", "9,18"),
        ("size=1x1 stride=9x9", "1,1"),
    ],
)
def test_windows_of_all_kinds(window, result):
    x = floats(5, 7)
    for op, init in (("add", "0.25"), ("maximum", "-inf"), ("multiply", "1")):
        check_lowering(windowed(window, "5,7", result, op, init), x)


def test_windows_agree_with_jax():
    jax = pytest.importorskip("jax")
    x = floats(6, 7)
    found = evaluate(module_of(windowed("size=2x3 stride=2x1 pad=1_1x0_2", "6,7", "4,7")), x)
    args = ((2, 3), (2, 1), ((1, 1), (0, 2)))
    expected = jax.lax.reduce_window(x, np.float32(0), jax.lax.add, *args)
    assert np.allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("pad", ["12_0", "0_12"])
@pytest.mark.parametrize(("op", "init"), [("add", "0"), ("maximum", "-inf"), ("add", "0.1")])
def test_running_folds_equal_windows_bit_for_bit(pad, op, init):
    text = windowed(f"size=1x13x1 pad=0_0x{pad}x0_0", "2,13,3", "2,13,3", op, init)
    neutral = init != "0.1"
    assert opdef.get("reduce-window").lowers_by_nest(module_of(text).entry.root) == neutral
    x = floats(2, 13, 3)
    (found,) = check_lowering(text, x)
    low, high = map(int, pad.split("_"))
    padded = np.pad(x, ((0, 0), (low, high), (0, 0)), constant_values=float(init))
    combine = np.maximum if op == "maximum" else np.add
    expected = np.full(x.shape, np.float32(init))
    for k in range(13):
        expected = combine(expected, padded[:, k : k + 13])
    assert np.array_equal(found, expected)


def test_default_mode_runs_suffix_sums_from_the_end():
    text = windowed("size=9 pad=0_8", "9", "9")
    x = floats(9)
    root = module_of(text).entry.root
    (found,) = lowered(root, {root.operands[0]: x}, strict=False)
    assert np.array_equal(found, np.add.accumulate(x[::-1])[::-1])


def test_a_long_cumsum_is_quick():
    n = 200_000
    text = windowed(f"size={n} pad={n - 1}_0", str(n), str(n))
    x = floats(n)
    assert np.array_equal(evaluate(module_of(text), x), np.add.accumulate(x))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("f32[3] reduce(x, x), dimensions={0}, to_apply=add", "an init value is a scalar"),
        ("f32[4] reduce(x, z), dimensions={2}, to_apply=add", "dimension 2 is not one of the 2"),
        ("f32[3] reduce(x, z), dimensions={0,0}, to_apply=add", "dimension 0 is named twice"),
        ("f32[4,3] reduce-window(x, z), window={size=2}, to_apply=add", "window has 1 dimensions"),
    ],
)
def test_wrong_operands_are_explained(operation, message):
    text = f"""{ADD}
ENTRY e {{ x = f32[4,3] parameter(0)
  z = f32[] parameter(1)
  ROOT r = {operation} }}"""
    with pytest.raises(InputError, match=message):
        module = module_of(text)
        root = module.entry.root
        infer = opdef.get(root.op).infer
        assert infer is not None
        infer(tuple(o.shape for o in root.operands), root.attributes)
