"""Ops that move elements by a fixed rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, PaddingDimension, SliceDimension, attr
from ccodegen.hlo.dynamic import dynamic_flags
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.index import less, minus, plus, times
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.precision import of_one_precision
from ccodegen.ops.shape_checks import arrays, dimension_numbers, picked, require
from ccodegen.support.immutable import frozen

SAME_VALUES = frozenset({"broadcast", "copy", "reshape", "reverse", "slice", "transpose"})
"""Ops each of whose elements is one of their operand's."""


@frozen
class Broadcast(Attributes):
    """Operand dimension i becomes output dimension `dimensions[i]`."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS, ())


@frozen
class Reshape(Attributes):
    """`inferred_dimension`: the one whose size a dynamic reshape derives; None: none."""

    inferred_dimension: int | None = attr(AttrKind.INT, None)


@frozen
class Transpose(Attributes):
    """Output dimension i is operand dimension `dimensions[i]`."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


@frozen
class Slice(Attributes):
    slice: tuple[SliceDimension, ...] = attr(AttrKind.SLICE)


@frozen
class Concatenate(Attributes):
    """`dimensions` holds one number."""

    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


@frozen
class Pad(Attributes):
    padding: tuple[PaddingDimension, ...] = attr(AttrKind.PADDING, ())


@frozen
class Reverse(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)


def check_broadcast(instruction: Instruction) -> None:
    operand, result = arrays("broadcast", [instruction.operands[0].shape, instruction.shape])
    dimensions = attributes_of(instruction, Broadcast).dimensions
    require(
        len(dimensions) == operand.rank,
        f"broadcast: dimensions={{{_listed(dimensions)}}} does not place each of {operand}",
    )
    dimension_numbers("broadcast", dimensions, result.rank)
    for number, place in enumerate(dimensions):
        sizes = operand.dimensions[number], result.dimensions[place]
        require(
            sizes[0] == sizes[1] or UNBOUNDED in sizes,
            f"broadcast puts dimension {number} of {operand} in place of dimension {place} of "
            f"{result}, which has another size",
        )


