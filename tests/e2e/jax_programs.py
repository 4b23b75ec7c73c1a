"""Small JAX programs: control flow, sorting, scans, indexing, windows, types, random bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.e2e.agreement import Array, Example, random_arrays

PROGRAMS: dict[str, Callable[[], Example]] = {}


def program(make: Callable[[], Example]) -> Callable[[], Example]:
    PROGRAMS[make.__name__] = make
    return make


def floats(*shape: int, seed: int = 0) -> Array:
    return random_arrays(shape, seed=seed)[0]


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> Array:
    return np.random.default_rng(0).integers(low, high, shape, dtype)


@program
def while_loop() -> Example:
    """Newton's method until it stands still: how many turns depends on the data."""

    def function(x: Any) -> Any:
        def step(state: Any) -> Any:
            guess, _, turns = state
            better = 0.5 * (guess + x / guess)
            return better, jnp.abs(better - guess).max(), turns + 1

        start = (jnp.ones_like(x), jnp.float32(np.inf), 0)
        return lax.while_loop(lambda s: (s[1] > 1e-3) & (s[2] < 100), step, start)

    return Example(function, (np.abs(floats(50)) + 1,))


@program
def cond() -> Example:
    def function(flag: Any, x: Any, y: Any) -> Any:
        taken = lax.cond(flag > 0, lambda x, y: (x @ y, x), lambda x, y: (x + y, y), x, y)
        other = lax.cond(flag <= 0, jnp.sin, lambda x: x * 2, x)
        return taken, other

    return Example(function, (np.int32(3), floats(8, 8), floats(8, 8, seed=1)))


@program
def switch() -> Example:
    def function(indices: Any, x: Any) -> Any:
        branches = [jnp.sin, lambda x: x * x, lambda x: -x, jnp.sort]
        return [lax.switch(indices[n], branches, x) for n in range(6)]

    return Example(function, (np.array([-5, 0, 1, 2, 3, 9], np.int32), floats(33)))


@program
def fori_loop_with_updates() -> Example:
    """Fibonacci numbers in a row that the loop fills; one branch of a cond in the loop."""

    def function(x: Any, turns: Any) -> Any:
        def body(n: Any, state: Any) -> Any:
            row, total = state
            row = lax.dynamic_update_index_in_dim(row, row[n - 1] + row[n - 2], n, 0)
            return row, lax.cond(n % 2 == 0, lambda t: t + row[n], lambda t: t - 1, total)

        return lax.fori_loop(2, turns, body, (x, jnp.float32(0)))

    return Example(function, (np.ones(30, np.float32), np.int32(30)))


@program
def nested_loops() -> Example:
    def function(x: Any) -> Any:
        def inner(m: Any, y: Any) -> Any:
            return y.at[m].set(y[m] * 0.5 + y[m - 1])

        return lax.fori_loop(0, 7, lambda n, y: lax.fori_loop(1, n + 1, inner, y) + 1, x)

    return Example(function, (floats(8),))


@program
def scan_with_swapped_carry() -> Example:
    def function(a: Any, b: Any, xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            a, b, c = carry
            return (b, a + x, a), (a * b, c)

        return lax.scan(step, (a, b, a * 2), xs, reverse=True)

    return Example(function, (floats(5), floats(5, seed=1), floats(11, 5)))


@program
def heat_equation() -> Example:
    def function(u: Any) -> Any:
        def step(_: Any, u: Any) -> Any:
            around = sum(jnp.roll(u, s, d) for d in (0, 1) for s in (-1, 1))
            return u + 0.1 * (around - 4 * u)

        return lax.fori_loop(0, 20, step, u)

    return Example(function, (floats(24, 32),))


@program
def sort() -> Example:
    x = floats(6, 40)
    x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    return Example(lambda x: (jnp.sort(x), jnp.sort(x, 0, descending=True)), (x,))


@program
def argsort() -> Example:
    """Stable, by one key and by two, and one that takes values along."""

    def function(x: Any, y: Any) -> Any:
        both = lax.sort((x, y, y * 2.0), dimension=0, num_keys=2)
        return jnp.argsort(x), jnp.argsort(x, descending=True), both, jnp.lexsort((y, x))

    return Example(function, (integers(0, 9, 200), floats(200)))


@program
def top_k() -> Example:
    x = floats(5, 60)
    x[0, 3:9] = 5.0
    return Example(lambda x, n: (lax.top_k(x, 7), lax.top_k(n, 3)), (x, integers(-9, 9, 50)))


@program
def median_and_unique() -> Example:
    def function(x: Any, n: Any) -> Any:
        return jnp.median(x, 1), jnp.percentile(x, 30.0), jnp.unique(n, size=12, fill_value=-1)

    return Example(function, (floats(4, 9), integers(0, 9, 30)))


@program
def cumulative() -> Example:
    def function(x: Any, n: Any) -> Any:
        sums = jnp.cumsum(x), jnp.cumsum(x, 1), jnp.cumsum(n), lax.cumsum(x, 0, reverse=True)
        return sums, jnp.cumprod(x, 0), lax.cummax(x, 1), lax.cummin(n), lax.cumlogsumexp(x, 1)

    return Example(function, (floats(7, 33), integers(-9, 9, 100)))


@program
def associative_scan() -> Example:
    def function(a: Any, b: Any) -> Any:
        return lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, b))

    return Example(function, (np.tanh(floats(37)), floats(37, seed=1)))


