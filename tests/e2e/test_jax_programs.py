"""JAX programs give what XLA:CPU gives: through `compile`, and through `jit`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

import ccodegen
from tests.e2e.agreement import Array, assert_agrees, assert_same_tree, random_arrays
from tests.e2e.jax_models import MODELS, UPDATED, mlp_training
from tests.e2e.jax_programs import PROGRAMS


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    built = assert_agrees(MODELS[name]()).build
    assert built.program.arena_size <= 1.05 * built.lower_bound


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    assert_agrees(PROGRAMS[name]())


def test_training_updates_its_state_in_place() -> None:
    """Three steps, each on the state of the one before; the state's arrays are the same ones."""
    example = mlp_training()
    state, *batch = example.arguments
    step = ccodegen.jit(example.function, donate_argnums=0)
    reference = jax.jit(example.function)
    ours, theirs = jax.tree_util.tree_map(np.array, state), state
    memory = addresses(ours)
    for _ in range(3):
        # Adam takes rounding for gradients where these are zero: both start from the same state.
        start = jax.tree_util.tree_map(np.array, theirs)
        jax.tree_util.tree_map(np.copyto, ours, start)
        ours, metrics = step(ours, *batch)
        theirs, expected = reference(theirs, *batch)
        assert addresses(ours) == memory
        assert_same_tree((theirs, expected), (ours, metrics), (UPDATED,))


def addresses(tree: Any) -> list[int]:
    return [np.asarray(leaf).ctypes.data for leaf in jax.tree_util.tree_leaves(tree)]


def test_jit_takes_and_gives_pytrees() -> None:
    @ccodegen.jit
    def function(tree: Any, *, scale: Any) -> Any:
        return {"sum": tree["a"] + tree["b"][0] * scale, "rest": (tree["b"], None, [scale])}

    a, b = random_arrays((3, 4), (3, 4))
    got = function({"a": a, "b": [b]}, scale=np.float32(2))
    assert_same_tree({"sum": a + b * 2, "rest": ([b], None, [np.float32(2)])}, got)


def test_jit_compiles_once_for_each_shape_and_static_argument() -> None:
    traced = []

    def power(x: Any, exponent: int) -> Any:
        traced.append((x.shape, exponent))
        return x**exponent

    function = ccodegen.jit(power, static_argnums=1)
    short, long = (np.arange(n, dtype=np.float32) for n in (3, 5))
    for x, exponent in ((short, 2), (short, 2), (short, 3), (long, 2), (long, 2)):
        np.testing.assert_allclose(function(x, exponent), x**exponent)
    assert traced == [((3,), 2), ((3,), 3), ((5,), 2)]


def test_jit_takes_jax_arrays_numbers_and_64_bits() -> None:
    def function(x: Any, n: Any, wide: Any) -> Any:
        return jnp.sin(x) * n, n + 1, wide + 1

    arguments = jnp.arange(4.0), 3, np.arange(3.0)
    expected = jax.jit(function)(*arguments)
    for donated in ((), (0, 1, 2)):
        assert_same_tree(expected, ccodegen.jit(function, donate_argnums=donated)(*arguments))


def test_state_in_place_by_path() -> None:
    """An exponential average, whose state is named by its argument path."""

    def average(state: Any, x: Any) -> Any:
        mean = 0.9 * state["mean"] + 0.1 * x
        return {"mean": mean, "count": state["count"] + 1}, mean.max()

    state = {"mean": np.zeros(6, np.float32), "count": np.int32(0)}
    lowered = jax.jit(average).lower(state, state["mean"])
    step = ccodegen.compile(lowered, donate=["state['mean']"])
    mean: Array = np.zeros(6, np.float32)
    expected: Array = np.zeros(6, np.float32)
    for n, x in enumerate(random_arrays(*[(6,)] * 4)):
        expected = np.float32(0.9) * expected + np.float32(0.1) * x
        count, new, highest = step(np.int32(n), mean, x)
        assert new is mean
        assert count == n + 1
        np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(highest, expected.max(), rtol=1e-5)
