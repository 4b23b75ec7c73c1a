"""Convolutions without a neighbourhood: dots of the kernel and the image."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.pointwise_as_dots import pointwise_as_dots
from ccodegen.target import load
from tests.passes.checking import leaves_alone, module, rewrites, same_bits
from tests.three_ways import check, module_of

VECTORS = PassContext(target=load("x86-64"))
X = "x = f32[2,8,9,7] parameter(0)\n"
K = f"{X}k = f32[5,8,1,1] parameter(1)\n"


def test_the_kernel_is_the_left_matrix_of_each_image() -> None:
    before = f"""{K}ROOT c = f32[2,5,9,7] convolution(x, k), window={{size=1x1}},
      dim_labels=bf01_oi01->bf01"""
    leaves_alone(before, pointwise_as_dots, PassContext(target=load("cortex-m4")))
    rewrites(
        before,
        f"{K}m = f32[5,8] reshape(k)\n b = f32[2,5,8] broadcast(m), dimensions={{1,2}}\n"
        "ROOT d = f32[2,5,9,7] dot(b, x), lhs_batch_dims={0}, rhs_batch_dims={0},"
        " lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        pointwise_as_dots,
        VECTORS,
    )


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("types", ["f32 f32 f32", "bf16 bf16 bf16", "u8 s8 s32", "c64 c64 c64"])
def test_any_order_of_the_kernel(types: str, batch: int) -> None:
    left, right, result = types.split()
    program = f"""x = {left}[{batch},6,37] parameter(0)  k = {right}[1,6,17] parameter(1)
      ROOT c = {result}[{batch},17,37] convolution(x, k), window={{size=1 rhs_reversal=1}},
        dim_labels=bf0_0io->bf0"""
    given = module(program)
    changed = pointwise_as_dots(given, VECTORS)
    assert changed.entry.root.op == "dot" and same_bits(given, changed)
    for strict in (False, True):
        check(module_of(f"ENTRY e {{ {program} }}"), strict=strict)


@pytest.mark.parametrize(
    ("kernel", "result", "attributes"),
    [
        ("5,8,1,1", "2,5,7,9", "window={size=1x1}, dim_labels=bf01_oi01->bf10"),
        ("5,8,1,1", "2,9,7,5", "window={size=1x1}, dim_labels=bf01_oi01->b01f"),
        ("5,8,1,1", "2,5,5,4", "window={size=1x1 stride=2x2}, dim_labels=bf01_oi01->bf01"),
        ("5,8,1,1", "2,5,11,7", "window={size=1x1 pad=1_1x0_0}, dim_labels=bf01_oi01->bf01"),
        ("5,8,3,1", "2,5,7,7", "window={size=3x1}, dim_labels=bf01_oi01->bf01"),
        (
            "6,4,1,1",
            "2,6,9,7",
            "window={size=1x1}, feature_group_count=2, dim_labels=bf01_oi01->bf01",
        ),
    ],
    ids=["turned", "features last", "steps", "padding", "neighbours", "groups"],
)
def test_others_stay(kernel: str, result: str, attributes: str) -> None:
    leaves_alone(
        f"{X}k = f32[{kernel}] parameter(1)\n"
        f"ROOT c = f32[{result}] convolution(x, k), {attributes}",
        pointwise_as_dots,
        VECTORS,
    )
