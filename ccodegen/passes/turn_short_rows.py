"""Reduces of short rows that are made of smaller arrays become reduces of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.ops.build import broadcast, is_static, turned
from ccodegen.ops.creation import Iota
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.passes.dimension_order import Order, made_of, reduce_before, sizes_before
from ccodegen.passes.fusion_reads import OFTEN
from ccodegen.target.model import Machine

_LEAST = 5  # elements of a row; shorter ones are written out
_LONG = 64  # elements of a row that fill vectors as well


def turn_short_rows(module: Module, context: PassContext) -> Module:
    """The sum over e of `abs(x[n, e] - c[k, e])`, `reduce(%a), dimensions={2}` of an f32[N,K,E]  →
    `reduce(%b), dimensions={1}` of an f32[N,E,K] that is made of the transpose of c: vectors lie
    along k.

    Only where no array holds the rows, so that what is turned is much smaller. The order in which
    elements are combined stays. Not on processors without vectors.
    """
    if context.target is None or not context.has_vectors:
        return module
    machine = context.target.machine

    def transform(computation: Computation) -> Computation:
        def visit(old: Instruction, new: Instruction) -> Instruction:
            return _turned(old, new, computation, machine)

        return rewrite_with_old(computation, visit)

    return transform_computations(module, transform)


def _turned(
    old: Instruction, new: Instruction, computation: Computation, machine: Machine
) -> Instruction:
    if not isinstance(old.attributes, Reduce) or old.control_predecessors or not is_static(old):
        return new
    shape, reduced = old.operands[0].array_shape, old.attributes.dimensions
    columns, rank = shape.rank - len(reduced) - 1, shape.rank  # the dimension before the rows
    if columns < 0 or {*reduced} != {*range(columns + 1, rank)}:
        return new
    vector = machine.vector_elements(shape.element_type.bytes)
    row = math.prod(shape.dimensions[columns + 1 :])
    if not _LEAST <= row < _LONG or shape.dimensions[columns] < vector:
        return new
    inside, sources = made_of(old.operands[: len(old.operands) // 2])
    is_only_reduced = all(
        user in inside or (user.op == "reduce" and user.attributes == old.attributes)
        for part in inside
        for user in computation.users[part]
    )
    if not is_only_reduced or not _are_small(sources, columns, shape.size):
        return new
    order = (*range(columns), rank - 1, *range(columns, rank - 1))
    return reduce_before(new, order, _source)


def _are_small(sources: Iterable[Instruction], columns: int, size: int) -> bool:
    """Whether they are spread over so many elements often, and some are read far apart along the
    columns."""
    is_far = False
    for source in sources:
        match source.attributes:
            case Broadcast(dimensions) if columns in dimensions and max(dimensions) > columns:
                is_far = True
                if source.operands[0].array_shape.size * OFTEN > size:
                    return False
            case Broadcast() | Iota():
                continue
            case _ if source.array_shape.rank > 0:
                return False
    return is_far


def _source(value: Instruction, order: Order) -> Instruction | None:
    if not isinstance(value.attributes, Broadcast):
        return None
    places = [order[d] for d in value.attributes.dimensions]
    operand = turned(value, value.operands[0], sorted(range(len(places)), key=places.__getitem__))
    return broadcast(value, operand, sizes_before(value, order), sorted(places))
