"""dot and convolution: against jax over many parameters, and their loops bit for bit."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.verify import verify
from ccodegen.ops.contraction import accumulator_type
from ccodegen.support.errors import InputError
from tests.ops.scope import check_lowering, module_of


def numbers(dtype: str, *shape: int, seed: int = 3) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype.startswith("complex"):
        parts = [random.standard_normal(shape) for _ in range(2)]
        return (parts[0] + 1j * parts[1]).astype(dtype)
    if "int" in dtype:
        low = -100 if not dtype.startswith("u") else 0
        return random.integers(low, 100, shape).astype(dtype)
    return random.standard_normal(shape).astype(getattr(ml_dtypes, dtype, dtype))


def dims(values) -> str:
    return ",".join(map(str, values))


DOTS = [
    ((3, 5), (5, 4), (), (), (1,), (0,)),
    ((5, 3), (4, 5), (), (), (0,), (1,)),
    ((2, 3, 5), (5, 2, 4), (0,), (1,), (2,), (0,)),
    ((2, 3, 5, 7), (7, 3, 5, 2), (), (), (1, 3), (1, 0)),
    ((7,), (7,), (), (), (0,), (0,)),
    ((2, 0), (0, 3), (), (), (1,), (0,)),
    ((2, 3), (4,), (), (), (), ()),
    ((2, 3, 4), (3, 4, 2), (2, 0), (1, 2), (1,), (0,)),
]


@pytest.mark.parametrize("case", DOTS)
def test_dot_agrees_with_jax_and_its_loops(case):
    jax = pytest.importorskip("jax")
    lhs_shape, rhs_shape, lhs_batch, rhs_batch, lhs_dims, rhs_dims = case
    lhs, rhs = numbers("float32", *lhs_shape), numbers("float32", *rhs_shape, seed=4)
    expected = np.asarray(
        jax.lax.dot_general(
            lhs, rhs, ((lhs_dims, rhs_dims), (lhs_batch, rhs_batch)), precision="highest"
        )
    )
    text = f"""ENTRY e {{ x = f32[{dims(lhs_shape)}] parameter(0)
  y = f32[{dims(rhs_shape)}] parameter(1)
  ROOT r = f32[{dims(expected.shape)}] dot(x, y), lhs_batch_dims={{{dims(lhs_batch)}}},
    lhs_contracting_dims={{{dims(lhs_dims)}}}, rhs_batch_dims={{{dims(rhs_batch)}}},
    rhs_contracting_dims={{{dims(rhs_dims)}}} }}"""
    (found,) = check_lowering(text, lhs, rhs)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)


TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "s8": "int8",
    "u8": "uint8", "s32": "int32", "s64": "int64", "c64": "complex64", "c128": "complex128",
}


@pytest.mark.parametrize(
    ("operand", "result", "accumulator"),
    [
        ("f16", "f16", "f32"), ("bf16", "f32", "f32"), ("f64", "f64", "f64"), ("s8", "s8", "s32"),
        ("s8", "s32", "s32"), ("u8", "u8", "u32"), ("s64", "s64", "s64"), ("c64", "c64", "c64"),
        ("c128", "c128", "c128"), ("f32", "f64", "f64"),
    ],
)
def test_dot_sums_in_the_accumulator_type(operand, result, accumulator):
    text = f"""ENTRY e {{ x = {operand}[3,40] parameter(0)
  y = {operand}[40,2] parameter(1)
  ROOT r = {result}[3,2] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"""
    assert accumulator_type(module_of(text).entry.root).text == accumulator
    x, y = numbers(TYPES[operand], 3, 40), numbers(TYPES[operand], 40, 2, seed=5)
    (found,) = check_lowering(text, x, y)
    wide = "int64" if "int" in TYPES[operand] else "complex128"
    expected = x.astype(wide) @ y.astype(wide)
    if wide == "int64":
        assert np.array_equal(found, expected.astype(TYPES[result]))
    else:
        assert np.allclose(found.astype(wide), expected, rtol=2e-2, atol=2e-2)


def convolution(lhs, rhs, result, window, labels, groups="") -> str:
    return f"""ENTRY e {{ x = f32[{dims(lhs)}] parameter(0)
  y = f32[{dims(rhs)}] parameter(1)
  ROOT r = f32[{dims(result)}] convolution(x, y), window={{{window}}}, dim_labels={labels}{groups}
}}"""


WINDOWS = itertools.product(
    [(1, 1), (2, 3)], [((0, 0), (0, 0)), ((2, 1), (-1, 2))], [(1, 1), (2, 3)], [(1, 1), (2, 1)]
)


@pytest.mark.parametrize("reversal", [False, True])
@pytest.mark.parametrize("case", list(WINDOWS))
def test_convolution_windows_agree_with_jax(case, reversal):
    jax = pytest.importorskip("jax")
    stride, padding, lhs_dilation, rhs_dilation = case
    x, y = numbers("float32", 2, 7, 6, 3), numbers("float32", 2, 3, 3, 4)
    expected = np.asarray(
        jax.lax.conv_general_dilated(
            x, y[::-1, ::-1] if reversal else y, stride, padding, lhs_dilation, rhs_dilation,
            ("NHWC", "HWIO", "NHWC"), precision="highest",
        )
    )
    window = (
        f"size=2x3 stride={stride[0]}x{stride[1]} pad="
        + "x".join(f"{low}_{high}" for low, high in padding)
        + f" lhs_dilate={lhs_dilation[0]}x{lhs_dilation[1]}"
        + f" rhs_dilate={rhs_dilation[0]}x{rhs_dilation[1]}"
        + (" rhs_reversal=1x1" if reversal else "")
    )
    text = convolution(x.shape, y.shape, expected.shape, window, "b01f_01io->b01f")
    (found,) = check_lowering(text, x, y)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("lhs", "rhs", "groups"),
    [
        ((2, 5, 6), (3, 3, 4), (2, 1)),
        ((2, 5, 6), (3, 1, 12), (6, 1)),
        ((4, 5, 3), (3, 3, 4), (1, 2)),
        ((4, 5, 3), (3, 3, 4), (1, 4)),
    ],
)
def test_grouped_convolutions_agree_with_jax(lhs, rhs, groups):
    jax = pytest.importorskip("jax")
    x, y = numbers("float32", *lhs), numbers("float32", *rhs)
    expected = np.asarray(
        jax.lax.conv_general_dilated(
            x, y, (1,), [(1, 1)], dimension_numbers=("NHC", "HIO", "NHC"),
            feature_group_count=groups[0], batch_group_count=groups[1], precision="highest",
        )
    )
    text = convolution(
        lhs, rhs, expected.shape, "size=3 pad=1_1", "b0f_0io->b0f",
        f", feature_group_count={groups[0]}, batch_group_count={groups[1]}",
    )
    (found,) = check_lowering(text, x, y)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("labels", ["bf01_oi01->bf01", "f01b_i01o->01bf", "0b1f_o1i0->fb10"])
def test_any_order_of_dimensions(labels):
    lhs_labels, rest = labels.split("_")
    rhs_labels, out_labels = rest.split("->")
    x, y = numbers("float32", 2, 5, 6, 3), numbers("float32", 2, 3, 3, 4)
    plain = evaluate(
        module_of(convolution(x.shape, y.shape, (2, 4, 4, 4), "size=2x3", "b01f_01io->b01f")), x, y
    )
    lhs = x.transpose(["b01f".index(c) for c in lhs_labels])
    rhs = y.transpose(["01io".index(c) for c in rhs_labels])
    expected = plain.transpose(["b01f".index(c) for c in out_labels])
    text = convolution(lhs.shape, rhs.shape, expected.shape, "size=2x3", labels)
    (found,) = check_lowering(text, lhs, rhs)
    assert np.array_equal(found, expected)


def test_convolution_without_spatial_dimensions_is_a_dot():
    x, y = numbers("float32", 3, 5), numbers("float32", 5, 2)
    text = """ENTRY e { x = f32[3,5] parameter(0)
  y = f32[5,2] parameter(1)
  ROOT r = f32[3,2] convolution(x, y), dim_labels=bf_io->bf }"""
    (found,) = check_lowering(text, x, y)
    assert np.allclose(found, x @ y, rtol=1e-5)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("f32[3,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}", r"\[5\] and"),
        ("f32[3,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "dot gives"),
        ("f32[3,2] convolution(x, y), dim_labels=bf_oi->bf", "5 input features"),
        ("f32[3,9] convolution(x, y), dim_labels=bf_io->bf", "convolution gives"),
    ],
)
def test_wrong_operands_are_explained(operation, message):
    text = f"""ENTRY e {{ x = f32[3,5] parameter(0)
  y = f32[5,2] parameter(1)
  ROOT r = {operation} }}"""
    with pytest.raises(InputError, match=message):
        verify(module_of(text))
