"""Decodes 64 tokens with caches updated in place, and compares with attention over all at once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import ccodegen

HERE = Path(__file__).resolve().parent
LENGTH, WIDTH = 64, 32


def attention(tokens: Any, wq: Any, wk: Any, wv: Any) -> Any:
    """Each token attends to itself and those before it."""
    scores = (tokens @ wq) @ (tokens @ wk).T / WIDTH**0.5
    scores[np.triu_indices(LENGTH, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ (tokens @ wv)


def main() -> float:
    """The greatest difference."""
    random = np.random.default_rng(0)
    wq, wk, wv = random.normal(0, WIDTH**-0.5, (3, WIDTH, WIDTH)).astype(np.float32)
    tokens = random.standard_normal((LENGTH, WIDTH)).astype(np.float32)
    step = ccodegen.compile(
        HERE / "decode_step.hlo",
        constants={"wq": wq, "wk": wk, "wv": wv},
        donate=("keys", "values"),
    )
    keys, values = (np.zeros((LENGTH, WIDTH), np.float32) for _ in range(2))
    start = time.perf_counter()
    outputs = [step(keys, values, x, np.int32(n))[2] for n, x in enumerate(tokens)]
    each = (time.perf_counter() - start) / LENGTH
    difference = float(np.abs(outputs - attention(tokens, wq, wk, wv)).max())
    print(f"{1e6 * each:.1f} µs a token, arena {step.memory.arena} bytes")
    print(f"largest difference from attention over all tokens at once: {difference:.1e}")
    return difference


if __name__ == "__main__":
    main()
