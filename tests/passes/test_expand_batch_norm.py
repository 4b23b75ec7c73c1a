"""Batch normalisation written out: the reference's own bits, or its numbers in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.passes.context import PassContext
from ccodegen.passes.expand_batch_norm import expand_batch_norm
from tests.passes.checking import DEFAULT, STRICT, leaves_alone, module, same_bits

VECTORS = "".join(f"v{n} = f32[3] parameter({n})\n" for n in range(1, 5))
INFERENCE = (
    "x = f32[2,3,4] parameter(0)\n" + VECTORS + "ROOT r = f32[2,3,4] batch-norm-inference("
    "x, v1, v2, v3, v4), epsilon=0.001, feature_index=1"
)
TRAINING = (
    "x = f32[2,3,4] parameter(0)\n v1 = f32[3] parameter(1)\n v2 = f32[3] parameter(2)\n"
    "ROOT r = (f32[2,3,4], f32[3], f32[3]) batch-norm-training(x, v1, v2), epsilon=0.001,"
    " feature_index=1"
)
GRAD = (
    "x = f32[2,3,4] parameter(0)\n v1 = f32[3] parameter(1)\n v2 = f32[3] parameter(2)\n"
    "v3 = f32[3] parameter(3)\n g = f32[2,3,4] parameter(4)\n"
    "ROOT r = (f32[2,3,4], f32[3], f32[3]) batch-norm-grad(x, v1, v2, v3, g), epsilon=0.001,"
    " feature_index=1"
)


@pytest.mark.parametrize("text", [INFERENCE, TRAINING, GRAD])
def test_the_expansion_has_the_bits_of_the_reference(text: str) -> None:
    old = module(text)
    new = expand_batch_norm(old, STRICT)
    assert not any(i.op.startswith("batch-norm") for i in new.entry.instructions)
    assert same_bits(old, new)


@pytest.mark.parametrize("context", [STRICT, DEFAULT], ids=["strict", "default"])
def test_what_depends_on_vectors_alone_is_computed_of_them(context: PassContext) -> None:
    new = expand_batch_norm(module(INFERENCE), context)
    wide = [i.op for i in new.entry.instructions if i.array_shape.rank == 3]
    assert "sqrt" not in wide
    assert wide.count("divide") == (1 if context.strict else 0)


def test_a_mean_far_from_zero_cancels_in_default_mode_too() -> None:
    rng = np.random.default_rng(0)
    x = (1e4 + rng.standard_normal((2, 3, 4))).astype(np.float32)
    scale, offset, mean, variance = np.float32([[1, 2, 3], [0, 1, 0], [1e4] * 3, [1, 0.5, 2]])
    results = [
        evaluate(expand_batch_norm(module(INFERENCE), c), x, scale, offset, mean, variance)
        for c in (STRICT, DEFAULT)
    ]
    np.testing.assert_allclose(*results, rtol=1e-6, atol=1e-7)


def test_training_normalises_by_its_own_mean_and_variance() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    scale, offset = np.float32([1, 2, 3]), np.float32([0, 1, 0])
    output, mean, variance = evaluate(
        expand_batch_norm(module(TRAINING), STRICT), x, scale, offset
    )
    np.testing.assert_allclose(mean, x.mean((0, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, x.var((0, 2)), rtol=1e-5)
    wide = (slice(None), None)
    expected = (x - x.mean((0, 2))[wide]) / np.sqrt(x.var((0, 2))[wide] + 0.001)
    np.testing.assert_allclose(output, expected * scale[wide] + offset[wide], rtol=1e-4, atol=1e-5)


def test_other_ops_are_left_alone() -> None:
    leaves_alone("x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x)", expand_batch_norm)
