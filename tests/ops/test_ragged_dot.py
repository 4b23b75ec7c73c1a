"""ragged-dot in its three modes, three ways and against plain matrix products; scaled-dot."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.support.errors import InputError
from tests.three_ways import check, module_of


def values(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def agrees(text: str, expected: np.ndarray, *arguments: np.ndarray) -> None:
    for strict in (False, True):
        check(text, *arguments, strict=strict)
    assert np.allclose(evaluate(module_of(text), *arguments), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", [[2, 0, 3], [0, 0, 0], [7, 1, 1], [1, -2, 4]])
def test_groups_of_rows_meet_matrices_of_their_own(sizes):
    x, w = values(0, 6, 4), values(1, 3, 4, 5)
    expected, start = np.zeros((6, 5), np.float32), 0
    for group, size in enumerate(np.maximum(sizes, 0)):
        expected[start : start + size] = x[start : start + size] @ w[group]
        start += size
    text = """ENTRY e { x = f32[6,4] parameter(0)
  w = f32[3,4,5] parameter(1)
  g = s32[3] parameter(2)
  ROOT r = f32[6,5] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},
    lhs_ragged_dims={0}, rhs_group_dims={0} }"""
    agrees(text, expected, x, w, np.array(sizes, np.int32))


def test_batches_may_have_sizes_of_their_own():
    x, w = values(0, 2, 6, 4), values(1, 3, 2, 4, 5)
    sizes = np.array([[1, 2, 3], [4, 0, 1]], np.int64)
    expected = np.zeros((2, 6, 5), np.float32)
    for batch in range(2):
        ends = np.cumsum(sizes[batch])
        for row in range(6):
            group = np.searchsorted(ends, row, "right")
            if group < 3:
                expected[batch, row] = x[batch, row] @ w[group, batch]
    text = """ENTRY e { x = f32[2,6,4] parameter(0)
  w = f32[3,2,4,5] parameter(1)
  g = s64[2,3] parameter(2)
  ROOT r = f32[2,6,5] ragged-dot(x, w, g), lhs_batch_dims={0}, rhs_batch_dims={1},
    lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0} }"""
    agrees(text, expected, x, w, sizes)


def test_groups_of_contracted_elements_give_a_result_each():
    x, w = values(0, 3, 7), values(1, 7, 5)
    expected = np.stack([x[:, :2] @ w[:2], x[:, 2:2] @ w[2:2], x[:, 2:6] @ w[2:6]])
    text = """ENTRY e { x = f32[3,7] parameter(0)
  w = f32[7,5] parameter(1)
  g = u8[3] parameter(2)
  ROOT r = f32[3,3,5] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    lhs_ragged_dims={1} }"""
    agrees(text, expected, x, w, np.array([2, 0, 4], np.uint8))


def test_ragged_contracted_elements_may_follow_others():
    x, w = values(0, 2, 3, 4), values(1, 3, 4, 5)
    sizes = np.array([[1, 3], [2, 1], [0, 4]], np.int32)
    expected = np.zeros((2, 2, 5), np.float32)
    for outer in range(3):
        ends = np.cumsum(sizes[outer])
        for inner in range(4):
            group = np.searchsorted(ends, inner, "right")
            if group < 2:
                expected[group] += np.outer(x[:, outer, inner], w[outer, inner])
    text = """ENTRY e { x = f32[2,3,4] parameter(0)
  w = f32[3,4,5] parameter(1)
  g = s32[3,2] parameter(2)
  ROOT r = f32[2,2,5] ragged-dot(x, w, g), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1},
    lhs_ragged_dims={2} }"""
    agrees(text, expected, x, w, sizes)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f64", "s8", "c64"])
def test_ragged_batches_are_a_dot(kind):
    text = f"""ENTRY e {{ x = {kind}[3,2,4] parameter(0)
  w = {kind}[3,4,5] parameter(1)
  g = s32[2] parameter(2)
  ROOT r = {kind}[3,2,5] ragged-dot(x, w, g), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}} }}"""
    check(text, strict=True)


def test_group_sizes_must_fit():
    text = """ENTRY e { x = f32[6,4] parameter(0)
  w = f32[3,4,5] parameter(1)
  g = s32[2] parameter(2)
  ROOT r = f32[6,5] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},
    lhs_ragged_dims={0}, rhs_group_dims={0} }"""
    from ccodegen.hlo.verify import verify

    with pytest.raises(InputError, match="not the sizes of the 3 groups"):
        verify(module_of(text))


def test_scales_are_of_blocks():
    e8m0, e4m3 = ml_dtypes.float8_e8m0fnu, ml_dtypes.float8_e4m3fn
    x, w = values(0, 4, 8).astype(e4m3), values(1, 8, 6).astype(e4m3)
    s, t = (2.0 ** np.arange(-3, 5)).reshape(4, 2).astype(e8m0), np.ones((2, 3), e8m0)
    t[1, 2] = 4
    wide_s = s.astype(np.float32).repeat(4, 1)
    wide_t = t.astype(np.float32).repeat(4, 0).repeat(2, 1)
    expected = (x.astype(np.float32) * wide_s) @ (w.astype(np.float32) * wide_t)
    text = """ENTRY e { x = f8e4m3fn[4,8] parameter(0)
  w = f8e4m3fn[8,6] parameter(1)
  s = f8e8m0fnu[4,2] parameter(2)
  t = f8e8m0fnu[2,3] parameter(3)
  ROOT r = f32[4,6] scaled-dot(x, w, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    agrees(text, expected, x, w, s, t)


def test_scales_may_be_scalars():
    x, w = values(0, 2, 4, 8), values(1, 2, 5, 8)
    text = """ENTRY e { x = f32[2,4,8] parameter(0)
  w = f32[2,5,8] parameter(1)
  s = f32[] parameter(2)
  t = f32[2,5,1] parameter(3)
  ROOT r = f32[2,4,5] scaled-dot(x, w, s, t), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={2} }"""
    t = values(2, 2, 5, 1)
    agrees(text, np.einsum("bmk,bnk->bmn", 3 * x, w * t), x, w, np.float32(3), t)
