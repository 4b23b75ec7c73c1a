"""Values as they are before a transpose, with all that they are made of element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import is_elementwise
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, derived, transpose
from ccodegen.ops.creation import Iota
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.reduce import Reduce

Order: TypeAlias = tuple[int, ...]
"""Of a transpose: dimension i of the result is dimension `order[i]` of its operand."""

Source: TypeAlias = Callable[[Instruction, Order], Instruction | None]
"""What has a value as its transpose to an order; None where it is not to be made."""


def reduce_before(reduce: Instruction, order: Order, source: Source) -> Instruction:
    """The reduce of what has its inputs as transposes to that order: what they are made of element
    by element, indices and what is spread along at most one dimension are made anew, all else is
    what `source` gives. Itself where that is None, or elements would be combined in another order.
    """
    inputs: list[Instruction] = []
    for operand in reduce.operands[: len(reduce.operands) // 2]:
        before = _before(operand, order, source)
        if before is None:
            return reduce
        inputs.append(before)
    return _reduced(reduce, inputs, order)


def is_inside(part: Instruction) -> bool:
    """Whether it is made element by element."""
    is_array = part.array_shape.rank > 0
    return is_array and is_elementwise(part) and not part.control_predecessors


def made_of(
    values: Sequence[Instruction],
) -> tuple[dict[Instruction, None], dict[Instruction, None]]:
    """What the values are made of element by element, themselves too, and what that is made of."""
    inside: dict[Instruction, None] = {}
    sources: dict[Instruction, None] = {}
    pending = list(values)
    while pending:
        part = pending.pop()
        if not is_inside(part):
            sources[part] = None
        elif part not in inside:
            inside[part] = None
            pending += part.operands
    return inside, sources


def sizes_before(value: Instruction, order: Order) -> tuple[int, ...]:
    """Of what has the value as its transpose."""
    return tuple(value.array_shape.dimensions[order.index(d)] for d in range(len(order)))


def _before(value: Instruction, order: Order, source: Source) -> Instruction | None:
    made: dict[Instruction, Instruction | None] = {}
    pending = [value]
    while pending:
        part = pending[-1]
        below = part.operands if is_inside(part) else ()
        waiting = [o for o in below if o not in made]
        if waiting:
            pending += waiting
            continue
        pending.pop()
        operands = [o for o in map(made.get, below) if o is not None]
        if len(operands) < len(below):
            made[part] = None
        elif below:
            shape = part.array_shape.with_dimensions(sizes_before(part, order))
            made[part] = derived(part, part.op, shape, tuple(operands), part.attributes)
        else:
            made[part] = _plain_source(part, order) or source(part, order)
    return made[value]


def _plain_source(value: Instruction, order: Order) -> Instruction | None:
    if value.array_shape.rank == 0:
        return value
    before = sizes_before(value, order)
    match value.attributes:
        case Broadcast(dimensions) if len(dimensions) < 2:
            turned = tuple(order[d] for d in dimensions)
            return broadcast(value, value.operands[0], before, turned)
        case Iota(dimension):
            shape = value.array_shape.with_dimensions(before)
            return derived(value, "iota", shape, (), Iota(order[dimension]))
    return None


def _reduced(reduce: Instruction, inputs: list[Instruction], order: Order) -> Instruction:
    attributes = attributes_of(reduce, Reduce)
    dimensions = [order[d] for d in sorted(attributes.dimensions)]
    rest = [order[d] for d in range(len(order)) if d not in attributes.dimensions]
    is_array = isinstance(reduce.shape, ArrayShape)
    if dimensions != sorted(dimensions) or (rest != sorted(rest) and not is_array):
        return reduce
    sizes = inputs[0].array_shape.dimensions
    kept = tuple(sizes[d] for d in sorted(rest))
    shape = reduce.array_shape.with_dimensions(kept) if is_array else reduce.shape
    operands = (*inputs, *reduce.operands[len(inputs) :])
    turned = replace(attributes, dimensions=tuple(dimensions))
    result = derived(reduce, "reduce", shape, operands, turned)
    return transpose(reduce, result, [sorted(rest).index(d) for d in rest])
