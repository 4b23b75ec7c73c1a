"""Writes train_step.hlo: one step of gradient descent for a small network, by JAX.

The network has one input, 16 hidden neurons and one output. The step takes the weights and a batch
of examples, and returns the new weights and the loss.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import ccodegen

HERE = Path(__file__).resolve().parent
HIDDEN, BATCH, RATE = 16, 32, 0.1


def loss(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    hidden = jnp.tanh(x[:, None] * w1 + b1)
    return jnp.mean((hidden @ w2 + b2 - y) ** 2)


def train_step(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> tuple[Any, ...]:
    value, gradients = jax.value_and_grad(loss, (0, 1, 2, 3))(w1, b1, w2, b2, x, y)
    old = (w1, b1, w2, b2)
    return *(w - RATE * g for w, g in zip(old, gradients, strict=True)), value


def main() -> None:
    row, batch = jnp.zeros(HIDDEN), jnp.zeros(BATCH)
    lowered = jax.jit(train_step).lower(row, row, row, jnp.float32(0), batch, batch)
    text = ccodegen.read(lowered).to_text().replace(f"{HERE}/", "")
    (HERE / "train_step.hlo").write_text(text)


if __name__ == "__main__":
    main()
