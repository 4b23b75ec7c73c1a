"""Comparisons: what counts as equal, and how far results may be off."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ccodegen.support.element_type import ElementType
from ccodegen.tolerance import compare, tolerance


def test_tolerances() -> None:
    assert tolerance(ElementType.F32, strict=True) == 0
    assert tolerance(ElementType.S32, strict=False) == 0
    assert tolerance(ElementType.C64, strict=False) == tolerance(ElementType.F32, strict=False)
    assert tolerance(ElementType.F64, False) < tolerance(ElementType.F32, False)
    assert tolerance(ElementType.F8E4M3FN, False) > tolerance(ElementType.BF16, False)


def test_limit_is_relative_to_the_greatest_value() -> None:
    expected = np.array([100, 0, -3], np.float32)
    assert compare(expected + np.float32(0.05), expected, 1e-3).passed
    result = compare(expected + np.float32(0.2), expected, 1e-3)
    assert result.wrong == 3
    assert result.limit == pytest.approx(0.1)


def test_nan_and_infinity_equal_themselves_only() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1])
    assert compare(values, values, 0).passed
    for other in (0.0, np.nan, np.inf):
        result = compare(np.array([other]), np.array([-np.inf]), 1e-3)
        assert not result.passed
        assert result.difference > 0
    assert not compare(np.array([np.nan]), np.array([1.0]), 1e9).passed


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_])
def test_integers_are_equal_or_wrong(dtype: type) -> None:
    assert compare(np.ones(3, dtype), np.ones(3, dtype), 0).passed
    assert compare(np.zeros(3, dtype), np.ones(3, dtype), 1).wrong == 3


def test_complex_narrow_and_empty_arrays() -> None:
    assert compare(np.array([1 + 1e-9j]), np.array([1 + 0j]), 1e-6).passed
    half = np.array([1, 2], ml_dtypes.bfloat16)
    assert compare(half, half, 0).passed
    small = np.array([1, -2], ml_dtypes.int4)
    assert compare(small, small, 0).passed
    assert compare(np.zeros(0), np.zeros(0), 0).passed
