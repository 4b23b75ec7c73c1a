"""Whole models: a perceptron and networks on images. Batch norms are folded into the biases."""

from __future__ import annotations

import itertools
from typing import Any

from tests.benchmarks.workload import Weights, Workload, add, image, plain


def mlp(batch: int, *widths: int) -> Workload:
    """Dense layers with relu between them."""
    weights = Weights()
    pairs = list(itertools.pairwise(widths))
    for inputs, outputs in pairs:
        weights.dense(inputs, outputs)

    def function(f: Any, x: Any, *arrays: Any) -> Any:
        *hidden, last = zip(arrays[::2], arrays[1::2], strict=True)
        for weight, bias in hidden:
            x = f.relu(f.dense(x, weight, bias))
        return f.dense(x, *last)

    flops = 2 * batch * sum(inputs * outputs for inputs, outputs in pairs)
    operands = weights.operands
    return Workload(function, [plain(batch, widths[0])], operands, flops, whole_model=True)


def lenet(batch: int) -> Workload:
    weights = Weights()
    weights.conv(6, 1, 5)
    weights.conv(16, 6, 5)
    for widths in ((400, 120), (120, 84), (84, 10)):
        weights.dense(*widths)

    def function(f: Any, x: Any, *arrays: Any) -> Any:
        take = iter(arrays).__next__
        x = f.average_pool(f.relu(f.conv(x, take(), take(), pad=2)), 2)
        x = f.average_pool(f.relu(f.conv(x, take(), take())), 2)
        x = f.flatten_image(x)
        x = f.relu(f.dense(x, take(), take()))
        x = f.relu(f.dense(x, take(), take()))
        return f.dense(x, take(), take())

    inputs = [image(batch, 1, 28, 28)]
    return Workload(function, inputs, weights.operands, 833_040 * batch, whole_model=True)


_RESNET_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride


def resnet18(batch: int, size: int) -> Workload:
    def function(f: Any, x: Any, *arrays: Any) -> Any:
        take = iter(arrays).__next__
        x = f.relu(f.conv(x, take(), take(), stride=2, pad=3))
        x = f.max_pool(x, 3, 2, 1)
        for _, first_stride in _RESNET_STAGES:
            for stride in (first_stride, 1):
                y = f.relu(f.conv(x, take(), take(), stride, pad=1))
                y = f.conv(y, take(), take(), pad=1)
                if stride == 2:
                    x = f.conv(x, take(), take(), stride)
                x = f.relu(x + y)
        return f.dense(f.global_average(x), take(), take())

    flops = 3.628e9 * batch * (size / 224) ** 2
    inputs = [image(batch, 3, size, size)]
    return Workload(function, inputs, _resnet18_weights().operands, flops, whole_model=True)


def _resnet18_weights() -> Weights:
    weights = Weights()
    weights.conv(64, 3, 7)
    inputs = 64
    for channels, first_stride in _RESNET_STAGES:
        for stride in (first_stride, 1):
            weights.conv(channels, inputs, 3)
            weights.conv(channels, channels, 3)
            if stride == 2:
                weights.conv(channels, inputs, 1)
            inputs = channels
    weights.dense(512, 1000)
    return weights


def _mobilenet_blocks() -> list[tuple[int, int, int, int]]:
    """Channels in, in the middle and out, and stride, block after block."""
    stages = (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
        (6, 320, 1, 1),
    )  # fmt: skip
    blocks, inputs = [], 32
    for expansion, outputs, count, first_stride in stages:
        for number in range(count):
            stride = first_stride if number == 0 else 1
            blocks.append((inputs, inputs * expansion, outputs, stride))
            inputs = outputs
    return blocks


def mobilenetv2(batch: int, size: int) -> Workload:
    def function(f: Any, x: Any, *arrays: Any) -> Any:
        take = iter(arrays).__next__
        x = f.relu6(f.conv(x, take(), take(), stride=2, pad=1))
        for inputs, middle, outputs, stride in _mobilenet_blocks():
            y = x if middle == inputs else f.relu6(f.conv(x, take(), take()))
            y = f.relu6(f.conv(y, take(), take(), stride, 1, middle))
            y = f.conv(y, take(), take())
            x = x + y if stride == 1 and inputs == outputs else y
        x = f.relu6(f.conv(x, take(), take()))
        return f.dense(f.global_average(x), take(), take())

    flops = 0.6016e9 * batch * (size / 224) ** 2
    inputs = [image(batch, 3, size, size)]
    return Workload(function, inputs, _mobilenetv2_weights().operands, flops, whole_model=True)


def _mobilenetv2_weights() -> Weights:
    weights = Weights()
    weights.conv(32, 3, 3)
    for inputs, middle, outputs, _ in _mobilenet_blocks():
        if middle != inputs:
            weights.conv(middle, inputs, 1)
        weights.conv(middle, 1, 3)
        weights.conv(outputs, middle, 1)
    weights.conv(1280, 320, 1)
    weights.dense(1280, 1000)
    return weights


add("model", "mlp_b1", mlp(1, 784, 512, 512, 10))
add("model", "mlp_b128", mlp(128, 784, 512, 512, 10))
add("model", "lenet_b1", lenet(1))
add("model", "resnet18_b1", resnet18(1, 224))
add("model", "mobilenetv2_b1", mobilenetv2(1, 224))
