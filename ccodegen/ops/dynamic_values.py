"""The references that look at bounds, sizes or padding: see `hlo.dynamic`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ccodegen.hlo import opdef
from ccodegen.hlo.dynamic import (
    ELEMENTWISE,
    Array,
    DynamicArray,
    actual,
    dynamic_flags,
    evaluate_actual,
    padded,
    rule,
    sized,
)
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.dynamic_shape import reshaped
from ccodegen.ops.reshape_sizes import derived_dimension, runs
from ccodegen.ops.size_origins import agreeing_dimensions, size_origins

_HANDED_ON = (
    "tuple call fusion while conditional copy opt-barrier domain add-dependency after-all "
    "async-start copy-start"
)


@rule(*_HANDED_ON.split())
def evaluate_as_is(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """What only hands values on."""
    return _reference(instruction)(evaluator, instruction, *values)


@rule("broadcast", "slice", "dynamic-slice", "gather")
def evaluate_with_padding(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """What moves elements by their places at the bound."""
    result = _reference(instruction)(evaluator, instruction, *map(padded, values))
    sources = size_origins(instruction)
    sizes = (
        bound if source is None else values[source[0]].shape[source[1]]
        for source, bound in zip(sources, result.shape, strict=True)
    )
    return sized(result, tuple(sizes))


@rule("dynamic-update-slice", "scatter")
def evaluate_update(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """Arrays are updated at their bound, by as much as there is."""
    count = len(values) // 2 if instruction.op == "scatter" else 1
    rest = tuple(map(actual, values[count:]))
    arguments = (*map(padded, values[:count]), *rest)
    result = _reference(instruction)(evaluator, instruction, *arguments)
    if isinstance(result, tuple):
        return tuple(sized(r, v.shape) for r, v in zip(result, values, strict=False))
    return sized(result, values[0].shape)


@rule(ELEMENTWISE)
def evaluate_elementwise(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """Of different sizes the least counts, but one element goes with any number of them."""
    sizes = [_common_size(instruction, d, values) for d in range(instruction.array_shape.rank)]
    aligned = [_aligned(actual(v), sizes) if v.shape else v for v in values]
    return evaluate_actual(evaluator, opdef.get(instruction.op), instruction, aligned)


def _common_size(instruction: Instruction, dimension: int, values: Sequence[Any]) -> int:
    """The size of dynamic operands; that of static ones, which is the bound, gives way."""
    operands = zip(instruction.operands, values, strict=True)
    found = {
        value.shape[dimension]
        for operand, value in operands
        if value.shape and _is_dynamic(operand, dimension, value)
    }
    several = found - {1} if len(found) > 1 else found
    return min(several, default=instruction.array_shape.dimensions[dimension])


def _is_dynamic(operand: Instruction, dimension: int, value: Any) -> bool:
    shape = operand.array_shape
    return dynamic_flags(shape)[dimension] or value.shape[dimension] < shape.dimensions[dimension]


def _aligned(array: Array, sizes: Sequence[int]) -> Array:
    """Cut to the sizes, or repeated where it has one element."""
    for axis, size in enumerate(sizes):
        repeats = array.shape[axis] == 1 and size > 1
        array = array.repeat(size, axis) if repeats else array.take(range(size), axis)
    return array


@rule("concatenate", "convolution", "dot", "reduce", "reduce-window", "sort", "triangular-solve")
def evaluate_agreeing(evaluator: Any, instruction: Instruction, *values: Any) -> Any:
    """Operands of static shape are cut where they must agree with dynamic ones."""
    arrays = list(map(actual, values))
    for group in agreeing_dimensions(instruction):
        size = min(arrays[n].shape[d] for n, d in group)
        for n, d in group:
            arrays[n] = arrays[n].take(range(size), d)
    return evaluate_actual(evaluator, opdef.get(instruction.op), instruction, arrays)


@rule("reshape")
def evaluate_reshape(evaluator: Any, instruction: Instruction, value: DynamicArray) -> Any:
    bounds = value.padded.shape
    dynamic = [n < bound for n, bound in zip(value.sizes, bounds, strict=True)]
    sizes = list(instruction.array_shape.dimensions)
    for run in runs(bounds, sizes):
        derived = derived_dimension(instruction, run, dynamic)
        if derived is not None:
            others = max(1, math.prod(sizes[d] for d in run.target if d != derived))
            sizes[derived] = math.prod(value.sizes[d] for d in run.source) // others
    return reshaped(instruction, value, sizes)


def _reference(instruction: Instruction) -> opdef.Evaluate:
    definition = opdef.get(instruction.op)
    assert definition.evaluate is not None
    return definition.evaluate
