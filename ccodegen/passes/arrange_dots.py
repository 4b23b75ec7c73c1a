"""Which operand of a dot is the left one, and how the right one lies, for vectors of sums."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.loop.cost import WORD
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import is_static, transpose
from ccodegen.ops.dot import Dot, dot_contraction, free, mirrored, mirrored_order
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
    the left one. They run over the same products in the same order, so that all bits stay.
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
        is_across = _last(rhs) in attributes.rhs_contracting_dims
        if context.has_vectors and is_across and needs_lines(dot):
            return _with_turned_columns(dot, attributes)
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


def needs_lines(dot: Instruction) -> bool:
    """Whether good vectors of sums are made of lines of the right operand alone: of complex
    numbers, and of few products of anything but words."""
    rows, columns, depth = dot_contraction(dot).sizes
    element = dot.operands[1].array_shape.element_type
    is_short = element.is_float and element.bytes != WORD and depth <= _SHORT_DEPTH
    return min(rows, columns) >= _LEAST_ROWS and (element.is_complex or is_short)


def _with_turned_columns(dot: Instruction, attributes: Dot) -> Instruction:
    lhs, rhs = dot.operands
    batch, depth = attributes.rhs_batch_dims, attributes.rhs_contracting_dims
    order = (*batch, *depth, *free(rhs.array_shape.rank, batch + depth))
    turned = replace(
        attributes,
        rhs_batch_dims=tuple(range(len(batch))),
        rhs_contracting_dims=tuple(range(len(batch), len(batch + depth))),
    )
    return replace(dot, operands=(lhs, transpose(dot, rhs, order)), attributes=turned)
