"""Sums of narrow rows are made over several rows at a time, as wide as vectors are."""

from __future__ import annotations

import math

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import derived, reshape, slice_of
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.passes.flatten_rows import is_flat
from ccodegen.passes.simple_reduce import neutral_start

_WIDE = 64  # elements: a few vectors
_LEAST_ROWS = 8  # of so many elements


def widen_narrow(module: Module, context: PassContext) -> Module:
    """`reduce(%x), dimensions={0}` of an f32[6400,3]  →  of the f32[100,192] with the same elements
    in the same order, then of the f32[64,3] that comes out. So within each of several images.

    Of an array in memory, or of what is computed of such, element by element. The order of sums
    changes: not in strict mode. Not on processors without vectors.
    """
    if context.strict or not context.has_vectors:
        return module
    return rewrite_module(module, _widened)


def _widened(instruction: Instruction) -> Instruction:
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
    if none is None or not is_one_run or not is_narrow or not is_flat(value, first):
        return instruction
    flat = reshape(instruction, value, (*outer, rows, width))
    whole = rows - rows % together
    joined = (*outer, whole // together, together * width)
    wide = reshape(instruction, _rows(flat, 0, whole), joined)
    sums = _reduced(instruction, attributes, wide, none)
    parts = reshape(instruction, sums, (*outer, together, width))
    total = _reduced(instruction, attributes, parts, initial)
    if whole < rows:
        rest = _reduced(instruction, attributes, _rows(flat, whole, rows), none)
        total = derived(instruction, attributes.to_apply.root.op, total.shape, (total, rest))
    return reshape(instruction, total, instruction.array_shape.dimensions)


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