@program
def scatter() -> Example:
    """Some indices are doubled, some negative, some out of bounds and dropped."""

    def function(x: Any, i: Any, u: Any) -> Any:
        added = x.at[i].add(u)
        return added, x.at[i].max(u), x.at[i, 2].multiply(2.0), x.at[::2, 1:3].set(7.0)

    i = np.array([0, 3, 3, -1, 40, 5], np.int32)
    return Example(function, (floats(10, 4), i, floats(6, 4, seed=1)))


@program
def gather() -> Example:
    def function(x: Any, i: Any, j: Any) -> Any:
        picked = jnp.take_along_axis(x, jnp.argsort(x, 1), 1)
        taken = x[i], x[i, j], x[:, j], jnp.take(x, i, 1, mode="clip"), jnp.take(x, i, 0)
        return picked, taken, x.at[i].get(mode="fill", fill_value=3.0)

    i, j = np.array([0, 7, 3, -2, 60], np.int32), np.array([1, 0, 3, 3, 2], np.int32)
    return Example(function, (floats(9, 4), i, j))


@program
def embedding_gradient() -> Example:
    def loss(table: Any, tokens: Any) -> Any:
        return (jnp.tanh(table[tokens]) ** 2).sum()

    return Example(jax.value_and_grad(loss), (floats(20, 8), integers(0, 20, 3, 7)))


@program
def dynamic_slices() -> Example:
    def function(x: Any, i: Any) -> Any:
        part = lax.dynamic_slice(x, (i, -3 * i, i + 5), (2, 4, 3))
        return part, lax.dynamic_update_slice(x, part * 2, (i - 9, i, 100))

    return Example(function, (floats(4, 6, 8), np.int32(2)))


@program
def convolutions() -> Example:
    """Strides, dilations of both sides, groups, other layouts, one and three dimensions."""

    def function(x: Any, w: Any, line: Any, volume: Any) -> Any:
        labels = ("NHWC", "HWIO", "NHWC")
        several = {
            "atrous": {"rhs_dilation": (2, 3), "padding": "SAME"},
            "transposed": {"lhs_dilation": (2, 2), "padding": [(2, 1), (1, 2)]},
            "both": {"lhs_dilation": (2, 1), "rhs_dilation": (1, 2), "padding": [(0, 0)] * 2},
            "strided": {"window_strides": (3, 2), "padding": [(0, 2), (-1, 3)]},
            "batches": {"batch_group_count": 2, "padding": "SAME"},
        }
        results = {
            name: lax.conv_general_dilated(
                x, w, **{"window_strides": (1, 1), **options}, dimension_numbers=labels
            )
            for name, options in several.items()
        }
        results["groups"] = lax.conv_general_dilated(
            x, w[:, :, :1], (1, 1), "SAME", dimension_numbers=labels, feature_group_count=3
        )
        results["nchw"] = lax.conv(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (1, 2), "SAME")
        results["upsampled"] = lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=labels)
        results["line"] = jnp.convolve(line, line[:5], mode="same")
        results["volume"] = lax.conv(volume, volume[:, :, :2, :2, :2], (1, 1, 1), "SAME")
        return results

    arguments = floats(2, 9, 8, 3), floats(3, 3, 3, 6), floats(31), floats(2, 2, 4, 5, 6)
    return Example(function, arguments)


@program
def convolution_gradient() -> Example:
    def loss(x: Any, w: Any) -> Any:
        labels = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=labels)
        return (jnp.tanh(y) ** 2).sum()

    return Example(jax.value_and_grad(loss, (0, 1)), (floats(2, 9, 8, 3), floats(3, 3, 3, 6)))


@program
def pooling_gradient() -> Example:
    def loss(x: Any) -> Any:
        window, strides = (1, 3, 3, 1), (1, 2, 2, 1)
        largest = lax.reduce_window(x, -jnp.inf, lax.max, window, strides, "SAME")
        mean = lax.reduce_window(x, 0.0, lax.add, window, strides, "VALID") / 9
        return (largest**2).sum() + (mean**3).sum()

    return Example(jax.value_and_grad(loss), (floats(2, 11, 10, 3),))


