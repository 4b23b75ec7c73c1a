"""The caller's arrays as the program has them in memory, where a layout or dynamic dimensions make
them differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.backend.dynamic_form import dynamic_form
from ccodegen.hlo.layout import to_memory
from ccodegen.hlo.shape import ArrayShape
from ccodegen.hlo.text.shapes import shape_from_text
from ccodegen.loop.ir import Argument, Program

Array = np.ndarray[Any, Any]


def inputs_in_memory(program: Program, arrays: Sequence[Array]) -> list[Array]:
    """By parameter number; those that are sizes are added."""
    own = {a.parameter: a for a in program.arguments if a.parameter is not None}
    taken = [own[n] for n in range(len(arrays))]
    names, bounds = [a.name for a in taken], [caller_shape(a).dimensions for a in taken]
    padded = dynamic_form(program.arguments).given(arrays, names, bounds)
    return [_in_memory(array, own[n].logical) for n, array in enumerate(padded)]


def outputs_in_memory(
    program: Program, arrays: Sequence[Array]
) -> tuple[list[Array], list[Array | None]]:
    """By output number; those that are sizes are added. And which elements of each count, as u8;
    None: all."""
    own = {a.output: a for a in program.arguments if a.output is not None}
    bounds = [caller_shape(own[n]).dimensions for n in range(len(arrays))]
    padded, counting = dynamic_form(program.arguments).returned(arrays, bounds)
    memory = [_in_memory(array, own[n].logical) for n, array in enumerate(padded)]
    counts = [
        None if array is None else _in_memory(array, own[n].logical)
        for n, array in enumerate(counting)
    ]
    return memory, counts


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
