"""3×3 convolutions by Winograd's algorithm: the same numbers, and only where it pays."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.ir import Module
from ccodegen.passes.bind_constants import bind_constants
from ccodegen.passes.context import PassContext
from ccodegen.passes.use_winograd import use_winograd
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, module

CONTEXT = PassContext(target=load("x86-64"))
RANDOM = np.random.default_rng(0)


def convolution(
    sizes: tuple[int, int, int] = (1, 24, 24),
    features: tuple[int, int] = (64, 64),
    pads: tuple[int, int, int, int] = (1, 1, 1, 1),
    window: str = "",
    attributes: str = "",
    kernel: str = "01io",
    is_constant: bool = True,
) -> tuple[Module, list[np.ndarray]]:
    """A convolution, and its inputs: filters are a constant or one of them."""
    batch, height, width = sizes
    order = {"0": 3, "1": 3, "i": features[0], "o": features[1]}
    filters = RANDOM.standard_normal([order[c] for c in kernel], np.float32)
    out = [n + a + b - 2 for n, (a, b) in zip(sizes[1:], (pads[:2], pads[2:]), strict=True)]
    shape = f"f32[{batch},{out[0]},{out[1]},{features[1]}]"
    text = f"""
        x = f32[{batch},{height},{width},{features[0]}] parameter(0)
        k = f32[{",".join(str(order[c]) for c in kernel)}] parameter(1)
        ROOT c = {shape} convolution(x, k), dim_labels=b01f_{kernel}->b01f{attributes},
            window={{size=3x3 pad={pads[0]}_{pads[1]}x{pads[2]}_{pads[3]}{window}}}"""
    x = RANDOM.standard_normal((batch, height, width, features[0]), np.float32)
    if is_constant:
        return bind_constants(module(text), {1: filters}).module, [x]
    return module(text), [x, filters]


def ops(of: Module) -> list[str]:
    return [i.op for i in of.entry.instructions]


@pytest.mark.parametrize(
    ("sizes", "pads"),
    [
        ((1, 24, 24), (1, 1, 1, 1)),
        ((3, 13, 17), (0, 0, 0, 0)),
        ((2, 20, 11), (2, 0, 0, 3)),
        ((1, 8, 66), (0, 1, 1, 0)),
    ],
)
@pytest.mark.parametrize("kernel", ["01io", "o1i0", "01oi"])
@pytest.mark.parametrize("is_constant", [True, False])
def test_the_numbers_are_the_convolutions(
    sizes: tuple[int, int, int], pads: tuple[int, int, int, int], kernel: str, is_constant: bool
) -> None:
    old, x = convolution(sizes, pads=pads, kernel=kernel, is_constant=is_constant)
    new = use_winograd(old, CONTEXT)
    assert "dot" in ops(new)
    assert "convolution" not in ops(new)
    expected = evaluate(old, *x)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(evaluate(new, *x), expected, atol=2e-6 * scale)
    np.testing.assert_allclose(ccodegen.compile(old)(*x), expected, atol=2e-6 * scale)


@pytest.mark.parametrize(
    "changed",
    [
        {"features": (3, 64)},
        {"features": (256, 256), "sizes": (1, 7, 7), "is_constant": False},
        {"sizes": (1, 4, 4)},
        {"pads": (-1, 1, 1, 1)},
        {"window": " rhs_reversal=1x1"},
        {"attributes": ", operand_precision={highest,highest}"},
    ],
)
def test_what_stays(changed: dict[str, object]) -> None:
    old, _ = convolution(**changed)  # type: ignore[arg-type]
    assert use_winograd(old, CONTEXT) is old


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT)
def test_where_it_stays(context: PassContext) -> None:
    old, _ = convolution()
    assert use_winograd(old, context) is old