@program
def reductions() -> Example:
    def function(x: Any, n: Any) -> Any:
        return {
            "sum": [x.sum(d) for d in (0, 1, 2, (0, 2), None)],
            "moments": [x.mean((1, 2)), x.std(0), x.var(2)],
            "extremes": [x.max(1), x.min((0, 1)), jnp.ptp(x, 2)],
            "places": [jnp.argmax(x, 1), jnp.argmin(x, 2), jnp.argmax(n)],
            "products": [x.prod(1), n.prod(1, dtype=np.int32)],
            "bits": [lax.reduce_and(n, (0,)), lax.reduce_or(n, (1,)), lax.reduce_xor(n, (0,))],
            "tests": [(x > 1).any(0), (x < 3).all(1), jnp.count_nonzero(n, 0)],
            "own": lax.reduce(x, 1.0, lambda a, b: a + b - 0.25 * a * b, (1,)),
            "norms": [jnp.linalg.norm(x), jax.nn.logsumexp(x, 1), jnp.linalg.norm(x, axis=2)],
        }

    return Example(function, (floats(5, 6, 17) * np.float32(0.5), integers(-99, 99, 6, 11)))


@program
def elementwise_functions() -> Example:
    """Where XLA's own functions have an error near ours."""

    def function(x: Any, y: Any) -> Any:
        p = jnp.abs(x) + 0.1
        f = jnp
        first = [f.exp(x), f.log(p), f.sin(x), f.cos(x), f.tan(x), f.tanh(x), f.sinh(x), f.cosh(x)]
        second = [f.expm1(x), f.log1p(p), f.sqrt(p), lax.rsqrt(p), f.cbrt(x), lax.logistic(x)]
        third = [lax.erf(x), f.arctan(x), f.arcsinh(x), f.power(p, y), f.arctan2(x, y)]
        fourth = [f.round(x), f.floor(x), f.ceil(x), f.sign(x), f.remainder(x, y), x % 3, x // y]
        return first, second, third, fourth, jax.nn.softplus(x), jax.nn.silu(x), jax.nn.elu(y)

    return Example(function, (floats(777), floats(777, seed=1)))


@program
def integer_arithmetic() -> Example:
    def function(a: Any, b: Any) -> Any:
        signed = a // b, a % b, lax.div(a, b), lax.rem(a, b), a * b, a << 3, a >> 2, a**3
        u = a.astype(np.uint32)
        bits = ~a, a & b, a | b, a ^ b, lax.population_count(u), lax.clz(u), u >> 5, u * u
        small = [a.astype(t) * b.astype(t) for t in (np.int8, np.uint8, np.int16, np.uint16)]
        return signed, bits, small, jnp.gcd(a & 1023, b), jnp.clip(a, -5, b), jnp.abs(a)

    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    a, b = integers(-1000, 1000, 200), integers(-9, 10, 200)
    a[:4], b[:4] = [low, high, low, 5], [-1, 0, 0, 0]
    return Example(function, (a, b))


@program
def predicates() -> Example:
    def function(a: Any, b: Any, x: Any) -> Any:
        logic = a & b, a | ~b, a ^ b, jnp.where(a, x, -x), a.sum(), a.astype(np.float32) @ x
        return logic, jnp.logical_not(a) == b, jnp.isfinite(x / (x > 0)), x.astype(bool), a < b

    flags = integers(0, 2, 2, 64).astype(np.bool_)
    return Example(function, (flags[0], flags[1], floats(64)))


@program
def half_precision() -> Example:
    def function(x: Any, w: Any) -> Any:
        def half(t: Any) -> Any:
            a, b = x.astype(t), w.astype(t)
            return a @ b, jnp.dot(a, b, preferred_element_type=np.float32), a.sum(0), a * 2 + a

        return half(jnp.bfloat16), half(jnp.float16)

    return Example(function, (floats(24, 40), floats(40, 16)))


@program
def integer_matrices() -> Example:
    def function(a: Any, b: Any) -> Any:
        wide = lax.dot(a, b, preferred_element_type=np.int32)
        return wide, a @ b, a.astype(np.int32) @ b.astype(np.int32)

    return Example(
        function,
        (integers(-128, 128, 20, 33, dtype=np.int8), integers(-99, 99, 33, 17, dtype=np.int8)),
    )


@program
def contractions() -> Example:
    def function(a: Any, b: Any) -> Any:
        specifications = "abc,acd->abd", "abc,acd->dba", "abc,acd->bd", "abc,ecd->aebd"
        return [jnp.einsum(s, a, b) for s in specifications], jnp.tensordot(a, b, ((0, 2), (0, 1)))

    return Example(function, (floats(5, 6, 7), floats(5, 7, 8)))


@program
def complex_arithmetic() -> Example:
    def function(z: Any, w: Any, x: Any) -> Any:
        products = z * w, z / w, z @ w, z + x, z.conj() * 1j, jnp.abs(z), z.real - w.imag
        return products, jnp.exp(z), jnp.log(z), jnp.sqrt(z), z.sum(0), lax.complex(x, x)

    parts = random_arrays(*[(12, 12)] * 5)
    z, w = parts[0] + 1j * parts[1], parts[2] + 1j * parts[3]
    return Example(function, (z, w, parts[4]))


@program
def threefry() -> Example:
    def function(key: Any) -> Any:
        keys = jax.random.split(jax.random.wrap_key_data(key, impl="threefry2x32"), 3)
        drawn = jax.random.normal(keys[1], (50,)), jax.random.randint(keys[2], (9,), -5, 100)
        return jax.random.bits(keys[0], (101,)), drawn, jax.random.permutation(keys[0], 20)

    return Example(function, (np.array([1, 42], np.uint32),))


@program
def rbg() -> Example:
    def function(key: Any) -> Any:
        wrapped = jax.random.wrap_key_data(key, impl="rbg")
        return jax.random.bits(wrapped, (7, 9)), jax.random.uniform(wrapped, (33,))

    return Example(function, (np.array([1, 2, 3, 42], np.uint32),))


@program
def cholesky() -> Example:
    """For a TPU JAX takes HLO's own op."""
    a = floats(3, 20, 20)
    positive = a @ a.transpose(0, 2, 1) / 20 + np.eye(20, dtype=np.float32)
    return Example(lambda a: lax.linalg.cholesky(a), (positive,), platform="tpu")


@program
def solve_triangular() -> Example:
    def function(a: Any, b: Any) -> Any:
        solve = lax.linalg.triangular_solve
        left = solve(a, b, left_side=True, lower=True)
        right = solve(a, b.T, left_side=False, lower=False, transpose_a=True)
        return left, right, solve(a, b, left_side=True, lower=True, unit_diagonal=True)

    a = np.tril(floats(20, 20)) / 8 + np.eye(20, dtype=np.float32)
    return Example(function, (a, floats(20, 7)), platform="tpu")


@program
def vmapped() -> Example:
    def one(w: Any, x: Any, n: Any) -> Any:
        y = jnp.tanh(w @ x)
        looped = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5), (0, y))
        return looped[1], lax.dynamic_slice(x, (n,), (3,)), x.at[n].add(5.0), lax.top_k(x, 2)

    counts = np.array([3, 0, 7, 1], np.int32)
    return Example(jax.vmap(one), (floats(4, 6, 8), floats(4, 8), counts))


