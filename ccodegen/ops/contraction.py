"""What dot and convolution have in common: sums of products over a depth, in one order.

Both multiply, for each batch, a matrix of rows × depth by one of depth × columns. The elements of
the matrices are elements of the operands (or zero, where a convolution's window reaches into
padding), converted to the accumulator's type; the depth is summed from zero in row-major order of
the depth axes, each product and each sum rounded; the sum is converted to the result's type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop import operators
from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops.fold import Array, converted
from ccodegen.ops.lowering import ElementScope
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.immutable import immutable

Place: TypeAlias = tuple[Expr | None, Index]


@immutable
class Contraction:
    """The axes' extents, and which elements stand where.

    `lhs_index(batch, row, depth)` and `rhs_index(batch, depth, column)` give the index of operand
    0 and 1 and the condition under which there is such an element (None: always; else the matrix
    holds zero there). `output_index(batch, row, column)` is the index of the result, and
    `position(index)` takes one apart into batch, row and column.
    """

    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    depth: tuple[int, ...]
    lhs_index: Callable[[Index, Index, Index], Place]
    rhs_index: Callable[[Index, Index, Index], Place]
    output_index: Callable[[Index, Index, Index], Index]
    position: Callable[[Index], tuple[Index, Index, Index]]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows, columns and depth of the matrices."""
        return math.prod(self.rows), math.prod(self.columns), math.prod(self.depth)


def contraction(instruction: Instruction) -> Contraction:
    """The contraction that a dot or a convolution is."""
    # Imported here, as both modules build on this one.
    from ccodegen.ops.convolution import convolution_contraction
    from ccodegen.ops.dot import dot_contraction

    if instruction.op == "dot":
        return dot_contraction(instruction)
    assert instruction.op == "convolution", instruction
    return convolution_contraction(instruction)


def accumulator_type(instruction: Instruction) -> ElementType:
    """The type that products and sums are computed in."""
    shapes = [o.array_shape for o in instruction.operands[:2]]
    return accumulator_of([*shapes, instruction.array_shape], instruction.array_shape)


def accumulator_of(shapes: Iterable[ArrayShape], result: ArrayShape) -> ElementType:
    """Of the operands' and the result's types the widest kind decides: c128, c64; f64, f32
    (narrower floats are summed in f32); among integers the result's sign, 64 bits if it has them,
    else 32."""
    types = {s.element_type for s in shapes}
    kinds = {t.kind for t in types}
    if Kind.COMPLEX in kinds:
        wide = ElementType.C128 in types or ElementType.F64 in types
        return ElementType.C128 if wide else ElementType.C64
    if Kind.FLOAT in kinds:
        return ElementType.F64 if ElementType.F64 in types else ElementType.F32
    own = result.element_type
    if own.kind is Kind.SIGNED:
        return ElementType.S64 if own.bits == 64 else ElementType.S32
    return ElementType.U64 if own.bits == 64 else ElementType.U32


def element(scope: ElementScope, instruction: Instruction, index: Index) -> Expr:
    """The lowering of both: plain loops over the depth."""
    shape, element_type = contraction(instruction), accumulator_type(instruction)
    batch, row, column = shape.position(index)
    zero = const(element_type, 0)
    accumulator = scope.builder.variable(zero, "acc")
    with scope.builder.loops(shape.depth, "k") as depth:

        def entry(number: int, place: Place) -> Expr:
            condition, at = place
            if condition is None:
                return converted(scope.operand(number, at), element_type)
            return scope.guarded(
                condition,
                lambda: converted(scope.operand(number, at), element_type),
                lambda: zero,
            )

        left = entry(0, shape.lhs_index(batch, row, depth))
        right = entry(1, shape.rhs_index(batch, depth, column))
        total = apply("add", scope.builder.load(accumulator), apply("multiply", left, right))
        scope.builder.store(accumulator, (), total)
    return converted(scope.builder.load(accumulator), instruction.array_shape.element_type)


def sum_of_products(
    pairs: Iterable[tuple[Array, Array]], sizes: tuple[int, int, int], element_type: ElementType
) -> Array:
    """The matrices [batch, rows, columns] of `sizes`, summed from zero over the pairs in order.

    A pair is a column of the left matrices [batch, rows] and a row of the right [batch, columns].
    """
    total = np.zeros(sizes, element_type.dtype)
    with np.errstate(all="ignore"):
        for left, right in pairs:
            column, row = (m.astype(element_type.dtype, copy=False) for m in (left, right))
            total += product(column[:, :, None], row[:, None, :], element_type)
    return total


def product(a: Array, b: Array, element_type: ElementType) -> Array:
    """a · b; complex ones by the scalar operator, as NumPy may fuse its operations."""
    if not element_type.is_complex:
        return a * b
    return operators.evaluate("multiply", np.broadcast_arrays(a, b), element_type)


def narrowed(total: Array, result: ElementType) -> Array:
    """The sums in the result's type."""
    return operators.evaluate("convert", (total,), result)


def matrices(array: Array, *groups: tuple[int, ...]) -> Array:
    """The array with each group of its dimensions merged into one, in the order given."""
    order: list[int] = [d for group in groups for d in group]
    sizes = [math.prod(array.shape[d] for d in group) for group in groups]
    return array.transpose(order).reshape(sizes)
