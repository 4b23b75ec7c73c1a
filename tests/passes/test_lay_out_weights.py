from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ccodegen.hlo.ir import Module
from ccodegen.hlo.literal import DerivedLiteral
from ccodegen.ops.creation import Constant
from ccodegen.passes.bind_constants import bind_constants
from ccodegen.passes.context import PassContext
from ccodegen.passes.lay_out_weights import lay_out_weights
from ccodegen.target import load
from tests.passes.checking import module, same_bits

HOST = PassContext(target=load("host"))
RANDOM = np.random.default_rng(0)


def dot_with_weights(batch: int, depth: int, columns: int, name: str, dtype: type) -> Module:
    to = {"bf16": "f32", "s8": "s32"}.get(name, name)
    text = f"""x = {name}[{batch},9,{depth}] parameter(0)
        w = {name}[{batch},{depth},{columns}] parameter(1)
        ROOT d = {to}[{batch},9,{columns}] dot(x, w), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
          lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}"""
    weights = RANDOM.integers(-9, 9, (batch, depth, columns)).astype(dtype)
    return bind_constants(module(text), {1: weights}).module


def derived(program: Module) -> list[DerivedLiteral]:
    attributes = [i.attributes for i in program.entry.instructions]
    literals = [a.literal for a in attributes if isinstance(a, Constant)]
    return [literal for literal in literals if isinstance(literal, DerivedLiteral)]


@pytest.mark.parametrize("sizes", [(1, 64, 96), (1, 70, 90), (3, 701, 33), (1, 700, 1500)])
@pytest.mark.parametrize(
    ("name", "dtype"), [("f32", np.float32), ("bf16", ml_dtypes.bfloat16), ("s8", np.int8)]
)
def test_panels_hold_the_weights(sizes: tuple[int, int, int], name: str, dtype: type) -> None:
    before = dot_with_weights(*sizes, name, dtype)
    after = lay_out_weights(before, HOST)
    for literal in derived(after):
        assert literal.array.shape == literal.shape.dimensions  # type: ignore[union-attr]
        assert literal.array.dtype == dtype
    assert name != "f32" or derived(after)
    assert after is before or same_bits(before, after)


def test_equal_weights_give_equal_panels() -> None:
    before = dot_with_weights(1, 64, 96, "f32", np.float32)
    (first,), (second,) = (derived(lay_out_weights(before, HOST)) for _ in range(2))
    (other,) = derived(lay_out_weights(dot_with_weights(1, 64, 96, "f32", np.float32), HOST))
    assert first == second
    assert hash(first) == hash(second)
    assert first != other


def test_no_weights_are_left_alone() -> None:
    for sizes in (1, 0, 96), (1, 64, 0), (0, 64, 96):
        before = dot_with_weights(*sizes, "f32", np.float32)
        assert lay_out_weights(before, HOST) is before
