"""Simulation, sorting, scans, gather and scatter, random numbers, transforms, linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.workload import Array, Draw, Onnx, Workload, add, below, plain
from tests.benchmarks.workloads.contractions import matmul


def heat(rows: int, columns: int, turns: int) -> Workload:
    """The heat equation on a torus, explicitly."""

    def function(f: Any, u: Any) -> Any:
        def step(u: Any) -> Any:
            vertical = f.roll(u, 1, 0) + f.roll(u, -1, 0)
            horizontal = f.roll(u, 1, 1) + f.roll(u, -1, 1)
            return u + 0.1 * (vertical + horizontal - 4.0 * u)

        return f.repeat(turns, step, u)

    return Workload(
        function,
        [plain(rows, columns)],
        flops=6 * rows * columns * turns,
        turns=turns,
        onnx=Onnx.NONE,
        numba="heat",
    )


def nbody(bodies: int) -> Workload:
    """The accelerations of bodies that attract one another."""

    def function(f: Any, positions: Any, masses: Any) -> Any:
        distance = positions[None, :, :] - positions[:, None, :]
        squared = (distance * distance).sum(-1) + 1e-3
        weight = masses[None, :] / (squared * f.sqrt(squared))
        return (distance * weight[:, :, None]).sum(1)

    masses = plain(bodies, draw=lambda g, shape: np.abs(g.standard_normal(shape, np.float32)))
    inputs = [plain(bodies, 3), masses]
    return Workload(function, inputs, flops=20 * bodies**2, numba="nbody")


def sort(size: int) -> Workload:
    return Workload(
        lambda f, x: f.sort(x),
        [plain(size)],
        onnx=Onnx.NONE,
        numpy=np.sort,
        without=frozenset({"iree"}),  # compiles for minutes
    )


def cumsum(size: int) -> Workload:
    return Workload(lambda f, x: f.cumsum(x), [plain(size)], numpy=np.cumsum)


def gather(size: int) -> Workload:
    inputs = [plain(size), plain(size, draw=below(size))]
    return Workload(lambda f, x, i: f.rows(x, i), inputs, numpy=lambda x, i: x[i])


def scatter_add(size: int) -> Workload:
    return Workload(
        lambda f, x, i: f.scatter_add(size, i, x),
        [plain(size), plain(size, draw=below(size))],
        numpy=lambda x, i: np.bincount(i, x, size).astype(np.float32),
    )


def threefry(size: int) -> Workload:
    key = plain(2, draw=lambda g, shape: np.array([0, 42], np.uint32))
    return Workload(lambda f, k: f.uniform(k, size), [key], onnx=Onnx.NONE, compare=False)


def fft2(rows: int, columns: int) -> Workload:
    def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        pairs: Array = generator.standard_normal((*shape, 2), np.float32)
        return pairs.view(np.complex64)[..., 0]

    def scipy_fft2(x: Array) -> Any:
        import scipy.fft

        return scipy.fft.fft2(x)

    return Workload(
        lambda f, x: f.fft2(x),
        [plain(rows, columns, draw=draw)],
        flops=5 * rows * columns * float(np.log2(rows * columns)),
        onnx=Onnx.NONE,
        numpy=scipy_fft2,
    )


def _positive_definite(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    factor = generator.standard_normal(shape)
    matrix: Array = factor @ factor.T / shape[0] + np.eye(shape[0])
    return matrix.astype(np.float32)


def cholesky(size: int) -> Workload:
    return Workload(
        lambda f, a: f.cholesky(a),
        [plain(size, size, draw=_positive_definite)],
        flops=size**3 / 3,
        onnx=Onnx.NONE,
        numpy=np.linalg.cholesky,
    )


def triangular_solve(size: int, columns: int) -> Workload:
    def scipy_solve(lower: Array, b: Array) -> Any:
        import scipy.linalg

        return scipy.linalg.solve_triangular(lower, b, lower=True, check_finite=False)

    draw: Draw = lambda g, shape: np.linalg.cholesky(_positive_definite(g, shape))  # noqa: E731
    return Workload(
        lambda f, lower, b: f.solve_lower(lower, b),
        [plain(size, size, draw=draw), plain(size, columns)],
        flops=size**2 * columns,
        onnx=Onnx.NONE,
        numpy=scipy_solve,
    )


add("science", "heat2d_512_1000", heat(512, 512, 1000))
add("science", "nbody_1024", nbody(1024))
add("science", "bmm4x4_10000", matmul((10000, 4, 4), (10000, 4, 4)))
add("science", "sort_1m", sort(1 << 20))
add("science", "cumsum_1m", cumsum(1 << 20))
add("science", "gather_1m", gather(1 << 20))
add("science", "scatter_add_1m", scatter_add(1 << 20))
add("science", "threefry_1m", threefry(1 << 20))
add("science", "fft2_1024", fft2(1024, 1024))
add("science", "cholesky_512", cholesky(512))
add("science", "trsm_512", triangular_solve(512, 512))
