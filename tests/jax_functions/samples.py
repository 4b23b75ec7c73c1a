"""Calls of a function: from its signature, or from tables/ where that does not say enough."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import tree_util

from tests.jax_functions import tables
from tests.jax_functions.arrays import Arrays
from tests.jax_functions.listing import Function
from tests.jax_functions.use import Use, use

_SHAPES = ((3, 5), (), (0, 3), (4,), (2, 4, 4))


@dataclass(frozen=True)
class Sample:
    """A call of a function. The arrays in it are arguments of the program; all else, such as an
    axis, a shape or a callable, is part of it."""

    function: Callable[..., Any]
    use: Use

    @property
    def arrays(self) -> list[Any]:
        return [leaf for leaf in self._leaves()[0] if _is_array(leaf)]

    def program(self, *arrays: Any) -> Any:
        """The function to trace and compile."""
        leaves, tree = self._leaves()
        given = iter(arrays)
        filled = [next(given) if _is_array(leaf) else leaf for leaf in leaves]
        args, kwargs = tree_util.tree_unflatten(tree, filled)
        return self.use.after(self.function(*args, **kwargs))

    def describe(self) -> str:
        """The call in one line, arrays as their types."""
        args = [_text(arg) for arg in self.use.args]
        return ", ".join(args + [f"{key}={_text(arg)}" for key, arg in self.use.kwargs.items()])

    def _leaves(self) -> tuple[list[Any], Any]:
        return tree_util.tree_flatten((self.use.args, self.use.kwargs))


def samples(function: Function, arrays: Arrays) -> list[Sample]:
    """The function's samples in a type; JAX may not take all of them."""
    maker = tables.find(function.module, function.name)
    uses = maker(arrays) if maker else _by_signature(function.call, arrays)
    return [Sample(one.function or function.call, one) for one in uses]


def _by_signature(call: Callable[..., Any], arrays: Arrays) -> Sequence[Use]:
    """One array for each argument that has to be given, all of the same shape."""
    count = _required(call)
    uses = [use(*(arrays(*shape) for _ in range(count))) for shape in _SHAPES]
    uses.append(use(*(arrays.positive(7) for _ in range(count))))
    uses.append(use(*(np.roll(arrays.special(), 3 * n) for n in range(count))))
    return uses if count else []


def _required(call: Callable[..., Any]) -> int:
    if inputs := getattr(call, "nin", 0):  # a ufunc, which does not show them in its signature
        return int(inputs)
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(call).parameters.values()
    return sum(p.kind in places and p.default is inspect.Parameter.empty for p in parameters)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray | jax.Array)


def _text(value: Any) -> str:
    if _is_array(value):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_text, value))})"
    return getattr(value, "__name__", None) or str(value)
