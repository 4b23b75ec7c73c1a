"""Transposes before and after a dot become dimension numbers of the dot."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.ops.build import is_static
from ccodegen.ops.dot import Dot, mirrored, mirrored_order
from ccodegen.ops.movement import Transpose
from ccodegen.passes.context import PassContext


def absorb_transposes(module: Module, context: PassContext) -> Module:
    """`dot(transpose(%x), %y), lhs_contracting_dims={0}` → `dot(%x, %y), lhs_contracting_dims={1}`;
    `transpose(dot(%x, %y))` → `dot(%y, %x)`, if nobody else reads that dot.

    The sums run over the same products in the same order, so that all bits stay.
    """
    return transform_computations(module, _absorbed)


def _absorbed(computation: Computation) -> Computation:
    def visit(old: Instruction, new: Instruction) -> Instruction:
        if new.control_predecessors or not is_static(new):
            return new
        if new.op == "dot" and isinstance(new.attributes, Dot):
            return _without_transposed_operands(new, new.attributes)
        if isinstance(new.attributes, Transpose) and len(computation.users[old.operands[0]]) == 1:
            return _mirrored(new, new.attributes.dimensions)
        return new

    return rewrite_with_old(computation, visit)


def _without_transposed_operands(dot: Instruction, attributes: Dot) -> Instruction:
    lhs, rhs = dot.operands
    batch, contracting = attributes.lhs_batch_dims, attributes.lhs_contracting_dims
    order = _absorbable(lhs, (*batch, *contracting))
    if order is not None:
        attributes = replace(
            attributes,
            lhs_batch_dims=tuple(order[d] for d in batch),
            lhs_contracting_dims=tuple(order[d] for d in contracting),
        )
        lhs = lhs.operands[0]
    batch, contracting = attributes.rhs_batch_dims, attributes.rhs_contracting_dims
    order = _absorbable(rhs, (*batch, *contracting))
    if order is not None:
        attributes = replace(
            attributes,
            rhs_batch_dims=tuple(order[d] for d in batch),
            rhs_contracting_dims=tuple(order[d] for d in contracting),
        )
        rhs = rhs.operands[0]
    if (lhs, rhs) == dot.operands:
        return dot
    return replace(dot, operands=(lhs, rhs), attributes=attributes)


def _absorbable(operand: Instruction, numbered: tuple[int, ...]) -> tuple[int, ...] | None:
    """The transpose's order, if the dimensions that the dot does not number keep theirs."""
    if not isinstance(operand.attributes, Transpose) or not is_static(operand):
        return None
    order = operand.attributes.dimensions
    free = [order[d] for d in range(len(order)) if d not in numbered]
    return order if free == sorted(free) else None


def _mirrored(transpose: Instruction, order: tuple[int, ...]) -> Instruction:
    (dot,) = transpose.operands
    if dot.op != "dot" or dot.control_predecessors or order != mirrored_order(dot):
        return transpose
    return mirrored(dot)
