"""Elementwise chains and normalisations of rows."""

from __future__ import annotations

from typing import Any

from tests.benchmarks.workload import Workload, add, plain


def chain(f: Any, x: Any, a: Any, b: Any) -> Any:
    return f.tanh(a * x + b) * f.sigmoid(x) + f.exp(-(x * x))


def elementwise(size: int) -> Workload:
    return Workload(chain, [plain(size)] * 3, flops=8 * size, numba="chain")


def softmax(*shape: int) -> Workload:
    operand = plain(*shape)
    return Workload(lambda f, x: f.softmax(x), [operand], flops=5 * operand.size)


def layer_norm(rows: int, columns: int) -> Workload:
    inputs = [plain(rows, columns), plain(columns), plain(columns)]
    return Workload(lambda f, *arrays: f.layer_norm(*arrays), inputs, flops=8 * rows * columns)


def gelu(*shape: int) -> Workload:
    operand = plain(*shape)
    return Workload(lambda f, x: f.gelu(x), [operand], flops=8 * operand.size)


add("elementwise", "ew_chain_1m", elementwise(1 << 20))
add("elementwise", "ew_chain_4k", elementwise(4096))
add("normalisation", "softmax_1024x1024", softmax(1024, 1024))
add("normalisation", "layernorm_512x768", layer_norm(512, 768))
add("normalisation", "gelu_erf_512x3072", gelu(512, 3072))
