"""Slices whose place is known at run time; start indices are clamped so that they fit.

The start indices are one scalar operand per dimension or, in older programs, one vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import all_of, at_least, clamped, clamped_values, less, minus, plus
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.precision import of_one_precision
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.immutable import frozen


@frozen
class DynamicSlice(Attributes):
    dynamic_slice_sizes: tuple[int, ...] = attr(AttrKind.INTS)


def infer_slice(shapes: tuple[Shape, ...], attributes: DynamicSlice) -> ArrayShape:
    operand, *starts = arrays("dynamic-slice", shapes)
    sizes = attributes.dynamic_slice_sizes
    _check_starts("dynamic-slice", operand, starts)
    _check_sizes("dynamic-slice", operand, sizes)
    return operand.with_dimensions(sizes)


def infer_update(shapes: tuple[Shape, ...], attributes: Attributes) -> ArrayShape:
    operand, update, *starts = arrays("dynamic-update-slice", shapes)
    _check_starts("dynamic-update-slice", operand, starts)
    _check_sizes("dynamic-update-slice", operand, update.dimensions)
    require(
        update.element_type is operand.element_type,
        f"dynamic-update-slice of {operand} takes an update of that type, not {update}",
    )
    return operand


def _check_starts(op: str, operand: ArrayShape, starts: Sequence[ArrayShape]) -> None:
    one_vector = len(starts) == 1 and starts[0].dimensions == (operand.rank,)
    scalars = len(starts) == operand.rank and all(s.rank == 0 for s in starts)
    require(
        one_vector or scalars,
        f"{op} takes a scalar start index for each of the {operand.rank} dimensions of {operand}",
    )
    for start in starts:
        require(start.element_type.is_integer, f"{op} takes integer start indices, not {start}")


def _check_sizes(op: str, operand: ArrayShape, sizes: tuple[int, ...]) -> None:
    require(len(sizes) == operand.rank, f"{op}: {operand} has not {len(sizes)} dimensions")
    for size, whole in zip(sizes, operand.dimensions, strict=True):
        require(
            size <= whole or whole < 0, f"{op}: {size} elements do not fit a dimension of {whole}"
        )


def evaluate_slice(
    evaluator: Any, instruction: Instruction, value: Array, *starts: Array
) -> Array:
    sizes = attributes_of(instruction, DynamicSlice).dynamic_slice_sizes
    return value[_window(value, sizes, starts)]


def evaluate_update(
    evaluator: Any, instruction: Instruction, value: Array, update: Array, *starts: Array
) -> Array:
    result = value.copy()
    result[_window(value, update.shape, starts)] = update
    return result


def _window(
    value: Array, sizes: Sequence[int], starts: Sequence[Array]
) -> tuple[slice, ...]:
    each = starts[0] if len(starts) == 1 and starts[0].ndim else starts
    window = []
    for start, size, whole in zip(each, sizes, value.shape, strict=True):
        first = int(clamped_values(start, whole - size))
        window.append(slice(first, first + size))
    return tuple(window)


def element_slice(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    sizes = attributes_of(instruction, DynamicSlice).dynamic_slice_sizes
    starts = start_indices(scope, instruction, 1, sizes)
    return scope.operand(0, tuple(plus(i, s) for i, s in zip(index, starts, strict=True)))


def element_update(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    whole, sizes = (o.array_shape.dimensions for o in instruction.operands[:2])
    if 0 in sizes:
        return scope.operand(0, index)
    starts = start_indices(scope, instruction, 2, sizes)
    places = tuple(minus(i, s) for i, s in zip(index, starts, strict=True))
    inside: list[Expr] = []
    for place, size, extent in zip(places, sizes, whole, strict=True):
        if size < extent:
            inside += [at_least(place, 0), less(place, size)]
    condition = all_of(inside)
    if condition is None:
        return scope.operand(1, places)
    return scope.guarded(
        condition, lambda: scope.operand(1, places), lambda: scope.operand(0, index)
    )


def start_indices(
    scope: ElementScope, instruction: Instruction, first: int, sizes: Sequence[int]
) -> Index:
    """The clamped start index in each dimension; they begin at operand `first`."""
    whole = instruction.operands[0].array_shape.dimensions
    starts = []
    for d, (size, extent) in enumerate(zip(sizes, whole, strict=True)):
        number, at = start_place(instruction, first, d)
        fixed = size == extent
        starts.append(constant(0) if fixed else clamped(scope.operand(number, at), extent - size))
    return tuple(starts)


def start_place(instruction: Instruction, first: int, dimension: int) -> tuple[int, Index]:
    """The operand that holds a dimension's start index, and where; they begin at `first`."""
    operands = instruction.operands
    if len(operands) == first + 1 and operands[first].array_shape.rank == 1:
        return first, (constant(dimension),)
    return first + dimension, ()


register(
    OpDef(
        "dynamic-slice",
        DynamicSlice,
        (1, None),
        infer_slice,
        evaluate=evaluate_slice,
        element=element_slice,
    )
)
register(
    OpDef(
        "dynamic-update-slice",
        arity=(2, None),
        infer=infer_update,
        takes=of_one_precision(slice(2)),
        evaluate=evaluate_update,
        element=element_update,
    )
)
