"""Single convolutions, with bias and relu."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.workload import Kind, Weights, Workload, add, image


def convolution(
    inputs: int,
    outputs: int,
    image_size: int,
    filter_size: int,
    stride: int = 1,
    pad: int = 0,
    groups: int = 1,
    batch: int = 1,
) -> Workload:
    """On square images of so many pixels a side, by square filters."""
    weights = Weights()
    weights.conv(outputs, inputs // groups, filter_size)
    side = (image_size + 2 * pad - filter_size) // stride + 1

    def function(f: Any, x: Any, weight: Any, bias: Any) -> Any:
        return f.relu(f.conv(x, weight, bias, stride, pad, groups))

    return Workload(
        function,
        [image(batch, inputs, image_size, image_size)],
        weights.operands,
        flops=2 * batch * outputs * side**2 * filter_size**2 * inputs / groups,
        output=Kind.IMAGE,
    )


def depthwise(
    channels: int, image_size: int, filter_size: int, stride: int = 1, batch: int = 1
) -> Workload:
    pad = filter_size // 2
    return convolution(
        channels, channels, image_size, filter_size, stride, pad, groups=channels, batch=batch
    )


add("convolution", "conv3x3_56_64_64", convolution(64, 64, 56, 3, pad=1))
add("convolution", "conv1x1_56_64_256", convolution(64, 256, 56, 1))
add("convolution", "conv7x7s2_224_3_64", convolution(3, 64, 224, 7, stride=2, pad=3))
add("convolution", "conv3x3_7_512_512", convolution(512, 512, 7, 3, pad=1))
add("convolution", "dwconv3x3_56_144", depthwise(144, 56, 3))
