"""The tool that measures errors: a few functions on a coarse sample stay within their bounds."""

from __future__ import annotations

import pytest

from ccodegen.support.accuracy import stated_bounds
from tests.runtime_c.sweep import sweep


@pytest.mark.parametrize("function", ["exp", "sin", "round_nearest_afz"])
def test_a_sample_of_all_f32_arguments(function: str) -> None:
    found = sweep(function, "f32", ["0", str(2**32), "100003"])
    bound = stated_bounds().get((function, "f32"))
    limits = (bound.default, bound.strict) if bound else (0.0, 0.0)
    assert all(f.error <= limit for f, limit in zip(found, limits, strict=True))


@pytest.mark.parametrize("function", ["atan2", "remainder"])
def test_special_and_drawn_pairs_of_f64(function: str) -> None:
    found = sweep(function, "f64", ["20000"])
    bound = stated_bounds().get((function, "f64"))
    limits = (bound.default, bound.strict) if bound else (0.0, 0.0)
    assert all(f.error <= limit for f, limit in zip(found, limits, strict=True))
