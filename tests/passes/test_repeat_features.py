"""Depthwise convolutions with several results for each feature."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.repeat_features import repeat_features
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites

CONTEXT = PassContext(target=load("x86-64"), strict=True)
X = "x = f32[2,6,5,3] parameter(0)\n"


def convolution(x: str, kernel: str, groups: int, labels: str = "b01f_01io->b01f") -> str:
    return (
        f"k = {kernel} parameter(1)\n ROOT c = f32[2,5,4,6] convolution({x}, k),"
        f" window={{size=2x2}}, dim_labels={labels}, feature_group_count={groups}"
    )


def test_each_feature_stands_as_often_as_it_has_results() -> None:
    rewrites(
        X + convolution("x", "f32[2,2,1,6]", 3),
        X + "b = f32[2,6,5,3,2] broadcast(x), dimensions={0,1,2,3}\n"
        "r = f32[2,6,5,6] reshape(b)\n" + convolution("r", "f32[2,2,1,6]", 6),
        repeat_features,
        CONTEXT,
    )


@pytest.mark.parametrize(
    ("x", "kernel", "groups", "labels"),
    [
        ("f32[2,6,5,6]", "f32[2,2,1,6]", 6, "b01f_01io->b01f"),  # one result
        ("f32[2,6,5,6]", "f32[2,2,2,6]", 3, "b01f_01io->b01f"),  # two features
        ("f32[2,6,5,1]", "f32[2,2,1,6]", 1, "b01f_01io->b01f"),  # no groups
        ("f32[2,3,6,5]", "f32[2,2,1,6]", 3, "bf01_01io->b01f"),  # not last
    ],
)
def test_what_stays(x: str, kernel: str, groups: int, labels: str) -> None:
    text = f"x = {x} parameter(0)\n {convolution('x', kernel, groups, labels)}"
    leaves_alone(text, repeat_features, CONTEXT)


def test_not_without_vectors() -> None:
    context = PassContext(target=load("cortex-m4"))
    leaves_alone(X + convolution("x", "f32[2,2,1,6]", 3), repeat_features, context)
