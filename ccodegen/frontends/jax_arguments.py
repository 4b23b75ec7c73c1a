"""Which arguments of a call are static or donated, by position and by name, as `jax.jit` has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ccodegen.support.immutable import frozen

Numbers = int | Sequence[int] | None
Names = str | Iterable[str] | None


@frozen
class Chosen:
    """Arguments given by position, and arguments given by name."""

    numbers: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Those of a call, each with its place."""
        if not (self.numbers or self.names):
            return ()
        by_number = [(n, args[n]) for n in sorted(self.numbers) if n < len(args)]
        return (*by_number, *((name, kwargs[name]) for name in sorted(self.names & set(kwargs))))

    def others(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call without them."""
        if self.numbers:
            args = tuple(a for n, a in enumerate(args) if n not in self.numbers)
        if self.names:
            kwargs = {name: a for name, a in kwargs.items() if name not in self.names}
        return args, kwargs


def choose(function: Callable[..., Any], numbers: Numbers, names: Names) -> Chosen:
    """An argument named in one of the two ways is meant in the other, too, where the function's
    signature tells; negative numbers count from the end."""
    positional = _positional(function)
    by_number = {n if n >= 0 else n + len(positional) for n in _as_tuple(numbers)}
    by_name = set(_as_tuple(names))
    known = dict(enumerate(positional))
    from_names = {n for n, name in known.items() if name in by_name} if numbers is None else set()
    from_numbers = {known[n] for n in by_number if n in known} if names is None else set()
    return Chosen(frozenset(by_number | from_names), frozenset(by_name | from_numbers))


def _positional(function: Callable[..., Any]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built-in functions may have none
        return []
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, int | str) else tuple(value)
