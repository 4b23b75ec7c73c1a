"""The caller's arrays as the program has them in memory, where a layout makes them differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.layout import to_memory
from ccodegen.hlo.shape import ArrayShape
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.loop.ir import Argument, Program

Array = np.ndarray[Any, Any]


def inputs_in_memory(program: Program, arrays: Sequence[Array]) -> list[Array]:
    """By parameter number."""
    logical = {a.parameter: a.logical for a in program.arguments}
    return [_in_memory(array, logical.get(n, "")) for n, array in enumerate(arrays)]


def outputs_in_memory(program: Program, arrays: Sequence[Array]) -> list[Array]:
    """By output number."""
    logical = {a.output: a.logical for a in program.arguments}
    return [_in_memory(array, logical.get(n, "")) for n, array in enumerate(arrays)]


def caller_shape(argument: Argument) -> ArrayShape:
    """Of the array that the caller has for an argument."""
    if not argument.logical:
        return ArrayShape(argument.buffer.type, argument.buffer.dimensions)
    shape = shape_from_text(argument.logical)
    assert isinstance(shape, ArrayShape), argument.logical
    return shape


def _in_memory(array: Array, logical: str) -> Array:
    shape = shape_from_text(logical) if logical else None
    return to_memory(array, shape) if isinstance(shape, ArrayShape) else array
