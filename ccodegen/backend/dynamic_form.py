"""The caller's arrays of actual sizes as the program has them: at their bounds, beside the sizes.

See `loop.Argument.size_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ccodegen.support.errors import InputError
from ccodegen.support.immutable import frozen

Array = np.ndarray[Any, Any]
Sizes = tuple[tuple[int, int], ...]


class HasSize(Protocol):
    """What an argument of a program and a slot of a signature have in common."""

    @property
    def size_of(self) -> tuple[int, ...]: ...
    @property
    def parameter(self) -> int | None: ...
    @property
    def output(self) -> int | None: ...


@frozen
class DynamicForm:
    """`inputs` and `outputs`: (number, dimension) of what each size is the size of, in order."""

    inputs: Sizes
    outputs: Sizes

    def __bool__(self) -> bool:
        return bool(self.inputs or self.outputs)

    def given(
        self, arrays: Sequence[Any], names: Sequence[str], bounds: Sequence[tuple[int, ...]]
    ) -> list[Any]:
        """The inputs at these bounds, zeros behind what counts; then their sizes.

        Raises InputError for an array that is larger than its bound.
        """
        dynamic = {n for n, _ in self.inputs}
        made = [
            self._padded(np.asarray(a), n, names[n], bounds[n]) if n in dynamic else a
            for n, a in enumerate(arrays)
        ]
        return [*made, *(np.asarray(np.shape(arrays[n])[d], np.int32) for n, d in self.inputs)]

    def taken(self, arrays: Sequence[Array]) -> list[Array]:
        """The outputs cut to the sizes that stand behind them."""
        results = list(arrays[: len(arrays) - len(self.outputs)])
        for (n, d), size in zip(self.outputs, arrays[len(results) :], strict=True):
            results[n] = results[n][(*(slice(None),) * d, slice(int(size)))]
        return results

    def returned(
        self, arrays: Sequence[Array], bounds: Sequence[tuple[int, ...]]
    ) -> tuple[list[Array], list[Array | None]]:
        """Expected outputs at these bounds, and their sizes; and for each which elements count,
        None where all do."""
        made = [_at_bounds(a, bounds[n]) for n, a in enumerate(arrays)]
        counts: list[Array | None] = [
            None if a.shape == bounds[n] else _at_bounds(np.ones(a.shape, np.uint8), bounds[n])
            for n, a in enumerate(arrays)
        ]
        sizes = [np.asarray(arrays[n].shape[d], np.int32) for n, d in self.outputs]
        return [*made, *sizes], [*counts, *(None for _ in sizes)]

    def _padded(self, array: Array, number: int, name: str, bounds: tuple[int, ...]) -> Array:
        free = {d for n, d in self.inputs if n == number}
        fits = array.ndim == len(bounds) and all(
            size <= bound if d in free else size == bound
            for d, (size, bound) in enumerate(zip(array.shape, bounds, strict=True))
        )
        if not fits:
            wanted = ",".join(f"<={b}" if d in free else str(b) for d, b in enumerate(bounds))
            found = ",".join(map(str, array.shape))
            raise InputError(f"{name}: expected dimensions [{wanted}], got [{found}]")
        return _at_bounds(array, bounds)


def dynamic_form(arguments: Sequence[HasSize]) -> DynamicForm:
    """What the arguments of a program, or the slots of a signature, say."""
    sizes = [a for a in arguments if a.size_of]
    taken = sorted((a.parameter, a.size_of) for a in sizes if a.parameter is not None)
    given = sorted((a.output, a.size_of) for a in sizes if a.output is not None)
    return DynamicForm(_pairs([of for _, of in taken]), _pairs([of for _, of in given]))


def _pairs(found: Sequence[tuple[int, ...]]) -> Sizes:
    return tuple((of[0], of[1]) for of in found)


def _at_bounds(array: Array, bounds: tuple[int, ...]) -> Array:
    result = np.zeros(bounds, array.dtype)
    result[tuple(map(slice, array.shape))] = array
    return result
