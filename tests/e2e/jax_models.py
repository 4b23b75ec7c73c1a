"""Models and training steps, written for JAX as people write them: parameters are a pytree.

Small where that changes no shape of the code; the real sizes with CCODEGEN_FULL=1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.e2e.agreement import FULL, Example, random_arrays

Params = Any


class Weights:
    """Makes random parameters whose sums keep activations near one."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def dense(self, inputs: int, outputs: int) -> Params:
        return {"w": self._scaled((inputs, outputs), inputs), "b": self._scaled((outputs,), 100)}

    def conv(self, size: int, inputs: int, outputs: int) -> Params:
        kernel = self._scaled((size, size, inputs, outputs), size * size * inputs)
        return {"w": kernel, "b": self._scaled((outputs,), 100)}

    def norm(self, size: int) -> Params:
        return {"scale": np.ones(size, np.float32), "bias": self._scaled((size,), 100)}

    def table(self, rows: int, columns: int) -> Any:
        return self._scaled((rows, columns), 2500)

    def _scaled(self, shape: tuple[int, ...], fan: int) -> Any:
        values = self._random.standard_normal(shape, np.float32)
        return values * np.float32(math.sqrt(1 / fan))


def dense(p: Params, x: Any) -> Any:
    return x @ p["w"] + p["b"]


def conv(p: Params, x: Any, stride: int = 1, padding: str | int = "SAME", groups: int = 1) -> Any:
    pads = [(padding, padding)] * 2 if isinstance(padding, int) else padding
    y = lax.conv_general_dilated(
        x,
        p["w"],
        (stride, stride),
        pads,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )
    return y + p["b"]


def pool(x: Any, start: float, op: Any, size: int, stride: int, padding: str) -> Any:
    return lax.reduce_window(x, start, op, (1, size, size, 1), (1, stride, stride, 1), padding)


