"""Runs every function of runtime_c over arguments of all kinds: python -m … COMPILER FLAGS.

Prints a function's name before it runs, so that the last one printed is the one that crashed.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.runtime_c import compiled

# Helpers whose operands are limited; their callers keep the limits.
_LIMITED = (
    "power_of_two", "shifted", "limited", "window", "narrow_code", "narrow_value", "narrow_signed",
)  # fmt: skip


def arguments(name: str, count: int) -> list[Any] | None:
    """Random bits, numbers of ordinary size and special values, or None for a helper."""
    if any(part in name for part in _LIMITED):
        return None
    rng = np.random.default_rng(11)
    function = compiled.public_functions()[name]
    arrays = [sample(compiled.element_dtype(kind), count, rng) for _, kind in function.parameters]
    if "reduce_precision" in name:
        arrays[1:] = [arrays[1] % 8 + 1, arrays[2] % 24]
    if "saturate" in name:
        arrays[1:] = [np.full_like(arrays[1], 0), np.full_like(arrays[2], 255)]
    return arrays


def sample(dtype: Any, count: int, rng: np.random.Generator) -> Any:
    if dtype.kind == "c":
        result = np.empty(count, dtype)
        result.real = sample(result.real.dtype, count, rng)
        result.imag = sample(result.real.dtype, count, rng)
        return result
    result = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()
    half = count // 2
    if dtype.kind == "f":
        info = np.finfo(dtype)
        result[:half] = rng.normal(size=half) * np.exp(3 * rng.normal(size=half))
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -3.0, info.max, info.tiny]
        special += [info.smallest_subnormal, -info.smallest_subnormal]
    else:
        special = [0, 1, 2, 7, np.iinfo(dtype).min, np.iinfo(dtype).max]
    result[rng.permutation(half)[: 4 * len(special)]] = np.repeat(np.array(special, dtype), 4)
    return result


def main(compiler: str, flags: str) -> None:
    for name in compiled.public_functions():
        arrays = arguments(name, 2000)
        if arrays is not None:
            print(name, flush=True)
            compiled.call(name, *arrays, compiler=compiler, flags=flags)


if __name__ == "__main__":
    main(*sys.argv[1:])
