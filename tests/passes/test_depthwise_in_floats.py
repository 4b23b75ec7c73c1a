"""Depthwise convolutions of small integers in f32: the same numbers, and only where none rounds."""

from __future__ import annotations

import pytest

from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.depthwise_in_floats import depthwise_in_floats
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, module, same_bits
from tests.three_ways import check, plain_target, with_vectors

CONTEXT = PassContext(target=load("x86-64"))


def convolution(
    types: str, window: str = "3x3", features: int = 20, after: str = "ROOT r = TYPE copy(c)"
) -> Module:
    """`types`: of image, kernel and result."""
    left, right, result = types.split()
    height, width = map(int, window.split("x"))
    shape = f"[1,{13 - height},{14 - width},{features}]"
    after = after.replace("TYPE", f"{result}{shape}").replace("$", shape)
    return module(f"""
      x = {left}[1,12,13,{features}] parameter(0)
      k = {right}[{height},{width},1,{features}] parameter(1)
      c = {result}{shape} convolution(x, k), window={{size={window}}},
        dim_labels=b01f_01io->b01f, feature_group_count={features}
      {after}""")


def in_floats(program: Module) -> bool:
    changed = depthwise_in_floats(program, CONTEXT)
    (found,) = (i for i in changed.entry.instructions if i.op == "convolution")
    return found.array_shape.element_type.is_float


@pytest.mark.parametrize(
    "types",
    [
        "s8 s8 s32", "u8 s8 s32", "u8 u8 s32", "s8 s8 s8", "s8 u8 u32", "s8 s8 s64", "u8 s8 u8",
        "s4 s8 s32", "s16 s4 s32",
    ],
)  # fmt: skip
def test_types(types: str) -> None:
    program = convolution(types)
    assert in_floats(program)
    assert same_bits(program, depthwise_in_floats(program, CONTEXT))
    for strict in (False, True):
        check(program, target=with_vectors(plain_target(), 32), strict=strict)


@pytest.mark.parametrize(
    ("types", "window", "found"),
    [
        ("u8 u8 s32", "12x13", True),
        ("s16 u8 s32", "1x2", True),
        ("s16 u8 s32", "1x3", False),
        ("s16 s16 s32", "3x3", False),
        ("s32 s8 s32", "3x3", False),
    ],
)
def test_sums_that_might_round_stay_integers(types: str, window: str, found: bool) -> None:
    assert in_floats(convolution(types, window)) is found


def test_bytes_less_a_zero_point() -> None:
    program = module("""
      b = u8[1,12,13,20] parameter(0)  k = s8[3,3,1,20] parameter(1)
      w = s32[1,12,13,20] convert(b)  z = s32[] constant(77)
      zs = s32[1,12,13,20] broadcast(z), dimensions={}  x = s32[1,12,13,20] subtract(w, zs)
      v = s32[3,3,1,20] convert(k)
      ROOT c = s32[1,12,13,20] convolution(x, v), window={size=3x3 pad=1_1x1_1},
        dim_labels=b01f_01io->b01f, feature_group_count=20""")
    assert in_floats(program)
    check(program, target=with_vectors(plain_target(), 32))


def test_an_image_out_of_a_tuple() -> None:
    program = module("""
      t = (s8[1,12,13,20], s32[]) parameter(0)  k = s8[3,3,1,20] parameter(1)
      x = s8[1,12,13,20] get-tuple-element(t), index=0
      ROOT c = s32[1,10,11,20] convolution(x, k), window={size=3x3},
        dim_labels=b01f_01io->b01f, feature_group_count=20""")
    assert in_floats(program)


def test_floats_made_of_sums_are_made_of_floats() -> None:
    program = convolution("s8 s8 s32", after="f = f32$ convert(c)  ROOT n = f32$ negate(f)")
    changed = depthwise_in_floats(program, CONTEXT)
    assert changed.entry.root.operands[0].op == "convolution"
    assert same_bits(program, changed)


def test_left_alone() -> None:
    program = convolution("s8 s8 s32")
    for context in WITHOUT_VECTORS_OR_STRICT[1:]:
        assert depthwise_in_floats(program, context) is program
    whole = module("""
      x = s8[1,5,5,4] parameter(0)  k = s8[3,3,4,6] parameter(1)
      ROOT c = s32[1,3,3,6] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f""")
    assert depthwise_in_floats(whole, CONTEXT) is whole
