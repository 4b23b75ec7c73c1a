"""Convolutions of narrow floats to few features: the same bits, from an image of f32."""

from __future__ import annotations

import pytest

from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.few_features_in_f32 import few_features_in_f32
from ccodegen.target import load
from tests.passes.checking import module, same_bits
from tests.three_ways import check

VECTORS = PassContext(target=load("x86-64"))


def convolution(types: str, features: int = 3, window: str = "3x3") -> Module:
    """`types`: of image, kernel and result."""
    left, right, result = types.split()
    height, width = map(int, window.split("x"))
    return module(f"""
      x = {left}[2,9,11,20] parameter(0)
      k = {right}[{height},{width},20,{features}] parameter(1)
      ROOT c = {result}[2,{10 - height},{12 - width},{features}] convolution(x, k),
        window={{size={window}}}, dim_labels=b01f_01io->b01f""")


def in_f32(program: Module, context: PassContext = VECTORS) -> bool:
    changed = few_features_in_f32(program, context)
    (found,) = (i for i in changed.entry.instructions if i.op == "convolution")
    kinds = {o.array_shape.element_type.text for o in (found, *found.operands)}
    return kinds == {"f32"} and changed is not program


@pytest.mark.parametrize("features", [1, 3, 8])
@pytest.mark.parametrize(
    "types", ["bf16 bf16 bf16", "f16 f16 f32", "bf16 f32 f32", "f8e5m2 bf16 f16"]
)
def test_narrow_floats(types: str, features: int) -> None:
    program = convolution(types, features)
    assert in_f32(program) and same_bits(program, few_features_in_f32(program, VECTORS))
    for strict in (False, True):
        check(program, strict=strict)


@pytest.mark.parametrize(
    ("types", "features", "window"),
    [
        ("f32 f32 f32", 3, "3x3"),
        ("s8 s8 s32", 3, "3x3"),
        ("bf16 f64 f64", 3, "3x3"),
        ("bf16 bf16 bf16", 9, "3x3"),
        ("bf16 bf16 bf16", 3, "1x1"),
    ],
)
def test_others_stay(types: str, features: int, window: str) -> None:
    program = convolution(types, features, window)
    assert few_features_in_f32(program, VECTORS) is program or not in_f32(program)


def test_memory_is_dear_without_vectors() -> None:
    assert not in_f32(convolution("f16 f16 f16"), PassContext(target=load("cortex-m4")))


@pytest.mark.parametrize(
    ("features", "window", "is_changed"),
    [("1,1", "5", True), ("4,1", "2", True), ("1,1", "1", False), ("9,1", "5", False)],
)
def test_hardly_more_features_than_one(features: str, window: str, is_changed: bool) -> None:
    made, read = features.split(",")
    program = module(f"""
      x = bf16[1,{read},99] parameter(0)  k = bf16[{made},{read},{window}] parameter(1)
      ROOT c = bf16[1,{made},{100 - int(window)}] convolution(x, k), window={{size={window}}},
        dim_labels=bf0_oi0->bf0""")
    assert in_f32(program) == is_changed
    if is_changed:
        assert same_bits(program, few_features_in_f32(program, VECTORS))
        built = check(program)
        assert len(built.program.kernels) == 4  # both arrays, sums and results, each in vectors
