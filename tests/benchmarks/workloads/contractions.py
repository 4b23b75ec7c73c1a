"""Products of matrices."""

from __future__ import annotations

import math

import numpy as np

from tests.benchmarks.workload import Array, Onnx, Workload, add, plain


def matmul(left: tuple[int, ...], right: tuple[int, ...], constant: bool = False) -> Workload:
    """`constant`: the right matrix is a weight."""
    a, b = plain(*left), plain(*right)
    return Workload(
        lambda f, a, b: f.matmul(a, b),
        [a] if constant else [a, b],
        [b] if constant else [],
        flops=2 * math.prod(left) * right[-1],
        numpy=np.matmul,
    )


def integer_matmul(rows: int, inner: int, columns: int) -> Workload:
    def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return generator.integers(-100, 100, shape, np.int8)

    return Workload(
        lambda f, a, b: f.integer_matmul(a, b),
        [plain(rows, inner, draw=draw), plain(inner, columns, draw=draw)],
        flops=2 * rows * inner * columns,
        arithmetic="s8",
        onnx=Onnx.INTEGER_MATMUL,
    )


def bf16_matmul(rows: int, inner: int, columns: int) -> Workload:
    return Workload(
        lambda f, a, b: f.matmul(a, b),
        [plain(rows, inner, dtype="bfloat16"), plain(inner, columns, dtype="bfloat16")],
        flops=2 * rows * inner * columns,
        arithmetic="bf16",
        onnx=Onnx.NONE,
        tolerance=2e-2,
        without=frozenset({"iree", "litert"}),
    )


for size in (64, 256, 1024, 2048):
    add("contraction", f"matmul_{size}", matmul((size, size), (size, size)))
add("contraction", "gemv_4096", matmul((1, 4096), (4096, 4096), constant=True))
add("contraction", "matmul_32x768x3072", matmul((32, 768), (768, 3072), constant=True))
add("contraction", "bmm_12x128x64x128", matmul((12, 128, 64), (12, 64, 128)))
add("contraction", "matmul_int8_1024", integer_matmul(1024, 1024, 1024))
add("contraction", "matmul_bf16_1024", bf16_matmul(1024, 1024, 1024))
