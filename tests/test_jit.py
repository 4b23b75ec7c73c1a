"""`ccodegen.jit` behaves as users of `jax.jit` expect."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

import ccodegen
from tests.e2e.agreement import assert_same_tree

_X = np.arange(3, dtype=np.float32)


def scaled(x: Any, n: int, y: Any = None) -> Any:
    return x * n if n > 2 else y


@pytest.mark.parametrize(
    "options", [{"static_argnums": 1}, {"static_argnums": -2}, {"static_argnames": "n"}]
)
def test_static_arguments_by_position_and_by_name(options: dict[str, Any]) -> None:
    function = ccodegen.jit(scaled, **options)
    np.testing.assert_array_equal(function(_X, 3), _X * 3)
    np.testing.assert_array_equal(function(_X, n=4), _X * 4)
    assert function(_X, n=1) is None


def test_donated_arguments_by_name() -> None:
    step = ccodegen.jit(lambda x, *, state: state + x, donate_argnames="state")
    state = np.ones(3, np.float32)
    assert step(_X, state=state) is state
    np.testing.assert_array_equal(state, _X + 1)


def test_keys_are_arguments_and_results() -> None:
    def draw(keys: Any, x: Any) -> Any:
        return jax.random.split(keys[0]), jax.random.normal(keys[1], (2,)) + x

    keys = jax.random.split(jax.random.key(3), 2)
    (ours, numbers), (theirs, expected) = (j(draw)(keys, 1.0) for j in (ccodegen.jit, jax.jit))
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(jax.random.key_data(ours), jax.random.key_data(theirs))
    np.testing.assert_allclose(numbers, expected, rtol=1e-6)


def test_an_exported_function_takes_keys() -> None:
    key = jax.random.key(3)
    exported = jax.export.export(jax.jit(lambda k: jax.random.bits(k, (2,))))(key)
    executable = ccodegen.compile(exported)
    np.testing.assert_array_equal(executable(jax.random.key_data(key)), jax.random.bits(key, (2,)))


def test_gradients_of_integers_have_no_values() -> None:
    gradient = jax.grad(lambda x, n: x * n, argnums=(0, 1), allow_int=True)
    by_x, by_n = ccodegen.jit(gradient)(3.0, 4)
    assert by_x == 4 and by_n.dtype == jax.dtypes.float0


def test_each_width_of_numbers_has_its_program() -> None:
    double = ccodegen.jit(lambda x: x * 2)
    assert double(3).dtype == np.int32
    with jax.enable_x64(True):
        assert double(3).dtype == np.int64
    assert double(3).dtype == np.int32


def test_weak_types_are_kept_apart() -> None:
    add = ccodegen.jit(lambda x, y: x + y)
    half = np.ones(2, np.float16)
    weak, strong = jnp.asarray(1.0), jnp.asarray(1.0, jnp.float32)
    assert add(half, weak).dtype == np.float16
    assert add(half, strong).dtype == np.float32


def test_results_may_be_none_empty_or_numbers() -> None:
    def function(x: Any) -> Any:
        return {"none": None, "empty": x[:0], "number": 3, "pair": ((), [x])}

    assert_same_tree(jax.jit(function)(_X), ccodegen.jit(function)(_X))
    assert ccodegen.jit(lambda x: None)(_X) is None


def test_static_arguments_need_a_hash() -> None:
    with pytest.raises(ccodegen.InputError, match="static argument has no hash"):
        ccodegen.jit(scaled, static_argnums=1)(_X, _X)


def test_a_method() -> None:
    class Scale:
        factor = 3.0

        @partial(ccodegen.jit, static_argnums=0)
        def __call__(self, x: Any) -> Any:
            return x * self.factor

        @partial(ccodegen.jit, static_argnums=0)
        def twice(self, x: Any) -> Any:
            return x * 2

    assert np.array_equal(Scale().twice(np.float32([1, 2])), [2, 4])
    assert np.array_equal(Scale()(np.float32([1, 2])), [3, 6])