@program
def second_derivatives() -> Example:
    def loss(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * jnp.exp(-(x**2))) + jnp.prod(jnp.tanh(x))

    return Example(lambda x: (jax.hessian(loss)(x), jax.jacfwd(jax.grad(loss))(x)), (floats(6),))


@program
def scan_gradient() -> Example:
    """Backpropagation through time."""

    def loss(w: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = jnp.tanh(w @ h + x)
            return h, h

        return (lax.scan(step, jnp.zeros(8), xs)[1] ** 2).sum()

    return Example(jax.value_and_grad(loss), (floats(8, 8) / 3, floats(15, 8)))


@program
def movement() -> Example:
    def function(x: Any) -> Any:
        moved = x.transpose(2, 0, 1), jnp.flip(x, (0, 2)), jnp.roll(x, (3, -2), (1, 2)), x[::-2]
        padded = lax.pad(x, 1.5, ((1, -1, 2), (0, 3, 0), (-2, 1, 1))), jnp.pad(x, 2, "reflect")
        joined = jnp.concatenate([x, x[:, 1:]], 1), jnp.stack([x, -x], 1), jnp.tile(x, (2, 1, 3))
        split = jnp.array_split(x, 3, 2), x.reshape(-1, 7), jnp.repeat(x, 3, 1), jnp.rot90(x)
        return moved, padded, joined, split, jnp.triu(x[0]), jnp.diagonal(x, 0, 1, 2)

    return Example(function, (floats(5, 6, 7),))


@program
def batch_norm() -> Example:
    """As in training: the statistics are part of the gradient."""

    def loss(x: Any, scale: Any, bias: Any) -> Any:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (((x - mean) * lax.rsqrt(variance + 1e-3) * scale + bias) ** 4).mean()

    arguments = floats(4, 5, 6, 3), floats(3), floats(3, seed=1)
    return Example(jax.value_and_grad(loss, (0, 1, 2)), arguments)
