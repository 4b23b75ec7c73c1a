"""Trains a classifier of handwritten digits (8×8 pixels) with JAX, and saves it as HLO.

Writes digits.hlo, the prediction for one image with the weights as parameters, and weights.npz, the
weights by the names of those parameters. Those who work on ccodegen's demo also want its model, the
same with the weights as constants: python train.py ../../ccodegen/demo/digits.hlo

Needs: pip install scikit-learn, which brings the images.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

import ccodegen
from ccodegen.backend.build import BuildOptions, bind
from ccodegen.target import load

HERE = Path(__file__).resolve().parent
HIDDEN, CLASSES, BATCH, EPOCHS, RATE = 32, 10, 32, 60, 0.1
Parameters = dict[str, Any]


def initial(seed: int) -> Parameters:
    keys = jax.random.split(jax.random.key(seed))
    return {
        "w1": jax.random.normal(keys[0], (64, HIDDEN)) / 8,
        "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(keys[1], (HIDDEN, CLASSES)) / HIDDEN**0.5,
        "b2": jnp.zeros(CLASSES),
    }


def logits(p: Parameters, images: Any) -> Any:
    hidden = jax.nn.relu(images @ p["w1"] + p["b1"])
    return hidden @ p["w2"] + p["b2"]


def predict(p: Parameters, image: Any) -> Any:
    """The probability of each digit, for one image of 64 values from 0 to 1."""
    return jax.nn.softmax(logits(p, image))


def loss(p: Parameters, images: Any, labels: Any) -> Any:
    chosen = jax.nn.log_softmax(logits(p, images))
    return -jnp.mean(jnp.sum(chosen * jax.nn.one_hot(labels, CLASSES), axis=1))


def train_step(p: Parameters, images: Any, labels: Any) -> tuple[Parameters, Any]:
    """The parameters after one step of gradient descent, and the loss before it."""
    value, gradient = jax.value_and_grad(loss)(p, images, labels)
    return jax.tree.map(lambda old, g: old - RATE * g, p, gradient), value


def train(images: Any, labels: Any) -> Parameters:
    p, step = initial(0), jax.jit(train_step)
    random = np.random.default_rng(0)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            p, value = step(p, images[batch], labels[batch])
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {float(value):.4f}")
    return p


def hlo(function: Any, *arguments: Any) -> str:
    """The HLO of a function, with file names relative to this folder."""
    module = ccodegen.read(jax.jit(function).lower(*arguments))
    return module.to_text().replace(f"{HERE}/", "")


def main() -> None:
    data = load_digits()
    images = (data.data / 16).astype(np.float32)
    labels = data.target.astype(np.int32)
    held = slice(1500, None)
    p = train(images[: held.start], labels[: held.start])
    right = np.argmax(np.asarray(predict(p, images[held])), axis=1) == labels[held]
    print(f"right on {100 * right.mean():.1f} % of {right.size} images that were not trained on")
    arrays = {f"p['{name}']": np.asarray(array) for name, array in p.items()}
    np.savez(HERE / "weights.npz", **arrays)
    text = hlo(predict, p, images[0])
    (HERE / "digits.hlo").write_text(text)
    for path in sys.argv[1:]:
        options = BuildOptions(load("host"), constants=arrays)
        Path(path).write_text(bind(ccodegen.read(text, "train.py"), options).module.to_text())


if __name__ == "__main__":
    main()
