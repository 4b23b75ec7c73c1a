"""How one instruction reads another, as far as fusion cares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.cost import FAR, GATHERED
from ccodegen.loop.unroll_rows import MOST_ELEMENTS
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.cost import DEAR, work
from ccodegen.ops.gather import Gather
from ccodegen.ops.lines import reads_floats
from ccodegen.ops.movement import SAME_VALUES, Broadcast, Concatenate, Slice, Transpose
from ccodegen.passes.arrange_dots import is_arranged
from ccodegen.passes.constants import uniform
from ccodegen.passes.fusion_group import Rows, is_written_out, rows_of

MOVEMENT = SAME_VALUES | {"convert"}
"""Ops whose elements cost no more than reading those of the operand."""

OFTEN = 16
"""Times that each element is read, from which on it is worth to put them in another order."""

_FREE = frozenset({"broadcast", "iota", "reshape", "constant"})
_VERY_MUCH = 16 * DEAR  # from which on it does not matter how much
_FEW = 32  # elements of a row, which take less than a value that is made for them alone
_ALONE = 6  # cheap ops one at a time, where few bytes are moved for them


def is_moved(value: Instruction) -> bool:
    """Whether its elements are those of its operand, or where they are."""
    return value.op in MOVEMENT or value.op == "iota"


def elementwise_cone(values: Sequence[Instruction], size: int) -> set[Instruction]:
    """The values of so many elements, and what they are made of element by element."""
    return set(_cone(values, size))


def _cone(values: Sequence[Instruction], size: int) -> Iterator[Instruction]:
    seen: set[Instruction] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        is_array = isinstance(value.shape, ArrayShape)
        if is_array and value not in seen and value.array_shape.size == size:
            seen.add(value)
            yield value
            straight = value.op == "reshape" or opdef.is_elementwise(value)
            pending += value.operands if straight else ()


def work_to_make(value: Instruction) -> int:
    """What an element takes with all that it is made of element by element, in cheap ops; of very
    many not all."""
    total = 0
    for part in _cone([value], value.array_shape.size):
        total += work(part)
        if total > _VERY_MUCH:
            break
    return total


def is_far_columns(reduce: Instruction) -> bool:
    """Whether it keeps the last dimension of an array that no cache keeps: what reads the array
    again in the same kernel reads it from memory, in pieces."""
    return rows_of(reduce).keeps_last and reduce.operands[0].array_shape.bytes >= FAR


def is_free(instruction: Instruction) -> bool:
    """Whether it may be copied into each group that reads it: what stays in memory in any case is
    read there in part as well as from a copy of that part."""
    return instruction.op in _FREE or _is_part_of_what_stays(instruction)


def _is_part_of_what_stays(value: Instruction) -> bool:
    if not isinstance(value.attributes, Slice):
        return False
    stays = value.operands[0].op in ("parameter", "constant")
    return stays and all(part.stride == 1 for part in value.attributes.slice)


def reads_nothing(instruction: Instruction) -> bool:
    """Whether it is numbers that stand in the code of each kernel that needs it, or indices."""
    spreads = instruction.op in ("broadcast", "iota")
    return spreads and all(map(is_written_out, instruction.operands))


def is_scattered(value: Instruction) -> bool:
    """Whether it takes elements out of an array that do not lie side by side in it."""
    if not isinstance(value.attributes, Slice):
        return False
    taken, size = value.attributes.slice[-1:], value.operands[0].array_shape.dimensions[-1:]
    column = value.array_shape.rank > 1 and value.array_shape.dimensions[-1] == 1 < size[0]
    return column or any(t.stride > 1 for t in taken)


def is_looked_up(value: Instruction) -> bool:
    """Whether each element is read alone, from where others say, and is of less than a word: those
    go into no vector together."""
    if not isinstance(value.attributes, Gather):
        return False
    return is_narrow(value.array_shape) and value.attributes.slice_sizes[-1:] == (1,)


def is_narrow(shape: ArrayShape) -> bool:
    """Whether its elements go into no vector together unless they lie side by side."""
    return shape.element_type.bytes < GATHERED


def row_length(value: Instruction) -> int:
    """Elements along the last dimension that is not of 1."""
    return next((d for d in reversed(value.array_shape.dimensions) if d > 1), 1)


def interleaves(concatenate: Instruction) -> bool:
    """Whether neighbours are of different operands."""
    (along,) = attributes_of(concatenate, Concatenate).dimensions
    return all(o.array_shape.dimensions[along] == 1 for o in concatenate.operands)


def turns_last(user: Instruction) -> bool:
    """Whether it is a transpose whose rows are no rows of the operand."""
    if not isinstance(user.attributes, Transpose):
        return False
    return user.attributes.dimensions[-1] != user.array_shape.rank - 1


def lies_apart(value: Instruction) -> bool:
    """Whether it moves elements so that neighbours are none in the operand."""
    return turns_last(value) or is_scattered(value) or _repeats_elements(value)


def _repeats_elements(value: Instruction) -> bool:
    """Whether it is a reshape to rows of elements that are each there several times."""
    if value.op != "reshape" or not isinstance(value.operands[0].attributes, Broadcast):
        return False
    (spread,) = value.operands
    last = spread.array_shape.dimensions[-1]
    return not repeats_rows(spread) and row_length(value) > last > 1


def repeats_rows(user: Instruction) -> bool:
    """Whether it is a broadcast of whole rows, and not of an element along each."""
    if not isinstance(user.attributes, Broadcast):
        return False
    return user.attributes.dimensions[-1:] == (user.array_shape.rank - 1,)


def joins_coordinates(value: Instruction, user: Instruction) -> bool:
    """Whether a gather reads places whose coordinates are a concatenate's operands, one each."""
    if value.op != "concatenate" or user.op != "gather" or user.operands[1] is not value:
        return False
    (along,) = attributes_of(value, Concatenate).dimensions
    return interleaves(value) and along == attributes_of(user, Gather).index_vector_dim


