"""Python functions that JAX programs call while they run: pure_callback, io_callback, debug."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ccodegen

jax = pytest.importorskip("jax")
jnp = jax.numpy
io_callback = pytest.importorskip("jax.experimental").io_callback
X = np.array([1, 2], np.float32)


def like(x: Any) -> Any:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


class Log:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def taking(self, name: str) -> Any:
        def function(*arrays: Any) -> None:
            self.seen.append((name, *(np.asarray(a).tolist() for a in arrays)))

        return function


def test_pure_callback() -> None:
    def function(x: Any, y: Any) -> Any:
        shapes = {"sum": like(x), "less": jax.ShapeDtypeStruct(x.shape, np.bool_)}
        answer = jax.pure_callback(lambda a, b: {"sum": a + b, "less": a < b}, shapes, x, y)
        return jnp.where(answer["less"], answer["sum"], 0)

    y = np.array([3, 0], np.float32)
    np.testing.assert_array_equal(ccodegen.jit(function)(X, y), jax.jit(function)(X, y))
    lowered = jax.jit(function).lower(X, y)
    np.testing.assert_array_equal(ccodegen.compile(lowered)(X, y), [4, 0])


def test_ordered_effects_keep_their_order() -> None:
    log = Log()

    def function(x: Any) -> Any:
        jax.debug.callback(log.taking("first"), x[0], ordered=True)

        def body(i: Any, carry: Any) -> Any:
            jax.debug.callback(log.taking("turn"), i, ordered=True)
            return carry + i

        total = jax.lax.fori_loop(0, 3, body, x)

        def positive(v: Any) -> Any:
            jax.debug.callback(log.taking("positive"), ordered=True)
            return v * 2

        total = jax.lax.cond(total[0] > 0, positive, lambda v: v, total)
        jax.debug.callback(log.taking("last"), total, ordered=True)
        return total

    np.testing.assert_array_equal(ccodegen.jit(function)(X), [8, 10])
    turns = [("turn", 0), ("turn", 1), ("turn", 2)]
    assert log.seen == [("first", 1), *turns, ("positive",), ("last", [8, 10])]


def test_io_callback_gives_values_and_donation_counts_arrays() -> None:
    log, count = Log(), iter(range(10))

    def read(x: Any) -> Any:
        log.taking("read")(x)
        return np.float32(next(count))

    def function(x: Any, y: Any) -> Any:
        scalar = jax.ShapeDtypeStruct((), np.float32)
        first = io_callback(read, scalar, x, ordered=True)
        second = io_callback(read, scalar, y, ordered=True)
        return x + first, y + second

    jitted = ccodegen.jit(function, donate_argnums=1)
    y = np.array([5, 6], np.float32)
    results = jitted(X, y)
    np.testing.assert_array_equal(results[0], [1, 2])
    np.testing.assert_array_equal(results[1], [6, 7])
    assert results[0] is y
    assert log.seen == [("read", [1, 2]), ("read", [5, 6])]


def test_debug_print(capsys: pytest.CaptureFixture[str]) -> None:
    @ccodegen.jit
    def function(x: Any) -> Any:
        jax.debug.print("x is {x}", x=x[1])
        return x

    function(X)
    assert "x is 2.0" in capsys.readouterr().out


class MineError(Exception):
    pass


def test_exceptions_reach_the_caller() -> None:
    def fail(x: Any) -> Any:
        raise MineError("no")

    with pytest.raises(MineError, match="no"):
        ccodegen.jit(lambda x: jax.pure_callback(fail, like(x), x))(X)


def test_without_its_functions_a_program_is_refused() -> None:
    lowered = jax.jit(lambda x: jax.pure_callback(lambda a: a, like(x), x)).lower(X)
    text = lowered.compiler_ir("hlo").as_hlo_text()
    with pytest.raises(ccodegen.InputError, match="xla_ffi_python_cpu_callback"):
        ccodegen.compile(text)


def test_the_reference_calls_them_too() -> None:
    lowered = jax.jit(lambda x: jax.pure_callback(lambda a: a * 2, like(x), x)).lower(X)
    assert np.array_equal(ccodegen.evaluate(lowered, X), X * 2)
    assert np.array_equal(ccodegen.compile(lowered)(X), X * 2)
