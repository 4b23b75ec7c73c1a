"""JAX programs that tests compile. Importing this needs jax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = Any
_RANDOM = np.random.default_rng(0)
_DIMENSIONS = ("NHWC", "HWIO", "NHWC")


def normal(*dimensions: int) -> np.ndarray[Any, Any]:
    return _RANDOM.standard_normal(dimensions).astype(np.float32)


def layer_norm(x: Array, scale: Array, bias: Array) -> Array:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias


def group_norm(x: Array, scale: Array, bias: Array) -> Array:
    """Of four groups of features, in the last dimension."""
    groups = x.reshape(*x.shape[:-1], 4, -1)
    mean = groups.mean((1, 2, 4), keepdims=True)
    variance = ((groups - mean) ** 2).mean((1, 2, 4), keepdims=True)
    centred = (groups - mean) * lax.rsqrt(variance + 1e-5)
    return centred.reshape(x.shape) * scale + bias


def adam(parameter: Array, gradient: Array, m: Array, v: Array, step: Array) -> Any:
    m = 0.9 * m + 0.1 * gradient
    v = 0.999 * v + 0.001 * gradient * gradient
    corrected = m / (1 - 0.9**step), v / (1 - 0.999**step)
    return parameter - 1e-3 * corrected[0] / (jnp.sqrt(corrected[1]) + 1e-8), m, v


def masked_softmax(scores: Array, mask: Array) -> Array:
    return jax.nn.softmax(jnp.where(mask, scores * 0.25, -1e9), axis=-1)


def normalised_convolution(x: Array, kernel: Array, mean: Array, scale: Array) -> Array:
    y = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=_DIMENSIONS)
    return jax.nn.relu((y - mean) * scale)


def mlp_loss(weights: Any, x: Array, labels: Array) -> Array:
    w1, b1, w2, b2 = weights
    logits = jax.nn.log_softmax(jax.nn.relu(x @ w1 + b1) @ w2 + b2)
    return -jnp.take_along_axis(logits, labels[:, None], 1).mean()


def mlp_gradients(weights: Any, x: Array, labels: Array) -> Any:
    return jax.value_and_grad(mlp_loss)(weights, x, labels)


def lstm(xs: Array, from_input: Array, from_hidden: Array, bias: Array) -> Any:
    def cell(state: Any, x: Array) -> Any:
        hidden, memory = state
        gates = x @ from_input + hidden @ from_hidden + bias
        i, f, g, o = jnp.split(gates, 4, -1)
        memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
        return (hidden, memory), hidden

    zeros = jnp.zeros((xs.shape[1], from_hidden.shape[0]), jnp.float32)
    return lax.scan(cell, (zeros, zeros), xs)


def attention(x: Array, project: Array, merge: Array) -> Array:
    batch, time, width = x.shape
    heads = 4
    parts = jnp.split(x @ project, 3, -1)
    q, k, v = (
        p.reshape(batch, time, heads, width // heads).transpose(0, 2, 1, 3) for p in parts
    )
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(np.sqrt(width // heads))
    scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)
    return x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ merge


def decode_step(
    position: Array, keys: Array, values: Array, x: Array, project: Array, merge: Array
) -> Any:
    q, k, v = (p.reshape(1, 4, 1, 16) for p in jnp.split(x @ project, 3, -1))
    keys = lax.dynamic_update_slice(keys, k, (0, 0, position, 0))
    values = lax.dynamic_update_slice(values, v, (0, 0, position, 0))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, keys) * 0.25
    scores = jnp.where(jnp.arange(32) <= position, scores, -1e9)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), values).reshape(1, 64)
    return keys, values, x + mixed @ merge


def heat(temperature: Array) -> Array:
    def step(_: int, u: Array) -> Array:
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].set(inner + 0.1 * (around - 4 * inner))

    return lax.fori_loop(0, 10, step, temperature)


def lenet(x: Array, kernels: Any, weights: Any) -> Array:
    for kernel, bias in kernels:
        x = lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=_DIMENSIONS)
        window = (1, 2, 2, 1)
        x = lax.reduce_window(jax.nn.relu(x + bias), -jnp.inf, lax.max, window, window, "VALID")
    x = x.reshape(x.shape[0], -1)
    for weight, bias in weights:
        x = jax.nn.relu(x @ weight + bias)
    return x


SMALL: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "softmax": (jax.nn.softmax, (normal(16, 128),)),
    "layer_norm": (layer_norm, (normal(16, 128), normal(128), normal(128))),
    "layer_norm_of_one": (layer_norm, (normal(1, 16, 128), normal(128), normal(128))),
    "group_norm": (group_norm, (normal(1, 9, 7, 32), normal(32), normal(32))),
    "gelu": (jax.nn.gelu, (normal(16, 128),)),
    "adam": (adam, (*(normal(12, 8) for _ in range(3)), abs(normal(12, 8)), np.float32(3))),
    "masked_softmax": (masked_softmax, (normal(2, 4, 16, 16), np.tri(16, dtype=bool))),
    "standard_deviation": (jnp.std, (normal(16, 100),)),
    "normalised_convolution": (
        normalised_convolution,
        (normal(1, 14, 14, 8), normal(3, 3, 8, 16), normal(16), normal(16)),
    ),
}

MODELS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mlp_gradients": (
        mlp_gradients,
        (
            (normal(32, 64), normal(64), normal(64, 10), normal(10)),
            normal(8, 32),
            _RANDOM.integers(0, 10, 8).astype(np.int32),
        ),
    ),
    "lstm": (lstm, (normal(20, 4, 16), 0.3 * normal(16, 64), 0.3 * normal(16, 64), normal(64))),
    "attention": (attention, (normal(2, 16, 64), 0.1 * normal(64, 192), 0.1 * normal(64, 64))),
    "decode_step": (
        decode_step,
        (
            np.int32(3),
            normal(1, 4, 32, 16),
            normal(1, 4, 32, 16),
            normal(1, 64),
            0.1 * normal(64, 192),
            0.1 * normal(64, 64),
        ),
    ),
    "heat": (heat, (normal(16, 16),)),
    "lenet": (
        lenet,
        (
            normal(2, 28, 28, 1),
            ((0.2 * normal(5, 5, 1, 6), normal(6)), (0.1 * normal(5, 5, 6, 16), normal(16))),
            ((0.1 * normal(256, 84), normal(84)), (0.1 * normal(84, 10), normal(10))),
        ),
    ),
}
