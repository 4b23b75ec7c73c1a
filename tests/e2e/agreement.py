"""Runs a JAX function through ccodegen and through XLA:CPU, and compares."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ccodegen
from ccodegen.backend.options import Parameter
from tests.passes.checking import assert_same_bits

Array = np.ndarray[Any, Any]

FULL = os.environ.get("CCODEGEN_FULL") == "1"

# The largest difference over the largest value; types narrower than f32 within their last bits.
TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2}
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Example:
    """A JAX function and its arguments, which are pytrees.

    `bound`: numbers of the arguments that become constants. `platform`: what it is lowered for;
    for "cpu" JAX takes LAPACK where HLO has an op of its own. `skipped`: a path in the result that
    is not compared.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    bound: tuple[int, ...] = ()
    platform: str = "cpu"
    skipped: Sequence[str] = field(default=())


def random_arrays(*shapes: tuple[int, ...], seed: int = 0) -> list[Array]:
    """Normally distributed f32."""
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape, np.float32) for shape in shapes]


def compiled(example: Example) -> ccodegen.Executable:
    """The example, its bound arguments constants."""
    import jax

    traced = jax.jit(example.function, keep_unused=True).trace(*example.arguments)
    lowered = traced.lower(lowering_platforms=(example.platform,))
    return ccodegen.compile(lowered, constants=_constants(example))


def assert_agrees(example: Example) -> ccodegen.Executable:
    """Asserts that the results are XLA:CPU's."""
    import jax
    from jax import tree_util

    executable = compiled(example)
    free = [a for n, a in enumerate(example.arguments) if n not in example.bound]
    got = executable(*map(np.asarray, tree_util.tree_leaves(free)))
    flat = got if isinstance(got, tuple) else (got,)
    expected = jax.jit(example.function)(*example.arguments)
    tree = tree_util.tree_structure(expected)
    assert_same_tree(expected, tree.unflatten(flat), example.skipped)
    return executable


def assert_jit_agrees(
    function: Callable[..., Any], arguments: Sequence[Array], tolerance: float
) -> None:
    """Asserts that `ccodegen.jit` gives what `jax.jit` does, within the tolerance, absolute and
    relative. With 64-bit types."""
    import jax

    with jax.enable_x64(True):
        expected = jax.tree.leaves(jax.jit(function)(*arguments))
        got = jax.tree.leaves(ccodegen.jit(function)(*arguments))
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(np.asarray(mine), theirs, tolerance, tolerance)


def assert_same_tree(expected: Any, got: Any, skipped: Sequence[str] = ()) -> None:
    """Asserts that two pytrees of arrays are alike, save where a path begins with a skipped one."""
    from jax import tree_util

    (wanted, tree), (found, other) = map(tree_util.tree_flatten_with_path, (expected, got))
    assert tree == other
    for (path, a), (_, b) in zip(wanted, found, strict=True):
        name = tree_util.keystr(path)
        if not name.startswith(tuple(skipped)):
            assert_close(np.asarray(a), np.asarray(b), name)


def assert_close(expected: Array, got: Array, name: str) -> None:
    """Within the tolerance of the type; integers and pred exactly."""
    assert (expected.dtype, expected.shape) == (got.dtype, got.shape), name
    if expected.dtype.kind in "biu" or not expected.size:
        assert_same_bits(expected, got)
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    a, b = expected.astype(wide), got.astype(wide)
    finite = np.isfinite(a)
    assert_same_bits(a[~finite], b[~finite])
    scale = np.abs(a[finite]).max(initial=0.0)
    error = np.abs(a[finite] - b[finite]).max(initial=0.0)
    limit = TOLERANCES.get(expected.dtype.name, TOLERANCE) * scale
    assert error <= limit, f"{name}: {error} of {scale}"


def _constants(example: Example) -> dict[Parameter, Array]:
    """The leaves of bound arguments, by flat number."""
    from jax import tree_util

    constants: dict[Parameter, Array] = {}
    first = 0
    for number, argument in enumerate(example.arguments):
        leaves = tree_util.tree_leaves(argument)
        if number in example.bound:
            constants |= {first + n: np.asarray(leaf) for n, leaf in enumerate(leaves)}
        first += len(leaves)
    return constants
