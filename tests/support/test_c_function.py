"""The interpreter of runtime_c gives the bits of the compiled functions in strict mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ccodegen.support import c_function
from tests.runtime_c import compiled
from tests.runtime_c.run_all import arguments

NAMES = sorted(compiled.public_functions())


def assert_same_bits(got: Any, want: Any) -> None:
    """Equal, where one NaN is as good as another."""
    assert got.dtype == want.dtype
    if got.dtype.kind == "c":
        assert_same_bits(got.real.copy(), want.real.copy())
        assert_same_bits(got.imag.copy(), want.imag.copy())
        return
    if got.dtype.kind == "f":
        assert (np.isnan(got) == np.isnan(want)).all()
        got, want = np.nan_to_num(got), np.nan_to_num(want)
        assert (np.signbit(got) == np.signbit(want)).all()
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_interpreter_and_compiled_code_agree(name: str) -> None:
    operands = arguments(name, 20_000)
    if operands is None:
        pytest.skip("a helper with limited operands")
    want = compiled.call(name, *operands, flags=compiled.STRICT)
    assert_same_bits(np.asarray(c_function.call(name, *operands)), want)


def test_scalars_and_shapes() -> None:
    assert c_function.call("ccg_exp_f32", np.float32(0)).shape == ()
    column, one = np.zeros((2, 1), np.float32), np.float32(1)
    assert c_function.call("ccg_maximum_f32", column, one).shape == (2, 1)
    assert c_function.call("ccg_exp_f32", np.zeros((0, 3), np.float32)).shape == (0, 3)
