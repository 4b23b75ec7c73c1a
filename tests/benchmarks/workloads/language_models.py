"""Whole models on sequences: a layer of BERT, GPT-2 at one token, an LSTM."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.workload import (
    Array,
    Draw,
    Onnx,
    Weights,
    Workload,
    add,
    plain,
    scaled,
)


def bert_layer(steps: int, width: int = 768, heads: int = 12) -> Workload:
    weights = Weights()
    for _ in range(4):
        weights.dense(width, width)
    weights.norm(width)
    weights.dense(width, 4 * width)
    weights.dense(4 * width, width)
    weights.norm(width)
    head = width // heads

    def function(f: Any, x: Any, *arrays: Any) -> Any:
        take = iter(arrays).__next__
        split = [f.dense(x, take(), take()).reshape(steps, heads, head) for _ in range(3)]
        query, key, value = (f.permute(part, 1, 0, 2) for part in split)
        scores = f.softmax(f.matmul(query, f.permute(key, 0, 2, 1)) * head**-0.5)
        mixed = f.permute(f.matmul(scores, value), 1, 0, 2).reshape(steps, width)
        x = f.layer_norm(x + f.dense(mixed, take(), take()), take(), take())
        y = f.dense(f.gelu(f.dense(x, take(), take())), take(), take())
        return f.layer_norm(x + y, take(), take())

    flops = 2 * steps * 12 * width**2 + 4 * steps**2 * width
    operands = weights.operands
    return Workload(function, [plain(steps, width)], operands, flops, whole_model=True)


def gpt2_decode(past: int, layers: int = 12, width: int = 768, heads: int = 12) -> Workload:
    """One token after `past` others. Returns the logits and the new keys and values, which the
    caller appends to its cache."""
    words, head = 50257, width // heads

    def attention(f: Any, qkv: Any, old_keys: Any, old_values: Any) -> tuple[Any, Any, Any]:
        parts = (qkv[:, n * width : (n + 1) * width] for n in range(3))
        query, key, value = (part.reshape(heads, 1, head) for part in parts)
        old = f.matmul(query, f.permute(old_keys, 0, 2, 1))
        own = f.matmul(query, f.permute(key, 0, 2, 1))
        scores = f.softmax(f.concatenate([old, own], 2) * head**-0.5)
        mixed = f.matmul(scores[:, :, :past], old_values) + scores[:, :, past:] * value
        return mixed.reshape(1, width), key, value

    def function(
        f: Any, token: Any, position: Any, keys: Any, values: Any, *arrays: Any
    ) -> tuple[Any, Any, Any]:
        take = iter(arrays).__next__
        table = take()
        x = f.rows(table, token) + f.rows(take(), position)
        new_keys, new_values = [], []
        for layer in range(layers):
            qkv = f.dense(f.layer_norm(x, take(), take()), take(), take())
            mixed, key, value = attention(f, qkv, keys[layer], values[layer])
            x = x + f.dense(mixed, take(), take())
            inner = f.dense(f.layer_norm(x, take(), take()), take(), take())
            x = x + f.dense(f.gelu(inner), take(), take())
            new_keys.append(key)
            new_values.append(value)
        logits = f.matmul(f.layer_norm(x, take(), take()), f.permute(table, 1, 0))
        return logits, f.concatenate(new_keys, 1), f.concatenate(new_values, 1)

    cache = plain(layers, heads, past, head, draw=scaled(0.3))
    inputs = [plain(1, draw=_always(123)), plain(1, draw=_always(past)), cache, cache]
    flops = 2 * (layers * 12 * width**2 + words * width)
    operands = _gpt2_weights(layers, width, words).operands
    return Workload(function, inputs, operands, flops, whole_model=True)


def _always(number: int) -> Draw:
    def draw(_: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.full(shape, number, np.int32)

    return draw


def _gpt2_weights(layers: int, width: int, words: int) -> Weights:
    weights = Weights()
    weights.matrix(words, width, 0.02)
    weights.matrix(1024, width, 0.02)
    for _ in range(layers):
        weights.norm(width)
        weights.dense(width, 3 * width)
        weights.dense(width, width)
        weights.norm(width)
        weights.dense(width, 4 * width)
        weights.dense(4 * width, width)
    weights.norm(width)
    return weights


def lstm(steps: int, inputs: int, hidden: int, whole_model: bool = True) -> Workload:
    weights = Weights()
    weights.matrix(4 * hidden, inputs, 2 / hidden**0.5)
    weights.matrix(4 * hidden, hidden, 1 / hidden**0.5)
    weights.vector(4 * hidden)
    weights.vector(4 * hidden)
    return Workload(
        lambda f, *arrays: f.lstm(*arrays),
        [plain(steps, 1, inputs)],
        weights.operands,
        flops=2 * steps * 4 * hidden * (inputs + hidden),
        onnx=Onnx.LSTM,
        whole_model=whole_model,
    )


add("model", "bert_layer_s128", bert_layer(128))
add("model", "gpt2_decode_ctx256", gpt2_decode(255))
add("model", "lstm_s100_h256", lstm(100, 128, 256))
