"""Puts a new array together where most of one is updated with what is made of its elements."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import derived, is_static, slice_of
from ccodegen.ops.movement import Concatenate
from ccodegen.passes.constants import uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.fusion_reads import MOVEMENT, is_window

_MOST_INSTRUCTIONS = 200


def frame_updates(module: Module, context: PassContext) -> Module:
    """`dynamic-update-slice(%x, add(slice(%x, [2:10]), …), 1)` of an f32[10]  →
    `concatenate(slice(%x, [0:1]), add(…), slice(%x, [9:10]))`.

    An update that reads its neighbours cannot be made in place: it would lie in memory of its own,
    and be copied. Written together with the frame that stays, it need not; a loop then writes from
    one array to another and back. Not on processors without vectors, where loops would not be cut.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _framed)


def _framed(instruction: Instruction) -> Instruction:
    starts = _starts(instruction)
    if starts is None or not _reads_around(instruction):
        return instruction
    old, value = instruction.operands[:2]
    sizes = old.array_shape.dimensions
    windows = [
        SliceDimension(start, start + size, 1)
        for start, size in zip(starts, value.array_shape.dimensions, strict=True)
    ]
    for d in reversed(range(len(sizes))):
        before = _side(instruction, windows, d, SliceDimension(0, windows[d].start, 1))
        after = _side(instruction, windows, d, SliceDimension(windows[d].limit, sizes[d], 1))
        if before or after:
            dimensions = (*value.array_shape.dimensions[:d], *sizes[d:])
            shape = old.array_shape.with_dimensions(dimensions)
            parts = (*before, value, *after)
            value = derived(instruction, "concatenate", shape, parts, Concatenate((d,)))
    return value


def _side(
    update: Instruction, windows: list[SliceDimension], d: int, stays: SliceDimension
) -> list[Instruction]:
    """What stays of dimension d on one side of the window, which is whole in those behind it."""
    if stays.start == stays.limit:
        return []
    old = update.operands[0]
    rest = [SliceDimension(0, size, 1) for size in old.array_shape.dimensions[d + 1 :]]
    return [slice_of(update, old, [*windows[:d], stays, *rest])]


def _starts(instruction: Instruction) -> list[int] | None:
    """Where the window begins, of an update of at least half of an array at a constant place."""
    if instruction.op != "dynamic-update-slice" or instruction.control_predecessors:
        return None
    old, update, *starts = instruction.operands
    if not is_static(instruction) or 2 * update.array_shape.size < old.array_shape.size:
        return None
    values = [uniform(s) for s in starts]
    if len(starts) != old.array_shape.rank or update.array_shape.size == old.array_shape.size:
        return None
    rooms = zip(old.array_shape.dimensions, update.array_shape.dimensions, values, strict=True)
    known = [min(max(int(v), 0), size - window) for size, window, v in rooms if v is not None]
    return known if len(known) == len(starts) else None


def _reads_around(instruction: Instruction) -> bool:
    """Whether the update is computed of elements of the array at other places than they go to."""
    old, update = instruction.operands[:2]
    pending, seen = [update], {update}
    while pending and len(seen) < _MOST_INSTRUCTIONS:
        part = pending.pop()
        if part is old:
            return True
        is_read = opdef.get(part.op).elementwise or part.op in MOVEMENT | {"concatenate", "pad"}
        if is_read and not is_window(part, instruction):
            new = [o for o in part.operands if o not in seen]
            pending += new
            seen.update(new)
    return False