def layer_norm(p: Params, x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def mlp_params() -> Params:
    weights = Weights()
    return [weights.dense(784, 512), weights.dense(512, 512), weights.dense(512, 10)]


def mlp_apply(params: Params, x: Any) -> Any:
    for layer in params[:-1]:
        x = jax.nn.relu(dense(layer, x))
    return dense(params[-1], x)


def mlp() -> Example:
    return Example(mlp_apply, (mlp_params(), *random_arrays((16, 784))), bound=(0,))


def lenet() -> Example:
    w = Weights()
    convs = [w.conv(5, 1, 6), w.conv(5, 6, 16)]
    params = {"conv": convs, "dense": [w.dense(400, 120), w.dense(120, 84), w.dense(84, 10)]}

    def apply(params: Params, x: Any) -> Any:
        for layer, padding in zip(params["conv"], (2, 0), strict=True):
            x = pool(jax.nn.relu(conv(layer, x, 1, padding)), 0.0, lax.add, 2, 2, "VALID") / 4
        return mlp_apply(params["dense"], x.reshape(x.shape[0], -1))

    return Example(apply, (params, *random_arrays((1, 28, 28, 1))), bound=(0,))


def _resnet_params() -> Params:
    w = Weights()
    blocks, inputs = [], 64
    for channels in (64, 64, 128, 128, 256, 256, 512, 512):
        block = {"a": w.conv(3, inputs, channels), "b": w.conv(3, channels, channels)}
        if inputs != channels:
            block["shortcut"] = w.conv(1, inputs, channels)
        blocks.append(block)
        inputs = channels
    return {"stem": w.conv(7, 3, 64), "blocks": blocks, "head": w.dense(512, 1000)}


def resnet18() -> Example:
    """Batch norm is folded into the convolutions."""

    def apply(params: Params, x: Any) -> Any:
        x = jax.nn.relu(conv(params["stem"], x, 2, 3))
        x = pool(x, -np.inf, lax.max, 3, 2, "SAME")
        for block in params["blocks"]:
            stride = 2 if "shortcut" in block else 1
            y = conv(block["b"], jax.nn.relu(conv(block["a"], x, stride, 1)), 1, 1)
            x = conv(block["shortcut"], x, 2, 0) if "shortcut" in block else x
            x = jax.nn.relu(x + y)
        return dense(params["head"], x.mean((1, 2)))

    size = 224 if FULL else 64
    return Example(apply, (_resnet_params(), *random_arrays((1, size, size, 3))), bound=(0,))


# Expansion, channels, repeats, first stride.
_MOBILENET = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


def _inverted_residuals() -> Sequence[tuple[int, int, int, int]]:
    """Channels in, between and out, and the stride of each block."""
    blocks, inputs = [], 32
    for expansion, channels, repeats, first in _MOBILENET:
        for n in range(repeats):
            blocks.append((inputs, inputs * expansion, channels, 1 if n else first))
            inputs = channels
    return blocks


def _mobilenet_params() -> Params:
    w = Weights()
    blocks = [
        {"expand": w.conv(1, a, b), "depth": w.conv(3, 1, b), "project": w.conv(1, b, c)}
        for a, b, c, _ in _inverted_residuals()
    ]
    stem, last, head = w.conv(3, 3, 32), w.conv(1, 320, 1280), w.dense(1280, 1000)
    return {"stem": stem, "blocks": blocks, "last": last, "head": head}


def mobilenet_v2() -> Example:
    relu6 = jax.nn.relu6

    def apply(params: Params, x: Any) -> Any:
        x = relu6(conv(params["stem"], x, 2, 1))
        shapes = _inverted_residuals()
        for p, (inputs, hidden, outputs, stride) in zip(params["blocks"], shapes, strict=True):
            y = x if hidden == inputs else relu6(conv(p["expand"], x))
            y = conv(p["project"], relu6(conv(p["depth"], y, stride, 1, hidden)))
            x = x + y if stride == 1 and inputs == outputs else y
        x = relu6(conv(params["last"], x))
        return dense(params["head"], x.mean((1, 2)))

    size = 224 if FULL else 64
    return Example(apply, (_mobilenet_params(), *random_arrays((1, size, size, 3))), bound=(0,))


def layer_params(w: Weights, width: int) -> Params:
    return {
        "qkv": w.dense(width, 3 * width),
        "out": w.dense(width, width),
        "up": w.dense(width, 4 * width),
        "down": w.dense(4 * width, width),
        "norm1": w.norm(width),
        "norm2": w.norm(width),
    }


def encoder_apply(params: Params, x: Any, heads: int) -> Any:
    """[batch, sequence, width], normalised after each half."""
    batch, length, width = x.shape
    qkv = dense(params["qkv"], x).reshape(batch, length, 3, heads, width // heads)
    q, k, v = (qkv[:, :, n] for n in range(3))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width // heads)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)
    x = layer_norm(params["norm1"], x + dense(params["out"], mixed))
    hidden = jax.nn.gelu(dense(params["up"], x), approximate=False)
    return layer_norm(params["norm2"], x + dense(params["down"], hidden))


def transformer_encoder() -> Example:
    width, heads, length = (768, 12, 128) if FULL else (256, 4, 64)
    apply = functools.partial(encoder_apply, heads=heads)
    x = random_arrays((1, length, width))
    return Example(apply, (layer_params(Weights(), width), *x), bound=(0,))


def gpt2_decode() -> Example:
    """One token with the shapes of GPT-2 small; the caches are updated at the position."""
    layers, vocabulary = (12, 50257) if FULL else (2, 5000)
    width, heads, context = 768, 12, 256
    w = Weights()
    params = {
        "tokens": w.table(vocabulary, width),
        "positions": w.table(1024, width),
        "layers": [layer_params(w, width) for _ in range(layers)],
        "norm": w.norm(width),
    }

    def attend(p: Params, x: Any, position: Any, keys: Any, values: Any) -> Any:
        q, k, v = (t.reshape(heads, -1) for t in jnp.split(dense(p["qkv"], x), 3))
        keys = lax.dynamic_update_slice(keys, k[:, None], (0, position, 0))
        values = lax.dynamic_update_slice(values, v[:, None], (0, position, 0))
        scores = jnp.einsum("hd,hsd->hs", q, keys) / 8
        scores = jnp.where(jnp.arange(context) <= position, scores, -jnp.inf)
        mixed = jnp.einsum("hs,hsd->hd", jax.nn.softmax(scores), values)
        return dense(p["out"], mixed.reshape(-1)), keys, values

    def apply(params: Params, token: Any, position: Any, caches: Any) -> Any:
        x = params["tokens"][token] + params["positions"][position]
        updated = []
        for p, (keys, values) in zip(params["layers"], caches, strict=True):
            y, keys, values = attend(p, layer_norm(p["norm1"], x), position, keys, values)
            x = x + y
            hidden = jax.nn.gelu(dense(p["up"], layer_norm(p["norm2"], x)), approximate=False)
            x = x + dense(p["down"], hidden)
            updated.append((keys, values))
        return layer_norm(params["norm"], x) @ params["tokens"].T, updated

    shape = (heads, context, width // heads)
    arrays = random_arrays(*[shape] * (2 * layers))
    caches = list(zip(arrays[::2], arrays[1::2], strict=True))
    return Example(apply, (params, np.int32(7), np.int32(200), caches), bound=(0,))


def lstm() -> Example:
    steps, inputs, width = 100, 128, 256
    w = Weights()
    params = {"input": w.dense(inputs, 4 * width), "state": w.dense(width, 4 * width)}

    def apply(params: Params, xs: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(x + dense(params["state"], h), 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros(width)
        return lax.scan(step, (zeros, zeros), dense(params["input"], xs))

    return Example(apply, (params, *random_arrays((steps, inputs))), bound=(0,))


def adam_step(loss: Callable[..., Any]) -> Callable[..., Any]:
    """(state, *batch) → (state, loss and gradients), where state has params, m, v and count."""

    def step(state: Any, *batch: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(state["params"], *batch)
        count = state["count"] + 1
        tree_map = jax.tree_util.tree_map
        m = tree_map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        v = tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, state["v"], grads)

        def update(p: Any, m: Any, v: Any) -> Any:
            t = count.astype(np.float32)
            corrected = jnp.sqrt(v / (1 - 0.999**t)) + 1e-8
            return p - 1e-3 * (m / (1 - 0.9**t)) / corrected

        params = tree_map(update, state["params"], m, v)
        return {"params": params, "m": m, "v": v, "count": count}, {"loss": value, "grads": grads}

    return step


def initial_state(params: Params) -> Any:
    """Moments of zero, each leaf an array of its own."""
    zeros = [jax.tree_util.tree_map(np.zeros_like, params) for _ in range(2)]
    return {"params": params, "m": zeros[0], "v": zeros[1], "count": np.int32(0)}


# A step divides by the root of v: where that is all rounding, so is the new parameter.
UPDATED = "[0]['params']"


def mlp_training() -> Example:
    """Cross entropy of a batch of 64."""

    def loss(params: Params, x: Any, labels: Any) -> Any:
        chosen = jnp.take_along_axis(jax.nn.log_softmax(mlp_apply(params, x)), labels[:, None], 1)
        return -chosen.mean()

    x = random_arrays((64, 784))[0]
    labels = np.random.default_rng(1).integers(0, 10, 64).astype(np.int32)
    state = initial_state(mlp_params())
    return Example(adam_step(loss), (state, x, labels), skipped=(UPDATED,))


def transformer_training() -> Example:
    width, heads, length = (768, 12, 128) if FULL else (128, 4, 32)

    def loss(params: Params, x: Any, y: Any) -> Any:
        return ((encoder_apply(params, x, heads) - y) ** 2).mean()

    batch = random_arrays(*[(2, length, width)] * 2)
    state = initial_state(layer_params(Weights(), width))
    return Example(adam_step(loss), (state, *batch), skipped=(UPDATED,))


MODELS: dict[str, Callable[[], Example]] = {
    make.__name__: make
    for make in (
        mlp, lenet, resnet18, mobilenet_v2, transformer_encoder, gpt2_decode, lstm, mlp_training,
        transformer_training,
    )
}  # fmt: skip
