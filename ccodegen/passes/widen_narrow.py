"""Sums of narrow rows are made over several rows at a time, as wide as vectors are."""

from __future__ import annotations

import math

from ccodegen.hlo import opdef
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
    in the same order, then of the f32[64,3] that comes out.

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
    sizes, count = value.array_shape.dimensions, len(attributes.dimensions)
    rows, width = math.prod(sizes[:count]), math.prod(sizes[count:])
    together = math.lcm(_WIDE, max(width, 1)) // max(width, 1)
    none = neutral_start(instruction)
    leads = sorted(attributes.dimensions) == list(range(count))
    is_narrow = 1 < width < _WIDE and rows >= together * _LEAST_ROWS
    if none is None or not leads or not is_narrow or not _lies_flat(value):
        return instruction
    flat = reshape(instruction, value, (rows, width))
    whole = rows - rows % together
    wide = reshape(instruction, _rows(flat, 0, whole), (whole // together, together * width))
    sums = _reduced(instruction, attributes, wide, none)
    parts = reshape(instruction, sums, (together, width))
    total = _reduced(instruction, attributes, parts, initial)
    if whole < rows:
        rest = _reduced(instruction, attributes, _rows(flat, whole, rows), none)
        total = derived(instruction, attributes.to_apply.root.op, total.shape, (total, rest))
    return reshape(instruction, total, instruction.array_shape.dimensions)


def _lies_flat(value: Instruction) -> bool:
    """Whether its elements lie in memory in their order, or are computed of such one by one."""
    return not opdef.get(value.op).elementwise or is_flat(value, 0)


def _rows(flat: Instruction, start: int, limit: int) -> Instruction:
    _, width = flat.array_shape.dimensions
    return slice_of(flat, flat, (SliceDimension(start, limit), SliceDimension(0, width)))


def _reduced(
    origin: Instruction, attributes: Reduce, rows: Instruction, initial: Instruction
) -> Instruction:
    """Over the first dimension of two."""
    shape = origin.array_shape.with_dimensions(rows.array_shape.dimensions[1:])
    return derived(origin, "reduce", shape, (rows, initial), Reduce((0,), attributes.to_apply))
