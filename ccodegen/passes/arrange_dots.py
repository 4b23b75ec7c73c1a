"""Which operand of a dot is the left one, and how the right one lies, for vectors of sums."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.loop.cost import WORD
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import is_static, transpose
from ccodegen.ops.contraction import accumulator_type
from ccodegen.ops.dot import Dot, dot_contraction, free, mirrored, mirrored_order
from ccodegen.ops.lines import MOST_LINES, prefers_lines
from ccodegen.passes.context import PassContext

_MOST_BYTES = 32  # of the sums' factors that are shared at a time
_LEAST_DEPTH = 32  # products of a sum, from which on a transposed result costs little
_LEAST_ROWS = 8  # from which on a transposed operand does
_SHORT_DEPTH = 4


def arrange_dots(module: Module, context: PassContext) -> Module:
    """`dot(f32[300,20] %x, f32[300] %y), lhs_contracting_dims={0}, rhs_contracting_dims={0}` →
    `dot(%y, %x)`, and of a few columns `transpose(dot(%y, %x))`. `dot(c64[50,40] %x, c64[30,40]
    %y), lhs_contracting_dims={1}, rhs_contracting_dims={1}` → `dot(%x, transpose(%y))`.

    Sums that lie side by side in a line of the right operand have vectors, and share elements of
    the left one; so have those of few rows or columns, if both operands lie along the depth. They
    run over the same products in the same order, so that all bits stay.
    """

    def visit(dot: Instruction) -> Instruction:
        if dot.op != "dot" or dot.control_predecessors or not is_static(dot):
            return dot
        attributes, (lhs, rhs) = attributes_of(dot, Dot), dot.operands
        used = attributes.lhs_batch_dims + attributes.lhs_contracting_dims
        rows = free(lhs.array_shape.rank, used)
        if _last(lhs) in rows and _pays_to_turn(dot, context.has_vectors):
            turned = mirrored(dot)
            return transpose(dot, turned, mirrored_order(turned))
        if not context.has_vectors:
            return dot
        lies_along = _last(rhs) in attributes.rhs_contracting_dims
        if lies_along and _needs_lines(dot):
            return _with_right(dot, along=False)
        if lies_along and _last(lhs) in rows and _has_few_rows(dot):
            return _with_left_along(dot)
        if not lies_along and _prefers_lines(dot, context):
            return _with_right(dot, along=True)
        return dot

    return rewrite_module(module, visit)


def _last(operand: Instruction) -> int | None:
    """The dimension along which neighbours in memory lie."""
    sizes = operand.array_shape.dimensions
    return max((d for d, size in enumerate(sizes) if size > 1), default=None)


def _pays_to_turn(dot: Instruction, has_vectors: bool) -> bool:
    rows, columns, depth = dot_contraction(dot).sizes
    if columns == 1:
        return True
    few = columns * dot.operands[0].array_shape.element_type.bytes <= _MOST_BYTES
    return has_vectors and few and rows >= 2 * columns and depth >= _LEAST_DEPTH


def _prefers_lines(dot: Instruction, context: PassContext) -> bool:
    target = context.target
    if target is None or not _has_few_columns(dot):
        return False
    return prefers_lines(dot, target, context.strict)


def is_arranged(dot: Instruction, operand: Instruction) -> bool:
    """Whether that operand may have been transposed for it."""
    lhs, rhs = dot.operands
    if operand is rhs:
        return _needs_lines(dot) or _has_few_columns(dot)
    return operand is lhs and _has_few_rows(dot)


def _needs_lines(dot: Instruction) -> bool:
    """Whether good vectors of sums are made of lines of the right operand alone: of complex
    numbers, and of few products of anything but words."""
    rows, columns, depth = dot_contraction(dot).sizes
    element = dot.operands[1].array_shape.element_type
    is_short = element.is_float and element.bytes != WORD and depth <= _SHORT_DEPTH
    return min(rows, columns) >= _LEAST_ROWS and (element.is_complex or is_short)


def _has_few_columns(dot: Instruction) -> bool:
    """Whether sums of few columns are added up along the depth in loops, as they are where both
    lie so: of words, and of floats that are narrower than their sums."""
    rows, columns, _ = dot_contraction(dot).sizes
    element, accumulator = dot.operands[1].array_shape.element_type, accumulator_type(dot)
    in_loops = accumulator.is_float == (element.bytes < accumulator.bytes)
    return in_loops and rows >= _LEAST_ROWS and 1 < columns <= MOST_LINES


def _has_few_rows(dot: Instruction) -> bool:
    """Whether it takes little to have the left operand along the depth too."""
    rows, columns, depth = dot_contraction(dot).sizes
    is_few = 1 < rows <= MOST_LINES and columns >= _LEAST_ROWS and depth >= _LEAST_DEPTH
    return is_few and not dot.array_shape.element_type.is_integer


def _with_right(dot: Instruction, along: bool) -> Instruction:
    """The right operand transposed, so that its depth comes last, else its columns."""
    attributes, (lhs, rhs) = attributes_of(dot, Dot), dot.operands
    batch, depth = attributes.rhs_batch_dims, attributes.rhs_contracting_dims
    columns = free(rhs.array_shape.rank, batch + depth)
    order = (*batch, *columns, *depth) if along else (*batch, *depth, *columns)
    turned = replace(
        attributes,
        rhs_batch_dims=tuple(map(order.index, batch)),
        rhs_contracting_dims=tuple(map(order.index, depth)),
    )
    return replace(dot, operands=(lhs, transpose(dot, rhs, order)), attributes=turned)


def _with_left_along(dot: Instruction) -> Instruction:
    return mirrored(_with_right(mirrored(dot), along=True))
