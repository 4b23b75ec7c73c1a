"""scan: carries from turn to turn; and the references of batch normalisation."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from tests.ops.scope import check_lowering, module_of

STEP = """
step {{ x = f32[{0}] parameter(0)
       c = f32[{0}] parameter(1)
       p = f32[{0}] multiply(x, c)
       n = f32[{0}] add(p, x)
       ROOT t = (f32[{0}], f32[{0}]) tuple(p, n) }}
"""


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dimension", [0, 1])
def test_scan_carries_from_slice_to_slice(dimension, reverse):
    x = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)
    rows = np.moveaxis(x, dimension, 0)
    carry = np.full(rows.shape[1], 0.5, np.float32)
    text = f"""{STEP.format(len(carry))}
ENTRY e {{ x = f32[3,5] parameter(0)
  c = f32[{len(carry)}] parameter(1)
  ROOT r = (f32[3,5], f32[{len(carry)}]) scan(x, c), dimensions={{{dimension}}}, num_carries=1,
    is_reverse={str(reverse).lower()}, to_apply=step }}"""
    outputs, last = check_lowering(text, x, carry)
    order = range(len(rows))
    for turn in reversed(order) if reverse else order:
        assert np.array_equal(np.moveaxis(outputs, dimension, 0)[turn], rows[turn] * carry)
        carry = rows[turn] * carry + rows[turn]
    assert np.array_equal(last, carry)


def test_batch_norm_training_normalises_each_feature():
    x = np.random.default_rng(2).standard_normal((4, 3, 5)).astype(np.float32)
    ones, zeros = np.ones(3, np.float32), np.zeros(3, np.float32)
    text = """ENTRY e { x = f32[4,3,5] parameter(0)
  s = f32[3] parameter(1)
  o = f32[3] parameter(2)
  ROOT r = (f32[4,3,5], f32[3], f32[3]) batch-norm-training(x, s, o), epsilon=0.001,
    feature_index=1 }"""
    y, mean, variance = evaluate(module_of(text), x, ones, zeros)
    assert np.allclose(mean, x.mean((0, 2)), atol=1e-6)
    assert np.allclose(variance, x.var((0, 2)), atol=1e-6)
    expected = (x - x.mean((0, 2))[:, None]) / np.sqrt(x.var((0, 2))[:, None] + 0.001)
    assert np.allclose(y, expected, atol=1e-5)
