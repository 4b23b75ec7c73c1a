"""Sums and places of maxima."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.workload import Workload, add, plain


def total(*shape: int, axis: int | None = None) -> Workload:
    operand = plain(*shape)
    return Workload(
        lambda f, x: f.sum(x, axis),
        [operand],
        flops=operand.size,
        numpy=lambda x: np.sum(x, axis),
    )


def argmax(*shape: int, axis: int | None = None) -> Workload:
    operand = plain(*shape)
    return Workload(
        lambda f, x: f.argmax(x, axis),
        [operand],
        flops=operand.size,
        numpy=lambda x: np.argmax(x, axis),
    )


add("reduction", "sum_16m", total(1 << 24))
add("reduction", "sum_axis0_4096", total(4096, 4096, axis=0))
add("reduction", "sum_axis1_4096", total(4096, 4096, axis=1))
add("reduction", "argmax_16m", argmax(1 << 24))
add("reduction", "argmax_axis1_4096", argmax(4096, 4096, axis=1))
