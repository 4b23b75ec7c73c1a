"""The operand of a dot that has fewer rows is the left one, where the other lies along its own."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import is_static, transpose
from ccodegen.ops.dot import Dot, dot_contraction, free, mirrored, mirrored_order
from ccodegen.passes.context import PassContext

_MOST_BYTES = 32  # of the sums' factors that are shared at a time
_LEAST_DEPTH = 32  # products of a sum, from which on a transposed result costs little


def few_rows_first(module: Module, context: PassContext) -> Module:
    """`dot(f32[300,20] %x, f32[300] %y), lhs_contracting_dims={0}, rhs_contracting_dims={0}` →
    `dot(%y, %x)`, and of a few columns `transpose(dot(%y, %x))`.

    Sums that lie side by side in a line of the right operand have vectors, and share elements of
    the left one. They run over the same products in the same order, so that all bits stay.
    """

    def visit(dot: Instruction) -> Instruction:
        if dot.op != "dot" or dot.control_predecessors or not is_static(dot):
            return dot
        if not _lies_along_rows(dot) or not _pays(dot, context.has_vectors):
            return dot
        turned = mirrored(dot)
        return transpose(dot, turned, mirrored_order(turned))

    return rewrite_module(module, visit)


def _lies_along_rows(dot: Instruction) -> bool:
    attributes, sizes = attributes_of(dot, Dot), dot.operands[0].array_shape.dimensions
    rows = free(len(sizes), attributes.lhs_batch_dims + attributes.lhs_contracting_dims)
    return max((d for d, size in enumerate(sizes) if size > 1), default=None) in rows


def _pays(dot: Instruction, has_vectors: bool) -> bool:
    rows, columns, depth = dot_contraction(dot).sizes
    if columns == 1:
        return True
    few = columns * dot.operands[0].array_shape.element_type.bytes <= _MOST_BYTES
    return has_vectors and few and rows >= 2 * columns and depth >= _LEAST_DEPTH