def evaluate_broadcast(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    sizes = instruction.array_shape.dimensions
    aligned = [1] * len(sizes)
    for number, place in enumerate(attributes_of(instruction, Broadcast).dimensions):
        aligned[place] = value.shape[number]
    order = np.argsort(attributes_of(instruction, Broadcast).dimensions)
    return np.broadcast_to(value.transpose(order).reshape(aligned), sizes)


def element_broadcast(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    dimensions = attributes_of(instruction, Broadcast).dimensions
    return scope.operand(0, tuple(index[d] for d in dimensions))


def check_reshape(instruction: Instruction) -> None:
    operand, result = arrays("reshape", [instruction.operands[0].shape, instruction.shape])
    open_size = UNBOUNDED in (*operand.dimensions, *result.dimensions)
    require(
        operand.size == result.size or open_size,
        f"reshape of {operand}, which has {operand.size} elements, to {result}, which has "
        f"{result.size}",
    )


def evaluate_reshape(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    return value.reshape(instruction.array_shape.dimensions)


def element_reshape(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    sizes = instruction.operands[0].array_shape.dimensions
    at = scope.builder.reindexed(index, instruction.array_shape.dimensions, sizes)
    return scope.operand(0, at)


def infer_transpose(shapes: tuple[Shape, ...], attributes: Transpose) -> ArrayShape:
    (operand,) = arrays("transpose", shapes)
    dimension_numbers("transpose", attributes.dimensions, operand.rank)
    require(
        len(attributes.dimensions) == operand.rank,
        f"transpose: dimensions={{{_listed(attributes.dimensions)}}} does not name each dimension "
        f"of {operand}",
    )
    return picked(operand, attributes.dimensions)


def evaluate_transpose(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    return value.transpose(attributes_of(instruction, Transpose).dimensions)


def element_transpose(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    places = dict(zip(attributes_of(instruction, Transpose).dimensions, index, strict=True))
    return scope.operand(0, tuple(places[d] for d in range(len(index))))


def infer_slice(shapes: tuple[Shape, ...], attributes: Slice) -> ArrayShape:
    (operand,) = arrays("slice", shapes)
    require(
        len(attributes.slice) == operand.rank,
        f"slice has {len(attributes.slice)} dimensions, {operand} has {operand.rank}",
    )
    for size, s in zip(operand.dimensions, attributes.slice, strict=True):
        require(
            0 <= s.start <= s.limit and (s.limit <= size or size == UNBOUNDED) and s.stride > 0,
            f"slice [{s.start}:{s.limit}:{s.stride}] does not fit a dimension of size {size}",
        )
    return operand.with_dimensions(
        tuple(-(-(s.limit - s.start) // s.stride) for s in attributes.slice)
    )


def evaluate_slice(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    dimensions = attributes_of(instruction, Slice).slice
    return value[tuple(slice(s.start, s.limit, s.stride) for s in dimensions)]


def element_slice(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    dimensions = zip(index, attributes_of(instruction, Slice).slice, strict=True)
    return scope.operand(0, tuple(plus(times(i, s.stride), s.start) for i, s in dimensions))


def infer_concatenate(shapes: tuple[Shape, ...], attributes: Concatenate) -> ArrayShape:
    first, *rest = found = arrays("concatenate", shapes)
    require(len(attributes.dimensions) == 1, "concatenate joins along one dimension")
    dimension_numbers("concatenate", attributes.dimensions, first.rank)
    (along,) = attributes.dimensions
    for other in rest:
        require(
            _others(other, along) == _others(first, along)
            and other.element_type is first.element_type,
            f"concatenate cannot join {first} and {other} along dimension {along}",
        )
    sizes = [s.dimensions[along] for s in found]
    total = UNBOUNDED if UNBOUNDED in sizes else sum(sizes)
    dynamic = tuple(map(any, zip(*map(dynamic_flags, found), strict=True)))
    dimensions = _replaced(first.dimensions, along, total)
    return ArrayShape(first.element_type, dimensions, dynamic if any(dynamic) else ())


def _others(shape: ArrayShape, along: int) -> tuple[int, ...]:
    return _replaced(shape.dimensions, along, 0)


def _replaced(dimensions: tuple[int, ...], along: int, size: int) -> tuple[int, ...]:
    return (*dimensions[:along], size, *dimensions[along + 1 :])


def evaluate_concatenate(evaluator: Any, instruction: Instruction, *values: Array) -> Array:
    return np.concatenate(values, axis=attributes_of(instruction, Concatenate).dimensions[0])


def element_concatenate(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    """A chain of choices, one at each boundary between operands."""
    (along,) = attributes_of(instruction, Concatenate).dimensions
    sizes = [o.array_shape.dimensions[along] for o in instruction.operands]
    filled = [n for n, size in enumerate(sizes) if size]

    def chosen(position: int) -> Expr:
        number = filled[position]
        start = sum(sizes[:number])
        at = (*index[:along], plus(index[along], -start), *index[along + 1 :])
        if position == len(filled) - 1:
            return scope.operand(number, at)
        inside = less(index[along], start + sizes[number])
        return scope.guarded(
            inside, lambda: scope.operand(number, at), lambda: chosen(position + 1)
        )

    return chosen(0)


def infer_reverse(shapes: tuple[Shape, ...], attributes: Reverse) -> ArrayShape:
    (operand,) = arrays("reverse", shapes)
    dimension_numbers("reverse", attributes.dimensions, operand.rank)
    return operand


def evaluate_reverse(evaluator: Any, instruction: Instruction, value: Array) -> Array:
    return np.flip(value, attributes_of(instruction, Reverse).dimensions)


def element_reverse(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    reversed_ = attributes_of(instruction, Reverse).dimensions
    last = [size - 1 for size in instruction.array_shape.dimensions]
    at = (minus(constant(last[d]), i) if d in reversed_ else i for d, i in enumerate(index))
    return scope.operand(0, tuple(at))


def infer_copy(shapes: tuple[Shape, ...], attributes: Attributes) -> Shape:
    return shapes[0]


def evaluate_copy(evaluator: Any, instruction: Instruction, value: Any) -> Any:
    return value


def element_copy(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    return scope.operand(0, index)


def _listed(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _register(
    op: str,
    attributes: type[Attributes],
    evaluate: Callable[..., Any],
    element: Callable[..., Expr],
    infer: Callable[..., Shape] | None = None,
    check: Callable[[Instruction], None] | None = None,
) -> None:
    register(
        OpDef(op, attributes, infer=infer, check=check, evaluate=evaluate, element=element)
    )


_register("broadcast", Broadcast, evaluate_broadcast, element_broadcast, check=check_broadcast)
_register("reshape", Reshape, evaluate_reshape, element_reshape, check=check_reshape)
_register("transpose", Transpose, evaluate_transpose, element_transpose, infer_transpose)
_register("slice", Slice, evaluate_slice, element_slice, infer_slice)
_register("reverse", Reverse, evaluate_reverse, element_reverse, infer_reverse)
register(
    OpDef(
        "concatenate",
        Concatenate,
        (1, None),
        infer=infer_concatenate,
        takes=of_one_precision(),
        evaluate=evaluate_concatenate,
        element=element_concatenate,
    )
)
register(
    OpDef(
        "copy",
        infer=infer_copy,
        evaluate=evaluate_copy,
        element=element_copy,
        elementwise=True,
    )
)
