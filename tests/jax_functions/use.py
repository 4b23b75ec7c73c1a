"""The arguments of a call, as the tables write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.jax_functions.arrays import Arrays


def unchanged(result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Use:
    """`after`: what makes of the result the part that is defined, such as eigenvectors up to sign;
    it becomes part of the program. `function`: called instead, where ours needs a frame."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    after: Callable[[Any], Any] = unchanged
    function: Callable[..., Any] | None = None

    def then(self, after: Callable[[Any], Any]) -> Use:
        return replace(self, after=after)

    def instead(self, function: Callable[..., Any]) -> Use:
        return replace(self, function=function)


def use(*args: Any, **kwargs: Any) -> Use:
    return Use(args, kwargs)


Maker = Callable[[Arrays], Sequence[Use]]
Table = dict[str, Maker]
