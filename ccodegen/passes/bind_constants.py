"""Turns entry parameters into constants: weights that are known at compile time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ccodegen.hlo.ir import Alias, Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import constant
from ccodegen.ops.creation import Parameter
from ccodegen.passes.flatten_entry import flat_leaves, flatten_entry, lasting
from ccodegen.passes.settle_entry_layout import settle_entry_layout
from ccodegen.support.element_type import array_text
from ccodegen.support.errors import InputError
from ccodegen.support.immutable import immutable


@immutable
class Bound:
    """`parameters[n]` is the flat number, before binding, of what is entry parameter n now."""

    module: Module
    parameters: tuple[int, ...]


def bind_constants(module: Module, constants: Mapping[int, np.ndarray[Any, Any]]) -> Bound:
    """The module with some parameters, by flat number, replaced by constants.

    Tuple parameters are taken apart first; the parameters that stay are numbered anew. Raises
    InputError for a number that no parameter has, or an array of another type or dimensions.
    """
    count = len(flat_leaves(module.entry))
    for number in constants:
        if not 0 <= number < count:
            raise InputError(f"there is no parameter {number} to bind: the entry has {count}")
    if not constants:
        return Bound(module, tuple(range(count)))
    flat = flatten_entry(settle_entry_layout(module))
    kept = tuple(n for n in range(count) if n not in constants)
    entry = _bound(flat.entry, constants, kept)
    aliases = tuple(_renumbered(a, kept) for a in flat.aliases)
    annotations = lasting(flat.annotations)
    return Bound(replace(flat, entry=entry, aliases=aliases, annotations=annotations), kept)


def _bound(
    entry: Computation,
    constants: Mapping[int, np.ndarray[Any, Any]],
    kept: tuple[int, ...],
) -> Computation:
    numbers = {p: n for n, p in enumerate(entry.parameters)}
    parameters = {
        n: replace(entry.parameters[n], attributes=Parameter(place))
        for place, n in enumerate(kept)
    }

    def visit(old: Instruction, new: Instruction) -> Instruction:
        number = numbers.get(old)
        if number is None:
            return new
        if number in constants:
            return _constant(number, old, constants[number])
        return parameters[number]

    new = rewrite_with_old(entry, visit)
    return replace(new, parameters=tuple(parameters.values()))


def _constant(number: int, parameter: Instruction, value: np.ndarray[Any, Any]) -> Instruction:
    shape, array = parameter.shape, np.asarray(value)
    if not isinstance(shape, ArrayShape):
        raise InputError(f"parameter {number} is a {shape} and cannot be bound to an array")
    if (array.dtype, array.shape) != (shape.element_type.dtype, shape.dimensions):
        message = f"parameter {number} '{parameter.name}' is {shape}, the constant for it is "
        raise InputError(message + array_text(array), parameter.location)
    return constant(parameter, array)


def _renumbered(alias: Alias, kept: tuple[int, ...]) -> Alias:
    if alias.parameter not in kept:
        raise InputError(
            f"parameter {alias.parameter} shares memory with a result and cannot be a constant"
        )
    return replace(alias, parameter=kept.index(alias.parameter))
