"""Elementwise ops and conversions: shapes, references, and the lowering against them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.support.errors import InputError
from tests.three_ways import check

SHAPES = [(), (1,), (7,), (0, 3), (2, 3, 5)]


def run(body, *arguments):
    return evaluate(parse(f"HloModule m\nENTRY e {{ {body} }}"), *arguments)


def dims(shape):
    return ",".join(map(str, shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_all_shapes(shape):
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 3
    b = np.cos(a).astype(np.float32)
    d = dims(shape)
    text = f"a = f32[{d}] parameter(0)  b = f32[{d}] parameter(1)"
    assert np.array_equal(run(f"{text}  ROOT r = add(a, b)", a, b), a + b)
    assert np.array_equal(run(f"{text}  ROOT r = compare(a, b), direction=LE", a, b), a <= b)
    found = run(f"{text}  p = compare(a, b), direction=GT  ROOT r = select(p, a, b)", a, b)
    assert np.array_equal(found, np.where(a > b, a, b))


def test_scalars_choose_and_limit_whole_arrays():
    a = np.array([-4, 0.5, np.nan], np.float32)
    low, high = np.float32(-1), np.float32(1)
    text = "l = f32[] parameter(0)  a = f32[3] parameter(1)  h = f32[] parameter(2)"
    found = run(f"{text}  ROOT r = clamp(l, a, h)", np.asarray(low), a, np.asarray(high))
    assert np.array_equal(found, np.clip(a, low, high), equal_nan=True)
    text = "p = pred[] parameter(0)  a = f32[3] parameter(1)  b = f32[3] parameter(2)"
    assert run(f"{text}  ROOT r = select(p, a, b)", np.asarray(True), -a, a)[0] == 4


@pytest.mark.parametrize("element", ["f8e5m2", "f8e4m3", "f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("limit", ["0", "-0", "1.5", "-inf"])
def test_known_limits(element, limit):
    """Of all numbers of 8 bits, alone and with what rounds or does not round behind it."""
    a = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2).astype(HLO_TYPES[element].dtype)
    known = f"a = {element}[256] parameter(0)  k = {element}[] constant({limit})"
    known += f"  l = {element}[256] broadcast(k), dimensions={{}}"
    for value in ("maximum(a, l)", "maximum(l, a)", "minimum(a, l)", "minimum(l, a)"):
        check(f"HloModule m\nENTRY e {{ {known}  ROOT r = {value} }}", a)
        check(f"HloModule m\nENTRY e {{ {known}  m = {value}  ROOT r = add(m, a) }}", a)
        check(f"HloModule m\nENTRY e {{ {known}  b = {value}  ROOT r = negate(b) }}", a)
    high = f"h = {element}[] constant(2)"
    check(f"HloModule m\nENTRY e {{ {known}  {high}  ROOT r = clamp(k, a, h) }}", a)


def test_total_order_places_nans_and_zeros():
    order = np.array([-np.nan, -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], np.float32)
    a, b = np.repeat(order, 8), np.tile(order, 8)
    found = run(
        "a = f32[64] parameter(0)  b = f32[64] parameter(1)"
        "  ROOT r = compare(a, b), direction=LT, type=TOTALORDER", a, b,
    )
    assert np.array_equal(found, np.repeat(np.arange(8), 8) < np.tile(np.arange(8), 8))


def test_the_parts_of_a_real_number():
    a = np.array([1, np.inf], np.float32)
    text = "a = f32[2] parameter(0)"
    assert np.array_equal(run(f"{text}  ROOT r = real(a)", a), a)
    assert np.array_equal(run(f"{text}  ROOT r = imag(a)", a), [0, 0])


def test_reduce_precision_rounds_to_a_grid():
    a = np.array([1.0009766, 65519, 65520, 1e-8, np.nan], np.float32)
    found = run(
        "a = f32[5] parameter(0)  ROOT r = reduce-precision(a), exponent_bits=5, mantissa_bits=10",
        a,
    )
    normal = np.array([1.0009766, 65504, np.inf, 0, np.nan], np.float32)
    # What is denormal in the smaller type gives zero.
    assert np.array_equal(found, normal, equal_nan=True)


def test_bits_of_other_widths():
    wide = np.array([[0x04030201, -1]], np.int32)
    narrow = run("a = s32[1,2] parameter(0)  ROOT r = u8[1,2,4] bitcast-convert(a)", wide)
    assert narrow[0, 0].tolist() == [1, 2, 3, 4]
    back = run("a = u8[1,2,4] parameter(0)  ROOT r = s32[1,2] bitcast-convert(a)", narrow)
    assert np.array_equal(back, wide)
    nibbles = np.array([[1, -1]], ml_dtypes.int4)
    byte = run("a = s4[1,2] parameter(0)  ROOT r = u8[1] bitcast-convert(a)", nibbles)
    assert byte.tolist() == [0xF1]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a = f32[2] parameter(0)  b = f32[3] parameter(1)  ROOT r = f32[2] add(a, b)",
         r"add takes operands of one shape, not f32\[2\], f32\[3\]"),
        ("a = s32[2] parameter(0)  ROOT r = s32[2] tanh(a)", "tanh: it is not defined for s32"),
        ("a = f32[2] parameter(0)  ROOT r = f32[2] compare(a, a), direction=LT",
         r"compare gives pred\[2\]"),
        ("a = f32[2] parameter(0)  ROOT r = pred[2] compare(a, a), direction=UP",
         "direction is one of EQ, NE, LT, LE, GT, GE, not UP"),
        ("a = f32[2] parameter(0)  ROOT r = s32[3] convert(a)", "keeps the dimensions"),
        ("a = f32[2] parameter(0)  ROOT r = u8[2] bitcast-convert(a)", r"dimensions \[2, 4\]"),
        ("a = f32[2] parameter(0)  b = s8[2] parameter(1)  ROOT r = f32[2] select(b, a, a)",
         "select chooses by a pred"),
    ],
)
def test_wrong_operands_are_the_users_error(body, message):
    with pytest.raises(InputError, match=message):
        verify(parse(f"HloModule m\nENTRY e {{ {body} }}"))


UNARY_FLOAT = (
    "abs ceil cbrt cosine erf exponential exponential-minus-one floor log log-plus-one logistic "
    "negate round-nearest-afz round-nearest-even rsqrt sign sine sqrt tan tanh acos asinh"
)
BINARY = "add subtract multiply divide maximum minimum remainder power"
INTEGER = "and or xor shift-left shift-right-arithmetic shift-right-logical mulhi"


def everything(t, count, unary, binary):
    """A module whose result has each op's."""
    lines = [f"a = {t}[{count}] parameter(0)", f"b = {t}[{count}] parameter(1)"]
    lines += [f"u{n} = {op}(a)" for n, op in enumerate(unary)]
    lines += [f"v{n} = {op}(a, b)" for n, op in enumerate(binary)]
    lines += [f"w{n} = {to}[{count}] convert(a)" for n, to in enumerate(("f64", "s8", "pred"))]
    names = [line.split(" ")[0] for line in lines[2:]]
    return "\n".join(["ENTRY e {", *lines, f"ROOT r = tuple({', '.join(names)})", "}"])


