"""What `jit` gives: a JAX-traceable function, compiled for each set of shapes and types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

import numpy as np

from ccodegen.frontends import jax_lowered
from ccodegen.frontends.jax_arguments import Names, Numbers, choose
from ccodegen.jit import Executable
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen


class Jitted:
    """The callable that `jit` gives."""

    def __init__(
        self,
        function: Callable[..., Any],
        donated: tuple[Numbers, Names],
        static: tuple[Numbers, Names],
        compile_: Callable[..., Executable],
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._donated = choose(function, *donated)
        self._static = choose(function, *static)
        self._compile_program = compile_
        self._made: dict[Any, _Compiled] = {}

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        """As a method, whose first argument is the instance."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        dynamic = self._static.others(args, kwargs)
        key = self._signature(args, kwargs, dynamic)
        try:
            made = self._made.get(key)
        except TypeError as error:
            hint = "an array cannot be static; a tuple can"
            raise InputError(f"a static argument has no hash: {error}", hint=hint) from None
        if made is None:
            made = self._made[key] = self._compile(args, kwargs)
        return made(*dynamic)

    def _signature(self, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Any) -> Any:
        from jax import tree_util

        leaves, tree = tree_util.tree_flatten(dynamic)
        kinds = tuple(_kind(a) for a in leaves)
        static = self._static.of(args, kwargs)
        return tree, kinds, static, jax_lowered.settings()

    def _compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Compiled:
        numbers, names = sorted(self._static.numbers), sorted(self._static.names)
        lowered = jax_lowered.lower(
            self._function, args, kwargs, static_argnums=numbers, static_argnames=names
        )
        form = jax_lowered.call_of(lowered)
        donate = self._donated_parameters(args, kwargs, form.kept)
        executable = self._compile_program(lowered, donate=donate)
        types = [argument.dtype for argument in executable.arguments]
        return _Compiled(form, executable, types, frozenset(donate))

    def _donated_parameters(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], kept: Sequence[int]
    ) -> list[int]:
        """The entry's parameters that are leaves of donated arguments."""
        from jax import tree_util

        positions = (
            [n in self._donated.numbers] * len(tree_util.tree_leaves(argument))
            for n, argument in enumerate(args)
            if n not in self._static.numbers
        )
        names = (
            [name in self._donated.names] * len(tree_util.tree_leaves(kwargs[name]))
            for name in sorted(kwargs)  # as JAX flattens them
            if name not in self._static.names
        )
        donated = [given for leaves in (*positions, *names) for given in leaves]
        return [place for place, number in enumerate(kept) if donated[number]]


def _kind(leaf: Any) -> Any:
    """What JAX traces of an argument: shape, type, and whether the type is weak."""
    return np.shape(leaf), getattr(leaf, "dtype", type(leaf)), getattr(leaf, "weak_type", False)


@frozen
class _Compiled:
    """A function for one set of shapes and types. `types` and `donated`: of the entry's
    parameters."""

    form: jax_lowered.JaxCall
    executable: Executable
    types: Sequence[np.dtype[Any]]
    donated: frozenset[int]

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = self.form.flatten(args, kwargs)
        results = self.executable(*(self._array(n, value) for n, value in enumerate(values)))
        return self.form.unflatten(results if isinstance(results, tuple) else (results,))

    def _array(self, number: int, value: Any) -> np.ndarray[Any, Any]:
        """In the type it was traced with: JAX takes Python numbers and 64 bits for 32. A donated
        array of JAX's is copied, as it cannot be written."""
        array = np.asarray(value, self.types[number])
        writable = isinstance(value, np.ndarray) or number not in self.donated
        return array if writable else array.copy()
