"""Windows over several dimensions, and long ones, become several short ones."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.split_windows import split_windows
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import load
from tests.passes.checking import module

CONTEXT = PassContext(target=load("x86-64"))
STRICT = PassContext(target=load("x86-64"), strict=True)


def program(
    shape: str, window: str, op: str = "maximum", kind: str = "f32", initial: str = "-inf"
) -> Module:
    return module(
        f"""f {{ p = {kind}[] parameter(0)  q = {kind}[] parameter(1)
          ROOT s = {kind}[] {op}(p, q) }}
        ENTRY e {{ x = {kind}[{shape}] parameter(0)  z = {kind}[] constant({initial})
          ROOT r = reduce-window(x, z), window={{{window}}}, to_apply=f }}"""
    )


def windows(of: Module) -> list[str]:
    found = [i for i in of.entry.instructions if i.op == "reduce-window"]
    return [str(i.attributes.window) for i in found]  # type: ignore[attr-defined]


def given(of: Module) -> np.ndarray:
    shape = of.entry.parameters[0].array_shape
    values = np.random.default_rng(0).integers(-9, 9, shape.dimensions)
    return values.astype(HLO_TYPES[shape.element_type.text].dtype)


@pytest.mark.parametrize(
    ("shape", "window", "count"),
    [
        ("20,30", "size=5x5 pad=2_2x2_2", 2),
        ("20,30", "size=5x4 stride=2x3 pad=1_3x0_2", 2),
        ("4,20,30,3", "size=1x7x7x1 pad=0_0x3_3x3_3x0_0", 2),
        ("9,10,11", "size=3x3x3", 3),
        ("60", "size=31 pad=15_15", 2),
        ("300", "size=9", 2),
        ("300", "size=211 pad=7_100", 4),
        ("300", "size=25 rhs_dilate=3", 2),
        ("300", "size=40 stride=2 pad=-3_5", 3),
        ("40,41", "size=13x13 pad=6_6x6_6", 4),
        ("40,41", "size=12x1 stride=1x2 pad=0_0x1_2", 2),
        ("30,31", "size=4x5 rhs_dilate=2x3", 2),
        ("28,28", "size=7x7 stride=7x7", 2),  # columns of rows that vectors hold
    ],
)
@pytest.mark.parametrize(("op", "initial"), [("maximum", "-inf"), ("minimum", "3")])
def test_extrema(shape: str, window: str, count: int, op: str, initial: str) -> None:
    old = program(shape, window, op, initial=initial)
    new = split_windows(old, STRICT)
    assert len(windows(new)) == count
    x = given(old)
    np.testing.assert_array_equal(evaluate(new, x), evaluate(old, x))
    np.testing.assert_array_equal(ccodegen.compile(old)(x), evaluate(old, x))


def test_nan_and_zeros_reach_as_far_as_before() -> None:
    old = program("16,90", "size=5x31 pad=2_2x15_15")
    x = np.full((16, 90), -0.0, np.float32)
    x[3, 4], x[9, 60] = np.nan, 0.0
    got, want = np.asarray(ccodegen.compile(old)(x)), np.asarray(evaluate(old, x))
    np.testing.assert_array_equal(got, want)
    sure = ~np.isnan(want)
    assert (np.signbit(got) == np.signbit(want))[sure].all()


@pytest.mark.parametrize("kind", ["f32", "f64", "s32", "u8", "bf16"])
def test_sums(kind: str) -> None:
    old = program("20,30", "size=5x5 pad=2_2x2_2", "add", kind, "0")
    new = split_windows(old, CONTEXT)
    assert len(windows(new)) == 2
    x = given(old)
    np.testing.assert_allclose(
        np.asarray(evaluate(new, x)).astype(np.float64), evaluate(old, x).astype(np.float64)
    )


def test_every_other_element_is_in_a_vector_if_it_is_a_word() -> None:
    of_words, of_bytes = (
        program("20,30", "size=2x2 stride=2x2", "add", kind, "0") for kind in ("f32", "s8")
    )
    assert split_windows(of_words, CONTEXT) is of_words
    assert len(windows(split_windows(of_bytes, CONTEXT))) == 2


@pytest.mark.parametrize(
    "old",
    [
        program("20,30", "size=2x2 stride=2x2"),
        program("300", "size=8"),
        program("300", "size=300 pad=299_0"),  # a running maximum
        program("20,30", "size=5x5 pad=2_2x2_2 lhs_dilate=2x1"),
        program("20,30", "size=5x5", "add", initial="1"),
        program("20,30", "size=3x3 stride=2x2", "add", initial="0"),
        program("300", "size=31", "add", initial="0"),
        program("20,30", "size=5x5", "subtract", initial="0"),
        program("0,30", "size=5x5 pad=2_2x2_2"),
    ],
)
def test_what_stays(old: Module) -> None:
    assert split_windows(old, CONTEXT) is old


def test_sums_of_floats_have_one_order_in_strict_mode() -> None:
    of_floats = program("20,30", "size=5x5", "add", initial="0")
    assert split_windows(of_floats, STRICT) is of_floats
    of_integers = program("20,30", "size=5x5", "add", "s32", "0")
    assert len(windows(split_windows(of_integers, STRICT))) == 2


def test_not_without_vectors() -> None:
    old = program("20,30", "size=5x5")
    assert split_windows(old, PassContext(target=load("cortex-m4"))) is old
