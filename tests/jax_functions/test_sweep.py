"""The tool that measures the errors of functions that JAX writes out, and the table it makes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("scipy")

from ccodegen.commands.expansions import EXPANSIONS, WHY, Measured
from tests.jax_functions import sweep

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("got", "wanted", "ulp"),
    [
        (1.0, 1.0 + 2.0**-25, []),
        (1.0, 1.0 + 2.0**-22, [2]),
        (0.5, 0.5 + 2.0**-22, [4]),
        (NAN, NAN, []),
        (NAN, 1.0, [INF]),
        (1.0, NAN, [INF]),
        (3.0, INF, [INF]),
        (INF, 1e300, []),
        (INF, 2.0**128 - 2.0**105, [2]),
        (0.0, 2.0**-148, [2]),
        (-0.0, 0.0, []),
    ],
)
def test_errors(got: float, wanted: float, ulp: list[float]) -> None:
    found = sweep.errors(np.ones(1, np.float32), np.float32([got]), np.float64([wanted]))
    assert found.ulp.tolist() == ulp


def test_denormal_arguments_and_results_count_apart() -> None:
    arguments = np.float32([1, 1, 1e-40, 0])
    found = sweep.errors(arguments, np.float32([2, 1e-40, 2, 2]), np.float64([1, 1.5e-40, 1, 1]))
    assert found.normal.tolist() == [True, False, False, True]


def test_blocks_hold_every_nth_bit_pattern() -> None:
    step = 2**31 // sweep.BLOCK + 1
    bits = np.concatenate([block.view(np.uint32) for block in sweep.blocks(step)])
    assert np.array_equal(np.unique(bits), np.arange(0, 2**32, step))


def test_row_is_a_line_of_the_table() -> None:
    found = Measured("jax.lax.erfc", 56.1391, 8.0, 0.125, 1e5 + 1, 0.5, 41)
    text = '    Measured("jax.lax.erfc", 56.2, 8, 0.12, 1.01e+05, 0.5, 41),'
    assert sweep.row(found) == text


def test_the_table_has_every_function_and_the_reasons() -> None:
    assert [found.function for found in EXPANSIONS] == list(sweep.EXPANSIONS)
    assert {found.function for found in EXPANSIONS if found.ulp > 4} == WHY.keys()


@pytest.mark.parametrize("function", ["jax.lax.erf_inv", "jax.numpy.log2"])
def test_a_sample_of_those_in_the_table_stays_within_it(function: str) -> None:
    stated = next(row for row in EXPANSIONS if row.function == function)
    found = sweep.measure(function, step=stated.step * (2**32 // sweep.BLOCK // stated.step + 1))
    assert found.ulp <= stated.ulp and found.denormal_ulp <= stated.denormal_ulp
