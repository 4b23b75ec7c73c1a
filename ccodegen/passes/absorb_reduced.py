"""Transposes of what is reduced become dimension numbers of the reduce."""

from __future__ import annotations

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.opdef import is_elementwise
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import is_static
from ccodegen.ops.movement import Transpose
from ccodegen.passes.context import PassContext
from ccodegen.passes.dimension_order import Order, made_of, reduce_before
from ccodegen.passes.fusion_reads import turns_last

_SMALL = 4  # times smaller than its operand: what may read a column as well


def absorb_reduced(module: Module, context: PassContext) -> Module:
    """`reduce(exponential(transpose(%x)), %zero), dimensions={1}` → `reduce(exponential(%x),
    %zero), dimensions={0}`, if nothing but reduces, and what is small, is made of the transpose.

    Rows that are columns of the operand are read in lines then. Each result is made of the same
    elements in the same order, so that all bits stay.
    """
    return transform_computations(module, _absorbed)


def _absorbed(computation: Computation) -> Computation:
    if not any(map(turns_last, computation.instructions)):
        return computation
    reduced = _only_reduced(computation)

    def visit(old: Instruction, new: Instruction) -> Instruction:
        if new.op != "reduce" or new.control_predecessors or not is_static(new):
            return new
        _, sources = made_of(old.operands[: len(old.operands) // 2])
        turns = list(filter(turns_last, sources))
        if not turns or not reduced.issuperset(turns):
            return new
        order = attributes_of(turns[0], Transpose).dimensions
        return reduce_before(new, order, _source)

    return rewrite_with_old(computation, visit)


def _only_reduced(computation: Computation) -> set[Instruction]:
    """The arrays of which nothing but reduces, and what is small, is made."""
    kept, users = {computation.root, *computation.side_roots}, computation.users
    found: set[Instruction] = set()

    def is_reduced_by(user: Instruction, value: Instruction) -> bool:
        is_inside = user in found and is_elementwise(user)
        return user.op == "reduce" or is_inside or _is_small(user, value)

    for value in reversed(computation.instructions):
        is_read = value not in kept and isinstance(value.shape, ArrayShape)
        if is_read and all(is_reduced_by(user, value) for user in users[value]):
            found.add(value)
    return found


def _is_small(user: Instruction, value: Instruction) -> bool:
    is_array = isinstance(user.shape, ArrayShape)
    return is_array and user.array_shape.size * _SMALL <= value.array_shape.size


def _source(value: Instruction, order: Order) -> Instruction | None:
    match value.attributes:
        case Transpose(dimensions) if dimensions == order:
            return value.operands[0]
    return None