@pytest.mark.parametrize("t", ["f32", "f64", "bf16", "f16"])
def test_floats_three_ways(t):
    dtype = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": ml_dtypes.bfloat16}[t]
    special = np.array([0.0, -0.0, 1, -1, 0.5, 2.5, -7, 1e-30, 3e4, np.inf, -np.inf, np.nan])
    a, b = (x.reshape(-1).astype(dtype) for x in np.meshgrid(special, special))
    check(everything(t, a.size, UNARY_FLOAT.split(), BINARY.split()), a, b, strict=True)


@pytest.mark.parametrize("t", ["s8", "u16", "s32", "u64", "s4"])
def test_integers_three_ways(t):
    dtype = ml_dtypes.int4 if t == "s4" else f"{'i' if t[0] == 's' else 'u'}{int(t[1:]) // 8}"
    bits, signed = int(t[1:]), t[0] == "s"
    least, most = (-(2 ** (bits - 1)) if signed else 0), 2 ** (bits - signed) - 1
    values = sorted({v for v in (least, -3, -1, 0, 1, 2, 5, bits, most) if least <= v <= most})
    held = np.array(values, np.int64 if signed else np.uint64).astype(dtype)
    a, b = (x.reshape(-1) for x in (np.repeat(held, len(held)), np.tile(held, len(held))))
    unary = ["abs", "negate", "not", "popcnt", "sign", "count-leading-zeros"]
    check(everything(t, a.size, unary, (BINARY + " " + INTEGER).split()), a, b, strict=True)


def test_bits_three_ways():
    check(
        """ENTRY e { a = s32[3,4] parameter(0)  b = u8[3,8] parameter(1)  c = s4[5,2] parameter(2)
          p = f32[3,4] bitcast-convert(a)  q = s16[3,4,2] bitcast-convert(a)
          r = f64[3] bitcast-convert(b)  s = u8[5] bitcast-convert(c)
          t = s4[5,2] bitcast-convert(s)
          x = f16[3,4] reduce-precision(f16[3,4] convert(p)), exponent_bits=4, mantissa_bits=3
          ROOT o = tuple(p, q, r, s, t, x) }""",
        np.arange(12, dtype=np.int32).reshape(3, 4) * 0x09234567,
        np.arange(24, dtype=np.uint8).reshape(3, 8),
        np.arange(10).reshape(5, 2).astype(ml_dtypes.int4),
        strict=True,
    )


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("t", ["f32", "f64"])
def test_limits_that_the_compiler_knows(t, strict):
    special = [0.0, -0.0, 1, -1, 6, 1e-40, np.inf, -np.inf, np.nan]
    lines = [f"a = {t}[36] parameter(0)"]
    for n, limit in enumerate(["0", "-0", "6", "-1", "inf", "-inf", "nan"]):
        lines.append(f"s{n} = {t}[] constant({limit})")
        lines.append(f"c{n} = {t}[36] broadcast(s{n}), dimensions={{}}")
        for op in ("maximum", "minimum"):
            lines += [f"{op}{n} = {t}[36] {op}(a, c{n})", f"{op}_{n} = {t}[36] {op}(c{n}, a)"]
    lines.append(f"both = {t}[36] minimum(maximum0, c2)")
    names = [word for line in lines for word in line.split(" ")[:1] if word[0] in "mb"]
    given = np.tile(np.array(special), 4).astype({"f32": "f4", "f64": "f8"}[t])
    body = "\n".join([*lines, f"ROOT r = tuple({', '.join(names)})"])
    check(f"ENTRY e {{ {body} }}", given, strict=strict)
