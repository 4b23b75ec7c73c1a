"""gather and scatter: clamping, dropping, duplicates, batching, several operands."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.support.errors import InputError
from tests.three_ways import check

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = add(a, b) }\n"
PUT = "put { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }\n"
X = np.arange(12, dtype=np.float32).reshape(4, 3)

ROWS = """ENTRY e { x = f32[4,3] parameter(0)  i = s32[5] parameter(1)
  ROOT r = gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,3} }"""
POINTS = """ENTRY e { x = f32[4,3] parameter(0)  i = u8[2,2,6] parameter(1)
  ROOT r = gather(x, i), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1,0},
    index_vector_dim=1, slice_sizes={2,1} }"""
BATCHED = """ENTRY e { x = f32[4,3] parameter(0)  i = s64[2,4] parameter(1)
  ROOT r = gather(x, i), offset_dims={2}, collapsed_slice_dims={}, start_index_map={1},
    index_vector_dim=2, slice_sizes={1,2}, operand_batching_dims={0},
    start_indices_batching_dims={1} }"""
SCATTER_ROWS = """ENTRY e { x = f32[4,3] parameter(0)  i = s32[5] parameter(1)
  u = f32[5,3] parameter(2)
  ROOT r = scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=F }"""
SCATTER_WINDOWS = """ENTRY e { x = f32[4,3] parameter(0)  i = s8[2,6] parameter(1)
  u = f32[2,6,2] parameter(2)
  ROOT r = scatter(x, i, u), update_window_dims={0,2}, inserted_window_dims={},
    scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=F }"""
SCATTER_BATCHED = """ENTRY e { x = f32[4,3] parameter(0)  i = s32[2,4,1] parameter(1)
  u = f32[2,4] parameter(2)
  ROOT r = scatter(x, i, u), update_window_dims={}, inserted_window_dims={1},
    scatter_dims_to_operand_dims={1}, index_vector_dim=2, input_batching_dims={0},
    scatter_indices_batching_dims={1}, to_apply=F }"""
SEVERAL = """
both { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)
  d = s32[] parameter(3)  m = maximum(a, c)  n = add(b, d)  ROOT r = tuple(m, n) }
ENTRY e { x = f32[4] parameter(0)  y = s32[4] parameter(1)  i = s32[6,1] parameter(2)
  u = f32[6] parameter(3)  v = s32[6] parameter(4)
  ROOT r = scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both }"""


def run(text, *arguments):
    return evaluate(parse(f"HloModule m\n{text}"), *arguments)


def test_gathered_rows_are_clamped():
    rows = np.array([0, 3, -5, 9, 1], np.int32)
    assert np.array_equal(run(ROWS, X, rows), X[[0, 3, 0, 3, 1]])


def test_gathered_windows_are_clamped_as_a_whole():
    i = np.zeros((2, 2, 6), np.uint8)
    i[0, :, 0] = (2, 3)
    found = run(POINTS, X, i)
    assert found.shape == (2, 6, 2)
    assert found[0, 0].tolist() == [X[2, 2], X[3, 2]]


def test_gather_with_batching_dimensions():
    i = np.array([[0, 1, 5, -1], [1, 1, 0, 0]])
    expected = [[X[b, s : s + 2] for b, s in enumerate(row)] for row in np.clip(i, 0, 1)]
    assert np.array_equal(run(BATCHED, X, i), expected)


def test_duplicates_accumulate_and_what_is_out_of_bounds_is_dropped():
    i = np.array([1, 1, 4, -1, 0], np.int32)
    u = np.ones((5, 3), np.float32)
    added = run(ADD + SCATTER_ROWS.replace("F", "add"), X, i, u)
    expected = X.copy()
    np.add.at(expected, [1, 1, 0], 1)
    assert np.array_equal(added, expected)


def test_the_last_of_two_wins():
    i = np.array([2, 2, 2, 9, 9], np.int32)
    u = np.arange(15, dtype=np.float32).reshape(5, 3)
    assert np.array_equal(run(PUT + SCATTER_ROWS.replace("F", "put"), X, i, u)[2], u[2])


def test_a_window_out_of_bounds_in_part_is_dropped_whole():
    i = np.full((2, 6), 100, np.int8)
    i[:, 0] = (2, 1)  # column 2, rows 1 and 2; two columns do not fit
    u = np.ones((2, 6, 2), np.float32)
    assert np.array_equal(run(ADD + SCATTER_WINDOWS.replace("F", "add"), X, i, u), X)
    i[:, 0] = (1, 2)
    expected = X.copy()
    expected[2:4, 1:3] += 1
    assert np.array_equal(run(ADD + SCATTER_WINDOWS.replace("F", "add"), X, i, u), expected)


def random_integers(shape, dtype, low=-2, high=6):
    return np.random.default_rng(3).integers(low, high, shape).astype(dtype)


def random_floats(*shape):
    return np.random.default_rng(4).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (ROWS, (X, random_integers(5, np.int32))),
        (POINTS, (X, random_integers((2, 2, 6), np.uint8, 0, 250))),
        (BATCHED, (X, random_integers((2, 4), np.int64))),
        (ADD + SCATTER_ROWS.replace("F", "add"),
         (X, random_integers(5, np.int32), random_floats(5, 3))),
        (PUT + SCATTER_WINDOWS.replace("F", "put"),
         (X, random_integers((2, 6), np.int8), random_floats(2, 6, 2))),
        (ADD + SCATTER_BATCHED.replace("F", "add"),
         (X, random_integers((2, 4, 1), np.int32), random_floats(2, 4))),
        (SEVERAL,
         (X[0, [0, 1, 2, 2]], np.arange(4, dtype=np.int32), random_integers((6, 1), np.int32),
          random_floats(6), random_integers(6, np.int32))),
    ],
)  # fmt: skip
def test_three_ways(text, arguments):
    check(text, *arguments, strict=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROWS.replace("slice_sizes={1,3}", "slice_sizes={1,4}"), "a slice of 4 does not fit"),
        (ROWS.replace("slice_sizes={1,3}", "slice_sizes={1}"), "1 slice sizes"),
        (ROWS.replace("start_index_map={0}", "start_index_map={0,1}"), "an index vector of"),
        (ROWS.replace("offset_dims={1}", "offset_dims={2}"), "dimension 2 is not one of the 2"),
        (ROWS.replace("s32[5]", "f32[5]"), "gather takes integer indices"),
        (PUT + SCATTER_ROWS.replace("F", "put").replace("f32[5,3]", "f32[6,3]"),
         "have .6. windows"),
        (PUT + SCATTER_ROWS.replace("F", "put").replace("window_dims={0}", "window_dims={}"),
         "1 update_window_dims for 2"),
    ],
)  # fmt: skip
def test_wrong_dimension_numbers_are_the_users_error(text, message):
    with pytest.raises(InputError, match=message):
        verify(parse(f"HloModule m\n{text}"))
