"""dot: sums of products over the contracting dimensions.

The result's dimensions are the batch dimensions, then the left and the right operand's others. Its
element type is the declared one. `operand_precision` and `algorithm` allow less precision than ours
(contraction.accumulator_type) and are not interpreted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.dynamic import dynamic_flags
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import UNBOUNDED, ArrayShape, Shape
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops import contraction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array
from ccodegen.ops.precision import widened
from ccodegen.ops.shape_checks import arrays, dimension_numbers, picked, require
from ccodegen.support.immutable import frozen


@frozen
class Dot(Attributes):
    lhs_batch_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    lhs_contracting_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_batch_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    rhs_contracting_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    operand_precision: str = attr(AttrKind.RAW, "")
    algorithm: str = attr(AttrKind.ENUM, "")


def infer(shapes: tuple[Shape, ...], attributes: Dot) -> ArrayShape:
    lhs, rhs = arrays("dot", widened(shapes))
    return dot_shape("dot", lhs, rhs, attributes)


def dot_shape(
    op: str,
    lhs: ArrayShape,
    rhs: ArrayShape,
    attributes: Dot,
    rhs_groups: tuple[int, ...] = (),
) -> ArrayShape:
    """The result's shape, of the left operand's type unless the text says otherwise.

    `rhs_groups` are right dimensions that take no part. Raises InputError where the operands do
    not fit.
    """
    batch = attributes.lhs_batch_dims, attributes.rhs_batch_dims
    contracting = attributes.lhs_contracting_dims, attributes.rhs_contracting_dims
    dimension_numbers(op, batch[0] + contracting[0], lhs.rank)
    dimension_numbers(op, batch[1] + contracting[1] + rhs_groups, rhs.rank)
    for what, (left, right) in (("batch", batch), ("contracting", contracting)):
        sizes = [lhs.dimensions[d] for d in left], [rhs.dimensions[d] for d in right]
        require(
            len(left) == len(right) and all(map(_agree, *sizes)),
            f"{op}: the {what} dimensions of {lhs} and {rhs} are {sizes[0]} and {sizes[1]}",
        )
    rows = picked(lhs, (*batch[0], *free(lhs.rank, batch[0] + contracting[0])))
    columns = picked(rhs, free(rhs.rank, batch[1] + contracting[1] + rhs_groups))
    return joined(rows, columns)


def _agree(a: int, b: int) -> bool:
    return a == b or UNBOUNDED in (a, b)


def joined(first: ArrayShape, second: ArrayShape) -> ArrayShape:
    """The dimensions of both, in the type of the first."""
    flags = [dynamic_flags(s) for s in (first, second)]
    dynamic = flags[0] + flags[1]
    dimensions = first.dimensions + second.dimensions
    return ArrayShape(first.element_type, dimensions, dynamic if any(dynamic) else ())


def free(rank: int, used: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that are neither batch nor contracting ones."""
    return tuple(d for d in range(rank) if d not in used)


def mirrored(dot: Instruction) -> Instruction:
    """The dot with its operands in each other's place, whose result is transposed by
    `mirrored_order`. The sums run over the same products in the same order."""
    a, (lhs, rhs) = attributes_of(dot, Dot), dot.operands
    attributes = replace(
        a,
        lhs_batch_dims=a.rhs_batch_dims,
        rhs_batch_dims=a.lhs_batch_dims,
        lhs_contracting_dims=a.rhs_contracting_dims,
        rhs_contracting_dims=a.lhs_contracting_dims,
    )
    shape = picked(dot.array_shape, mirrored_order(dot))
    return replace(dot, operands=(rhs, lhs), attributes=attributes, shape=shape)


def mirrored_order(dot: Instruction) -> tuple[int, ...]:
    """The result's dimensions of batches, then the right operand's others, then the left's."""
    a = attributes_of(dot, Dot)
    batches, end = len(a.lhs_batch_dims), dot.array_shape.rank
    columns = dot.operands[0].array_shape.rank - len(a.lhs_contracting_dims)
    return (*range(batches), *range(columns, end), *range(batches, columns))


def evaluate(evaluator: Any, instruction: Instruction, lhs: Array, rhs: Array) -> Array:
    a = attributes_of(instruction, Dot)
    rows = free(lhs.ndim, a.lhs_batch_dims + a.lhs_contracting_dims)
    columns = free(rhs.ndim, a.rhs_batch_dims + a.rhs_contracting_dims)
    left = contraction.matrices(lhs, a.lhs_batch_dims, rows, a.lhs_contracting_dims)
    right = contraction.matrices(rhs, a.rhs_batch_dims, a.rhs_contracting_dims, columns)
    pairs = ((left[:, :, k], right[:, k]) for k in range(left.shape[2]))
    sizes = (*left.shape[:2], right.shape[2])
    accumulator = contraction.accumulator_type(instruction)
    total = contraction.sum_of_products(pairs, sizes, accumulator)
    result = instruction.array_shape
    narrow = contraction.narrowed(total, result.element_type)
    return narrow.reshape(result.dimensions)


def dot_contraction(instruction: Instruction) -> contraction.Contraction:
    """Depth: the contracting dimensions, in the order in which they are named."""
    a = attributes_of(instruction, Dot)
    lhs, rhs = (o.array_shape for o in instruction.operands)
    rows = free(lhs.rank, a.lhs_batch_dims + a.lhs_contracting_dims)
    columns = free(rhs.rank, a.rhs_batch_dims + a.rhs_contracting_dims)
    batches = len(a.lhs_batch_dims)

    def lhs_index(batch: Index, row: Index, depth: Index) -> contraction.Place:
        numbers = a.lhs_batch_dims + rows + a.lhs_contracting_dims
        return None, _placed(numbers, (*batch, *row, *depth))

    def rhs_index(batch: Index, depth: Index, column: Index) -> contraction.Place:
        numbers = a.rhs_batch_dims + a.rhs_contracting_dims + columns
        return None, _placed(numbers, (*batch, *depth, *column))

    def position(index: Index) -> tuple[Index, Index, Index]:
        return index[:batches], index[batches : batches + len(rows)], index[batches + len(rows) :]

    return contraction.Contraction(
        batch=tuple(lhs.dimensions[d] for d in a.lhs_batch_dims),
        rows=tuple(lhs.dimensions[d] for d in rows),
        columns=tuple(rhs.dimensions[d] for d in columns),
        depth=tuple(lhs.dimensions[d] for d in a.lhs_contracting_dims),
        lhs_index=lhs_index,
        rhs_index=rhs_index,
        output_index=lambda batch, row, column: (*batch, *row, *column),
        position=position,
    )


def _placed(numbers: tuple[int, ...], values: Index) -> Index:
    """The values, each at the place that its number says."""
    placed: dict[int, Expr] = dict(zip(numbers, values, strict=True))
    return tuple(placed[d] for d in range(len(numbers)))


register(
    OpDef(
        "dot",
        Dot,
        arity=(2, 2),
        infer=infer,
        evaluate=evaluate,
        element=contraction.element,
    )
)
