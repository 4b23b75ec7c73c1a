"""Reshapes whose rows begin and end inside of the operand's: where an element lies in the operand
takes a division there."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.creation import Iota
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.reshape_sizes import runs
from ccodegen.passes.constants import uniform
from ccodegen.passes.fusion_reads import row_length

_BY_DIMENSION = frozenset({"slice", "pad", "concatenate"})  # that leave those of equal sizes
_SHIFTING = _BY_DIMENSION | {"dynamic-slice", "dynamic-update-slice"}
_SHORT = 16  # elements of rows that are no loop of their own


def cuts_rows(reshape: Instruction, readers: Iterable[Instruction], reduces: bool) -> bool:
    """Whether loops over the rows of a reshape, as these readers read them, would find each
    element's place in the operand by division. `reduces`: they reduce rows."""
    short, long = sorted((row_length(reshape), row_length(reshape.operands[0])))
    if short in (1, long):
        return False
    if long % short or any(_begins_inside(reader, reshape) for reader in readers):
        return True
    is_power = short & (short - 1) == 0
    return not is_power and (reduces or short < _SHORT)


def _begins_inside(reader: Instruction, value: Instruction) -> bool:
    """Whether the reader's rows may begin inside of the value's."""
    is_shifted = reader.op in _SHIFTING and row_length(reader) != row_length(value)
    return is_shifted or reader.op == "reduce-window"


def last_run(reshape: Instruction) -> frozenset[int]:
    """The last dimensions of the operand, of more than one element, that become others."""
    sizes = reshape.operands[0].array_shape.dimensions
    for run in reversed(runs(sizes, reshape.array_shape.dimensions)):
        if any(sizes[d] != 1 for d in run.source):
            return frozenset(run.source)
    return frozenset()


def asks_for_places(value: Instruction, along: Collection[int]) -> bool:
    """Whether an element takes to know its coordinates along these dimensions, for itself or for
    what is spread or counted in a copy of its own."""
    if not along or value.op == "reshape":
        return False
    by_place = [value, *(o for o in value.operands if o.op in ("broadcast", "iota"))]
    return any(_depends_on_place(v, along) for v in by_place)


def _depends_on_place(value: Instruction, along: Collection[int]) -> bool:
    if opdef.is_elementwise(value) or uniform(value) is not None:
        return False
    match value.attributes:
        case Broadcast(dimensions):
            return any(d in along for d in dimensions)
        case Iota(dimension):
            return dimension in along
    if value.op not in _BY_DIMENSION:
        return True
    taken, given = value.operands[0].array_shape.dimensions, value.array_shape.dimensions
    return any(taken[d] != given[d] for d in along)
