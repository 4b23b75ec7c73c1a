"""Transposes of what is reduced become dimension numbers of the reduce."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.opdef import is_elementwise
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import broadcast, derived, is_static, transpose
from ccodegen.ops.creation import Iota
from ccodegen.ops.movement import Broadcast, Transpose
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
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
        count = len(new.operands) // 2
        turns = [t for o in old.operands[:count] for t in _transposes(o)]
        if not turns or not reduced.issuperset(turns):
            return new
        order = attributes_of(turns[0], Transpose).dimensions
        inputs = [_in_order(o, order) for o in new.operands[:count]]
        found = [i for i in inputs if i is not None]
        return _reduced(new, found, order) if len(found) == count else new

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


def _transposes(value: Instruction) -> list[Instruction]:
    """Those that turn rows to columns, of which the value is made element by element."""
    found, pending = {value: None}, [value]
    while pending:
        part = pending.pop()
        if _is_inside(part):
            new = [o for o in part.operands if o not in found]
            found.update(dict.fromkeys(new))
            pending += new
    return [part for part in found if turns_last(part)]


def _in_order(value: Instruction, order: tuple[int, ...]) -> Instruction | None:
    """The value before the transpose to that order, if it is made of such, of what is spread, and
    of indices."""
    made: dict[Instruction, Instruction | None] = {}
    pending = [value]
    while pending:
        part = pending[-1]
        below = part.operands if _is_inside(part) else ()
        waiting = [o for o in below if o not in made]
        if waiting:
            pending += waiting
            continue
        pending.pop()
        operands = [o for o in map(made.get, below) if o is not None]
        if len(operands) < len(below):
            made[part] = None
        elif below:
            shape = part.array_shape.with_dimensions(_sizes_before(part, order))
            made[part] = derived(part, part.op, shape, tuple(operands), part.attributes)
        else:
            made[part] = _source_in_order(part, order)
    return made[value]


def _is_inside(part: Instruction) -> bool:
    is_array = part.array_shape.rank > 0
    return is_array and is_elementwise(part) and not part.control_predecessors


def _sizes_before(value: Instruction, order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value.array_shape.dimensions[order.index(d)] for d in range(len(order)))


def _source_in_order(value: Instruction, order: tuple[int, ...]) -> Instruction | None:
    if value.array_shape.rank == 0:
        return value
    before = _sizes_before(value, order)
    match value.attributes:
        case Transpose(dimensions) if dimensions == order:
            return value.operands[0]
        case Broadcast(dimensions) if len(dimensions) < 2:
            turned = tuple(order[d] for d in dimensions)
            return broadcast(value, value.operands[0], before, turned)
        case Iota(dimension):
            shape = value.array_shape.with_dimensions(before)
            return derived(value, "iota", shape, (), Iota(order[dimension]))
    return None


def _reduced(
    reduce: Instruction, inputs: list[Instruction], order: tuple[int, ...]
) -> Instruction:
    """The reduce of inputs that are no longer in that order."""
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
