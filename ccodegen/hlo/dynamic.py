"""Values whose dimensions may be smaller than their shape says.

As in XLA, a value of dynamic shape is an array at its bound with an actual size per dimension. What
lies between the two is padding: the ops that only hand an array on, slices of it and updates of it
keep and see what is there, and set-dimension-size may bring it back; what any other op leaves in
the padding of its result is not defined (the evaluator: zeros).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.opdef import OpDef
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape, TupleShape, leaves
from ccodegen.support.immutable import frozen_object

Array: TypeAlias = np.ndarray[Any, Any]
Evaluate: TypeAlias = Callable[..., Any]

ELEMENTWISE = "elementwise"  # stands in `rule` for all ops that are, and have no rule of their own
_RULES: dict[str, Evaluate] = {}


@frozen_object
class DynamicArray:
    """An array at its bound, and how many elements count in each dimension."""

    padded: Array
    sizes: tuple[int, ...]

    @property
    def dtype(self) -> Any:
        return self.padded.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def actual(self) -> Array:
        return self.padded[tuple(map(slice, self.sizes))]


def sized(padded: Array, sizes: Sequence[int]) -> Any:
    """The array with these actual sizes; itself where they are its own."""
    return padded if tuple(sizes) == padded.shape else DynamicArray(padded, tuple(sizes))


def actual(value: Any) -> Any:
    return value.actual if isinstance(value, DynamicArray) else value


def padded(value: Any) -> Any:
    return value.padded if isinstance(value, DynamicArray) else value


def fitted(shape: Shape, value: Any) -> Any:
    """Arrays of actual sizes as values of the shape: zeros follow up to the bound."""
    if isinstance(shape, TupleShape):
        return tuple(map(fitted, shape.elements, value))
    if not isinstance(shape, ArrayShape) or not isinstance(value, np.ndarray):
        return value
    if value.shape == shape.dimensions or UNBOUNDED in shape.dimensions:
        return value
    room = [(0, bound - n) for bound, n in zip(shape.dimensions, value.shape, strict=True)]
    return DynamicArray(np.pad(value, room), value.shape)


def cut(shape: Shape, value: Any) -> Any:
    """Values as arrays of actual sizes, for the dimensions that the shape says are dynamic."""
    if isinstance(shape, TupleShape):
        return tuple(map(cut, shape.elements, value))
    if not isinstance(shape, ArrayShape) or not isinstance(value, DynamicArray):
        return value
    flags = dynamic_flags(shape)
    kept = (slice(n) if flag else slice(None) for n, flag in zip(value.sizes, flags, strict=True))
    return value.padded[tuple(kept)]


def dynamic_flags(shape: ArrayShape) -> tuple[bool, ...]:
    """For each dimension whether the shape says that it is dynamic."""
    return shape.dynamic or (False,) * shape.rank


def static(shape: Shape) -> Shape:
    """The shape at its bounds."""
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(static, shape.elements)))
    return replace(shape, dynamic=()) if isinstance(shape, ArrayShape) else shape


def dynamic_dimensions(shapes: Iterable[Shape]) -> tuple[tuple[int, int], ...]:
    """(array leaf, dimension) of each dynamic dimension of the shapes' leaves, in order."""
    arrays = [s for shape in shapes for s in leaves(shape) if isinstance(s, ArrayShape)]
    return tuple(
        (number, d)
        for number, array in enumerate(arrays)
        for d, flag in enumerate(dynamic_flags(array))
        if flag
    )


def is_dynamic(module: Module) -> bool:
    """Whether a size of any value may differ from what its shape says."""
    return any(
        instruction.op in ("get-dimension-size", "set-dimension-size", "dynamic-reshape")
        or dynamic_dimensions([instruction.shape])
        for computation in module.computations
        for instruction in computation.instructions
    )


def rule(*opcodes: str) -> Callable[[Evaluate], Evaluate]:
    """Registers the reference of ops that mean more than their static form at actual sizes.

    It is called as OpDef.evaluate, with DynamicArrays among its operands.
    """

    def register(function: Evaluate) -> Evaluate:
        _RULES.update(dict.fromkeys(opcodes, function))
        return function

    return register


def evaluate(
    evaluator: Any, definition: OpDef, instruction: Instruction, operands: Sequence[Any]
) -> Any:
    """The value of an instruction of whose operands one at least is a DynamicArray."""
    usual = _RULES[ELEMENTWISE] if definition.elementwise else None
    found = _RULES.get(instruction.op, usual)
    if found is not None:
        return found(evaluator, instruction, *operands)
    return evaluate_actual(evaluator, definition, instruction, list(map(actual, operands)))


def evaluate_actual(
    evaluator: Any, definition: OpDef, instruction: Instruction, operands: Sequence[Any]
) -> Any:
    """The op over arrays of their actual sizes is the op of those static shapes."""
    assert definition.evaluate is not None
    given = tuple(map(_at_size, instruction.operands, operands))
    shape = static(instruction.shape)
    if definition.infer is not None:
        inferred = definition.infer(tuple(o.shape for o in given), instruction.attributes)
        shape = _resized(shape, inferred)
    exact = replace(instruction, shape=shape, operands=given)
    return fitted(instruction.shape, definition.evaluate(evaluator, exact, *operands))


def _at_size(operand: Instruction, value: Any) -> Instruction:
    if not isinstance(operand.shape, ArrayShape) or value.shape == operand.shape.dimensions:
        return operand
    return replace(operand, shape=operand.shape.with_dimensions(value.shape))


def _resized(declared: Shape, inferred: Shape) -> Shape:
    """The inferred dimensions with the declared element types."""
    if isinstance(declared, TupleShape) and isinstance(inferred, TupleShape):
        return TupleShape(tuple(map(_resized, declared.elements, inferred.elements)))
    if isinstance(declared, ArrayShape) and isinstance(inferred, ArrayShape):
        return declared.with_dimensions(inferred.dimensions)
    return declared
