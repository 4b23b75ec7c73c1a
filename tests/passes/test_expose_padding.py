"""Padding of convolutions becomes an op; the zeros take part in the sum either way."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.expose_padding import expose_padding
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites

PC = PassContext(target=load("x86-64"), strict=True)
OPERANDS = "x = f32[1,6,5,2] parameter(0)\n k = f32[3,2,2,4] parameter(1)\n"
LABELS = "dim_labels=b01f_01io->b01f"


def test_padding() -> None:
    rewrites(
        OPERANDS + "ROOT c = f32[1,6,5,4] convolution(x, k),"
        f" window={{size=3x2 pad=1_1x0_1}}, {LABELS}",
        OPERANDS + "z = f32[] constant(0)\n"
        "p = f32[1,8,6,2] pad(x, z), padding=0_0x1_1x0_1x0_0\n"
        f"ROOT c = f32[1,6,5,4] convolution(p, k), window={{size=3x2}}, {LABELS}",
        expose_padding,
        PC,
    )


def test_cropping() -> None:
    rewrites(
        OPERANDS + "ROOT c = f32[1,3,4,4] convolution(x, k),"
        f" window={{size=3x2 pad=-1_0x0_0}}, {LABELS}",
        OPERANDS + "z = f32[] constant(0)\n"
        "p = f32[1,5,5,2] pad(x, z), padding=0_0x-1_0x0_0x0_0\n"
        f"ROOT c = f32[1,3,4,4] convolution(p, k), window={{size=3x2}}, {LABELS}",
        expose_padding,
        PC,
    )


@pytest.mark.parametrize(
    ("result", "window"),
    [
        ("f32[1,4,4,4]", "size=3x2"),
        # Holes stay with the convolution, and so does their padding.
        ("f32[1,11,4,4]", "size=3x2 pad=1_1x0_0 lhs_dilate=2x1"),
        # The copy would be many times as large.
        ("f32[1,44,4,4]", "size=3x2 pad=20_20x0_0"),
    ],
)
def test_what_stays(result: str, window: str) -> None:
    convolution = f"ROOT c = {result} convolution(x, k), window={{{window}}}, {LABELS}"
    leaves_alone(OPERANDS + convolution, expose_padding, PC)


def test_a_larger_copy_of_a_depthwise_convolution() -> None:
    """Such as 7 × 7 over the last, small images of a network."""
    operands = "x = f32[1,7,7,4] parameter(0)\n k = f32[7,7,1,4] parameter(1)\n"
    rewrites(
        operands + "ROOT c = f32[1,7,7,4] convolution(x, k),"
        f" window={{size=7x7 pad=3_3x3_3}}, {LABELS}, feature_group_count=4",
        operands + "z = f32[] constant(0)\n"
        "p = f32[1,13,13,4] pad(x, z), padding=0_0x3_3x3_3x0_0\n"
        "ROOT c = f32[1,7,7,4] convolution(p, k),"
        f" window={{size=7x7}}, {LABELS}, feature_group_count=4",
        expose_padding,
        PC,
    )


def test_not_without_vectors() -> None:
    convolution = (
        f"ROOT c = f32[1,6,4,4] convolution(x, k), window={{size=3x2 pad=1_1x0_0}}, {LABELS}"
    )
    context = PassContext(target=load("cortex-m4"))
    leaves_alone(OPERANDS + convolution, expose_padding, context)
