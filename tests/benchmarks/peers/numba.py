"""Numba, on loops written by hand for the workloads that name one."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks import formats
from tests.benchmarks.peers.peer import Job, NotOfferedError, Prepared
from tests.benchmarks.workload import Array, Workload

Kernel = Callable[..., Array]


class Peer:
    channels_first = False

    def __init__(self, threads: int) -> None:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
        import numba

        self._numba, self.version = numba, numba.__version__

    def prepare(self, job: Job) -> Prepared:
        make = _KERNELS.get(job.workload.numba)
        if make is None:
            raise NotOfferedError("no kernel")
        given = [np.array(array) for array in formats.arguments(job.folder)]
        # Parallel with one thread too: it vectorises better than the serial form.
        jit = self._numba.njit(fastmath=True, parallel=True)
        start = time.perf_counter()
        function = make(jit, self._numba.prange, job.workload)
        function(*given)
        seconds = time.perf_counter() - start
        return Prepared(
            call=lambda: function(*given), results=lambda: [function(*given)], compiled=seconds
        )


def _chain(jit: Any, prange: Any, workload: Workload) -> Kernel:
    out = np.empty(workload.inputs[0].shape, np.float32)
    one = np.float32(1)

    @jit  # type: ignore[untyped-decorator]
    def kernel(x: Array, a: Array, b: Array, y: Array) -> None:
        for i in prange(x.size):
            v = x[i]
            y[i] = math.tanh(a[i] * v + b[i]) * (one / (one + math.exp(-v))) + math.exp(-v * v)

    def run(x: Array, a: Array, b: Array) -> Array:
        kernel(x, a, b, out)
        return out

    return run


def _heat(jit: Any, prange: Any, workload: Workload) -> Kernel:
    turns = workload.turns
    tenth, four = np.float32(0.1), np.float32(4)

    @jit  # type: ignore[untyped-decorator]
    def kernel(u: Array, v: Array) -> Array:
        rows, columns = u.shape
        for _ in range(turns):
            for i in prange(rows):
                above, row, below = u[i - 1], u[i], u[i + 1 if i + 1 < rows else 0]
                for j in range(1, columns - 1):
                    near = above[j] + below[j] + (row[j - 1] + row[j + 1])
                    v[i, j] = row[j] + tenth * (near - four * row[j])
                last = columns - 1
                near = above[0] + below[0] + (row[last] + row[1])
                v[i, 0] = row[0] + tenth * (near - four * row[0])
                near = above[last] + below[last] + (row[last - 1] + row[0])
                v[i, last] = row[last] + tenth * (near - four * row[last])
            u, v = v, u
        return u

    return lambda u: kernel(u.copy(), np.empty_like(u))


def _nbody(jit: Any, prange: Any, workload: Workload) -> Kernel:
    zero, softening = np.float32(0), np.float32(1e-3)

    @jit  # type: ignore[untyped-decorator]
    def kernel(p: Array, m: Array) -> Array:
        x, y, z = p[:, 0].copy(), p[:, 1].copy(), p[:, 2].copy()
        out = np.empty_like(p)
        for i in prange(x.size):
            ax, ay, az = zero, zero, zero
            for j in range(x.size):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                squared = dx * dx + dy * dy + dz * dz + softening
                weight = m[j] / (squared * np.sqrt(squared))
                ax += dx * weight
                ay += dy * weight
                az += dz * weight
            out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
        return out

    return kernel  # type: ignore[no-any-return]


_KERNELS: dict[str, Callable[[Any, Any, Workload], Kernel]] = {
    "chain": _chain,
    "heat": _heat,
    "nbody": _nbody,
}
