"""Transposed convolutions without the zeros in their inputs: the same sums."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.text import to_text
from ccodegen.hlo.verify import verify
from ccodegen.passes import split_dilated as splitting
from ccodegen.passes.context import PassContext
from ccodegen.passes.pipelines import COMPILATION, run
from ccodegen.passes.split_dilated import split_dilated
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, leaves_alone, module

PC = PassContext(target=load("x86-64"))
LABELS = "b01f_01io->b01f"


def program(x: str, k: str, y: str, window: str, labels: str = LABELS) -> str:
    return (
        f"x = {x} parameter(0)  k = {k} parameter(1)\n"
        f"ROOT y = {y} convolution(x, k), window={{{window}}}, dim_labels={labels}"
    )


PROGRAMS = {
    "even": program(
        "f32[2,5,7,3]", "f32[4,4,3,6]", "f32[2,10,14,6]", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2"
    ),
    "other rates": program(
        "f32[1,4,5,2]", "f32[3,2,2,3]", "f32[1,9,12,3]", "size=3x2 pad=2_2x1_-1 lhs_dilate=2x3"
    ),
    "one dimension": program(
        "f32[1,4,9,2]", "f32[3,3,2,3]", "f32[1,10,3,3]",
        "size=3x3 stride=1x2 pad=0_2x1_0 lhs_dilate=3x1 rhs_dilate=1x2",
    ),
    "fewer elements than phases": program(
        "f32[1,4,5,2]", "f32[1,1,2,3]", "f32[1,10,13,3]", "size=1x1 pad=0_0x0_0 lhs_dilate=3x3"
    ),
    "cropped": program(
        "f32[1,6,6,2]", "f32[3,3,2,3]", "f32[1,6,8,3]", "size=3x3 pad=-3_0x0_-1 lhs_dilate=2x2"
    ),
    "reversed, features first": program(
        "s32[2,3,4,5]", "s32[3,6,3,4]", "s32[2,6,8,11]",
        "size=3x4 pad=1_2x2_3 lhs_dilate=2x2 rhs_reversal=1x1", "bf01_io01->bf01",
    ),
    "groups": program(
        "f64[1,5,4]", "f64[5,1,4]", "f64[1,18,4]", "size=5 pad=1_4 lhs_dilate=4", "b0f_0io->b0f"
    ) + ", feature_group_count=4",
    "three": program(
        "f32[1,2,3,2,2]", "f32[2,3,3,2,2]", "f32[1,4,3,5,2]",
        "size=2x3x3 pad=1_1x1_1x2_2 lhs_dilate=2x1x2", "b012f_012io->b012f",
    ),
}


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_LEAST_WORK", 1)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_sums(name: str) -> None:
    old = module(PROGRAMS[name])
    new = split_dilated(old, PC)
    verify(new)
    assert "lhs_dilate" not in to_text(new)
    random = np.random.default_rng(1)
    arguments = [
        (random.standard_normal(p.array_shape.dimensions) * 9).astype(
            p.array_shape.element_type.dtype
        )
        for p in old.entry.parameters
    ]
    expected = evaluate(old, *arguments)
    np.testing.assert_allclose(evaluate(new, *arguments), expected, rtol=1e-4, atol=1e-3)
    compiled = ccodegen.compile(old)(*arguments)
    np.testing.assert_allclose(compiled, expected, rtol=1e-4, atol=1e-3)


def test_its_features_come_last() -> None:
    """Before it is written as several, whose results would be turned there and back."""
    labels = "bf01_oi01->bf01"
    old = module(
        "x = f32[1,64,40,40] parameter(0)  k = f32[32,64,4,4] parameter(1)\n"
        "c = f32[1,32,80,80] convolution(x, k), window={size=4x4 pad=2_2x2_2 lhs_dilate=2x2},"
        f" dim_labels={labels}\n"
        "t = f32[1,32,80,80] tanh(c)  l = f32[8,32,3,3] parameter(2)\n"
        "ROOT d = f32[1,8,80,80] convolution(t, l), window={size=3x3 pad=1_1x1_1},"
        f" dim_labels={labels}"
    )
    new = run(old, COMPILATION, PC)
    turned = [
        i.operands[0].array_shape.size
        for computation in new.computations
        for i in computation.instructions
        if i.op == "transpose" and i.array_shape.rank == 4
    ]
    assert sorted(size for size in turned if size > 32 * 64 * 16) == [8 * 80 * 80, 64 * 40 * 40]


@pytest.mark.parametrize(
    "stays",
    [
        program("f32[1,8,8,2]", "f32[3,3,2,3]", "f32[1,6,6,3]", "size=3x3"),
        program("f32[1,8,2]", "f32[3,2,3]", "f32[1,7,3]", "size=3 stride=2 lhs_dilate=2",
                "b0f_0io->b0f"),
        program("f32[1,8,2]", "f32[2,2,3]", "f32[1,118,3]", "size=2 lhs_dilate=17",
                "b0f_0io->b0f"),
        program("f32[1,0,2]", "f32[2,2,3]", "f32[1,1,3]", "size=2 pad=1_1 lhs_dilate=2",
                "b0f_0io->b0f"),
        PROGRAMS["even"] + ", control-predecessors={x}",
    ],
)
def test_what_stays(stays: str) -> None:
    leaves_alone(stays, split_dilated, PC)


def test_little_work_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_LEAST_WORK", 1 << 20)
    leaves_alone(PROGRAMS["even"], split_dilated, PC)


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT)
def test_not_without_vectors_or_strict(context: PassContext) -> None:
    leaves_alone(PROGRAMS["even"], split_dilated, context)