def makes_alone(gather: Instruction, made_of: Instruction) -> bool:
    """Whether it would make coordinates, of a value, again and again in dimensions around them, or
    one at a time for few elements each, where vectors make them faster."""
    dimensions = gather.array_shape.dimensions
    rows = [d for d in attributes_of(gather, Gather).offset_dims if dimensions[d] > 1]
    last = max((d for d, n in enumerate(dimensions) if n > 1 and d not in rows), default=-1)
    around = any(d < last for d in rows)
    inside = math.prod(dimensions[d] for d in rows if d > last)
    made_with = work_to_make(made_of)
    if around:
        return inside > 1 or made_with >= DEAR
    least = _ALONE if is_narrow(gather.array_shape) else DEAR
    return (is_looked_up(gather) or 1 < inside < _FEW) and made_with >= least


def is_read_in_part(value: Instruction, user: Instruction) -> bool:
    """Whether a gather reads another one's elements, and no more of them than there are."""
    both = value.op == user.op == "gather" and user.operands[0] is value
    return both and user.array_shape.size <= value.array_shape.size


def spreads_rows(user: Instruction, rows: Rows) -> bool:
    """Whether it broadcasts a value per row over whole rows."""
    attributes = user.attributes
    if not isinstance(attributes, Broadcast) or attributes.dimensions != rows.kept:
        return False
    return user.array_shape.dimensions == rows.dimensions


def is_along_rows(user: Instruction, rows: Rows) -> bool:
    """Whether it is made per row, or per element, of what has the same place; or reduces rows."""
    if user.op == "reduce":
        return rows_of(user) == rows
    same = user.array_shape.dimensions in (rows.row_dimensions, rows.dimensions)
    return same and opdef.is_elementwise(user)


def is_dear_to_repeat(value: Instruction, broadcast: Instruction, vectors: bool) -> bool:
    """Whether the broadcast repeats elements that are dear, or made with as much work where loops
    do not compute them once, along the last dimension, or, where vectors would make many, one at a
    time for few others."""
    size, rows = value.array_shape.size, broadcast.array_shape
    if size >= rows.size:
        return False
    kept = attributes_of(broadcast, Broadcast).dimensions
    whole = kept[-1:] == (rows.rank - 1,) or (vectors and _makes_short_rows(rows))
    made_with = work_to_make(value) if size > 1 and whole else work(value)
    return made_with >= DEAR


def _makes_short_rows(rows: ArrayShape) -> bool:
    """Whether one value a row takes longer than the row: but for the shortest, of words, which are
    unrolled, and vectors are made of a loop around them that is long enough."""
    *_, count, length = (1, *rows.dimensions)
    unrolled = length <= MOST_ELEMENTS and count >= _FEW and not is_narrow(rows)
    return length < _FEW and not unrolled


def is_per_row(value: Instruction, broadcast: Instruction) -> bool:
    """Whether the value is made elementwise from a reduce of the rows that it is spread over: the
    reduce will be in the same kernel, which then computes the value once a row."""
    kept = attributes_of(broadcast, Broadcast).dimensions
    spread_over = Rows(broadcast.array_shape.dimensions, kept)
    pending, seen = [value], {value}
    while pending:
        instruction = pending.pop()
        if instruction.op == "reduce":
            if rows_of(instruction) == spread_over and not spread_over.keeps_last:
                return True
            continue
        is_alike = instruction.array_shape.dimensions == value.array_shape.dimensions
        same = is_alike and opdef.is_elementwise(instruction)
        new = [o for o in instruction.operands if same and o not in seen]
        pending += new
        seen.update(new)
    return False


def is_window(value: Instruction, update: Instruction) -> bool:
    """Whether the value is what dynamic-update-slice is to overwrite."""
    target, _, *starts = update.operands
    if value.op == "dynamic-slice":
        return value.operands == (target, *starts)
    if not isinstance(value.attributes, Slice) or value.operands != (target,):
        return False
    places = [uniform(s) for s in starts]
    parts = value.attributes.slice
    return all(
        place is not None and int(place) == part.start and part.stride == 1
        for place, part in zip(places, parts, strict=True)
    )


def fits_before(hero: Instruction, value: Instruction) -> bool:
    """Whether the value can be computed while the hero reads it."""
    if hero.op == "concatenate":
        return True
    if hero.op == "dynamic-update-slice":
        return hero.operands[0] is not value
    if turns_last(value) and hero.op == "dot" and is_arranged(hero, value):
        return False
    if value.op == "convert" and hero.op == "convolution" and reads_floats(hero):
        return False
    return value.op in MOVEMENT or value.op == "dynamic-slice"
