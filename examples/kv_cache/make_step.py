"""Writes decode_step.hlo: attention of one new token over a cache of all earlier ones, by JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import ccodegen

HERE = Path(__file__).resolve().parent
LENGTH, WIDTH = 64, 32


def decode_step(
    keys: Any, values: Any, wq: Any, wk: Any, wv: Any, x: Any, position: Any
) -> tuple[Any, ...]:
    """The caches with the token x at its position, and what it attends to."""
    keys = lax.dynamic_update_slice(keys, (x @ wk)[None], (position, 0))
    values = lax.dynamic_update_slice(values, (x @ wv)[None], (position, 0))
    scores = keys @ (x @ wq) / WIDTH**0.5
    visible = jnp.arange(LENGTH) <= position
    weights = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf))
    return keys, values, weights @ values


def main() -> None:
    cache, square = jnp.zeros((LENGTH, WIDTH)), jnp.zeros((WIDTH, WIDTH))
    token, position = jnp.zeros(WIDTH), jnp.int32(0)
    lowered = jax.jit(decode_step).lower(cache, cache, square, square, square, token, position)
    text = ccodegen.read(lowered).to_text().replace(f"{HERE}/", "")
    (HERE / "decode_step.hlo").write_text(text)


if __name__ == "__main__":
    main()
