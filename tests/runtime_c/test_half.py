"""Narrow floats: every bit pattern to f32, and many floats back, against ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support.element_type import HLO_TYPES, ElementType
from tests.runtime_c.compiled import FAST, STRICT, call

NARROW = [t for t in HLO_TYPES.values() if t.is_float and t.bits <= 16]


def patterns(element: ElementType) -> Any:
    """All values of the type, as bits."""
    return np.arange(1 << element.bits, dtype=np.uint16 if element.bits == 16 else np.uint8)


def floats(element: ElementType, wide: Any) -> Any:
    """Wide floats at and next to every value and every tie of the type, and random ones."""
    with np.errstate(all="ignore"):
        values = patterns(element).view(element.dtype).astype(wide)
        values = np.sort(values[np.isfinite(values)])
        ties = (values[1:] + values[:-1]) / 2
        near = np.concatenate([values, ties, 2 * values, values / 2])
        near = np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)])
    bits = np.random.default_rng(3).bytes(100_000 * np.dtype(wide).itemsize)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan], wide)
    return np.concatenate([near.astype(wide), np.frombuffer(bits, wide), special])


def assert_same_bits(got: Any, want: Any, element: ElementType) -> None:
    """Equal, where one NaN is as good as another."""
    values = [a.view(element.dtype).astype(np.float32) for a in (got, want)]
    nan = np.isnan(values[0]) & np.isnan(values[1])
    np.testing.assert_array_equal(got[~nan], want[~nan])


@pytest.mark.parametrize("element", NARROW, ids=repr)
def test_to_f32_is_exact_for_every_pattern(element: ElementType) -> None:
    bits = patterns(element)
    want = bits.view(element.dtype).astype(np.float32)
    for flags in (FAST, STRICT):
        got = call(f"ccg_f32_from_{element.text}", bits, flags=flags)
        np.testing.assert_array_equal(got, want)
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(want)[number])


@pytest.mark.parametrize("element", [ElementType.F16, ElementType.BF16], ids=repr)
def test_the_nearest_is_there_and_back(element: ElementType) -> None:
    x = floats(element, np.float32)
    for flags in (FAST, STRICT):
        there = call(f"ccg_{element.text}_from_f32", x, flags=flags)
        back = call(f"ccg_f32_from_{element.text}", there, flags=flags)
        nearest = call(f"ccg_nearest_{element.text}", x, flags=flags)
        np.testing.assert_array_equal(nearest.view(np.uint32), back.view(np.uint32))


@pytest.mark.parametrize("element", [ElementType.F16, ElementType.BF16], ids=repr)
def test_what_is_in_the_type_comes_back_from_f32(element: ElementType) -> None:
    bits = patterns(element)
    for flags in (FAST, STRICT):
        there = call(f"ccg_f32_from_{element.text}", bits, flags=flags)
        back = call(f"ccg_{element.text}_from_exact_f32", there, flags=flags)
        assert_same_bits(back, bits, element)


@pytest.mark.parametrize("element", NARROW, ids=repr)
def test_from_f32_rounds_to_nearest_even(element: ElementType) -> None:
    x = floats(element, np.float32)
    with np.errstate(all="ignore"):
        # Where there is no NaN it becomes a zero, the same one for NaNs of both signs.
        one_nan = np.where(np.isnan(x), np.float32(np.nan), x)
        want = one_nan.astype(element.dtype).view(patterns(element).dtype)
    assert_same_bits(call(f"ccg_{element.text}_from_f32", x), want, element)


@pytest.mark.parametrize("element", [ElementType.F16, ElementType.BF16], ids=repr)
def test_from_f64_rounds_once(element: ElementType) -> None:
    x = floats(element, np.float64)
    with np.errstate(invalid="ignore"):
        values = patterns(element).view(element.dtype).astype(np.float64)
    finite = np.sort(values[np.isfinite(values) & ~np.signbit(values)])
    with np.errstate(all="ignore"):
        got = call(f"ccg_{element.text}_from_f64", x).view(element.dtype).astype(np.float64)
    inside = np.abs(x) <= finite[-1]
    magnitude, result = np.abs(x[inside]), np.abs(got[inside])
    above = np.clip(np.searchsorted(finite, magnitude), 1, finite.size - 1)
    low, high = finite[above - 1], finite[above]
    down, up = magnitude - low, high - magnitude
    want = np.where((down < up) | ((down == up) & (above % 2 == 1)), low, high)
    np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(np.signbit(got[inside]), np.signbit(x[inside]))
    assert np.isnan(got[np.isnan(x)]).all()


def test_nan_stays_a_quiet_nan() -> None:
    signaling = np.array([0x7F800001, 0xFF800001], np.uint32).view(np.float32)
    assert call("ccg_f16_from_f32", signaling).tolist() == [0x7E00, 0xFE00]
    assert call("ccg_bf16_from_f32", signaling).tolist() == [0x7FC0, 0xFFC0]
