"""Sums of narrow rows are made over several rows at a time, as wide as vectors are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.ops.build import broadcast, derived, repeated, reshape, slice_of
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.passes.flatten_rows import is_flat, is_mapped, mapped_parts
from ccodegen.passes.simple_reduce import neutral_start

Users: TypeAlias = Mapping[Instruction, Sequence[Instruction]]

_WIDE = 64  # elements: a few vectors
_LEAST_ROWS = 8  # of so many elements


def widen_narrow(module: Module, context: PassContext) -> Module:
    """`reduce(%x), dimensions={0}` of an f32[6400,3]  →  of the f32[100,192] with the same elements
    in the same order, then of the f32[64,3] that comes out. So within each of several images.

    Of an array in memory, or of what is computed of such, element by element; and of one row for
    all, as `sum(exp(%x - %most))`, if nobody else reads any of it. The order of sums changes: not
    in strict mode. Not on processors without vectors.
    """
    if context.strict or not context.has_vectors:
        return module

    def transform(computation: Computation) -> Computation:
        users = computation.users
        return rewrite_with_old(computation, lambda old, new: _widened(new, old, users))

    return transform_computations(module, transform)


def _widened(instruction: Instruction, old: Instruction, users: Users) -> Instruction:
    """`old`: as it was, and as its `users` know it."""
    attributes = instruction.attributes
    if not isinstance(attributes, Reduce) or len(instruction.operands) != 2:
        return instruction
    value, initial = instruction.operands
    sizes, first = value.array_shape.dimensions, min(attributes.dimensions, default=0)
    behind = first + len(attributes.dimensions)
    outer, rows, width = sizes[:first], math.prod(sizes[first:behind]), math.prod(sizes[behind:])
    together = math.lcm(_WIDE, max(width, 1)) // max(width, 1)
    none = neutral_start(instruction)
    is_one_run = sorted(attributes.dimensions) == list(range(first, behind))
    is_narrow = 1 < width < _WIDE and rows >= together * _LEAST_ROWS
    if none is None or not is_one_run or not is_narrow:
        return instruction
    flat = reshape(instruction, value, (*outer, rows, width))
    whole = rows - rows % together
    joined = (*outer, whole // together, together * width)
    if is_flat(value, first):
        wide = reshape(instruction, _rows(flat, 0, whole), joined)
    elif is_flat(value, first, behind) and _is_alone(old, users):
        wide = _joined(value, first, behind, whole, joined)
    else:
        return instruction
    sums = _reduced(instruction, attributes, wide, none)
    parts = reshape(instruction, sums, (*outer, together, width))
    total = _reduced(instruction, attributes, parts, initial)
    if whole < rows:
        rest = _reduced(instruction, attributes, _rows(flat, whole, rows), none)
        total = derived(instruction, attributes.to_apply.root.op, total.shape, (total, rest))
    return reshape(instruction, total, instruction.array_shape.dimensions)


def _is_alone(reduce: Instruction, users: Users) -> bool:
    """Whether nobody else reads what is computed for it element by element."""
    made = {reduce, *filter(is_mapped, mapped_parts(reduce.operands[0]))}
    return all(made.issuperset(users[part]) for part in made - {reduce})


def _joined(
    value: Instruction, first: int, behind: int, rows: int, wide: tuple[int, ...]
) -> Instruction:
    """So many rows of what `is_flat` is true of, several side by side: its dimensions from `first`
    to before `behind` and those from there on become the last two of `wide`."""
    made: dict[Instruction, Instruction] = {}
    for part in mapped_parts(value):
        attributes, sizes = part.attributes, part.array_shape.dimensions
        width = math.prod(sizes[behind:])
        if part.array_shape.rank == 0:
            made[part] = part
        elif is_mapped(part):
            shape = part.array_shape.with_dimensions(wide)
            made[part] = replace(part, shape=shape, operands=tuple(made[o] for o in part.operands))
        elif not isinstance(attributes, Broadcast):
            flat = reshape(part, part, (*sizes[:first], math.prod(sizes[first:behind]), width))
            made[part] = reshape(part, _rows(flat, 0, rows), wide)
        elif all(d < first for d in attributes.dimensions):
            made[part] = broadcast(part, part.operands[0], wide, attributes.dimensions)
        else:
            along = [d - behind for d in attributes.dimensions]
            row = reshape(part, broadcast(part, part.operands[0], sizes[behind:], along), (width,))
            line = repeated(row, wide[-1] // width)
            made[part] = broadcast(part, line, wide, (len(wide) - 1,))
    return made[value]


def _rows(flat: Instruction, start: int, limit: int) -> Instruction:
    *outer, _, width = flat.array_shape.dimensions
    ranges = [SliceDimension(0, size) for size in (*outer, width)]
    return slice_of(flat, flat, (*ranges[:-1], SliceDimension(start, limit), ranges[-1]))


def _reduced(
    origin: Instruction, attributes: Reduce, rows: Instruction, initial: Instruction
) -> Instruction:
    """Over the last dimension but one."""
    *outer, _, width = rows.array_shape.dimensions
    shape = origin.array_shape.with_dimensions((*outer, width))
    over = Reduce((len(outer),), attributes.to_apply)
    return derived(origin, "reduce", shape, (rows, initial), over)
