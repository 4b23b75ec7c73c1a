"""Reduces over the last dimensions become those over one, long enough for vectors."""

from __future__ import annotations

import math
from dataclasses import replace

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import is_static, reshape
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.context import PassContext
from ccodegen.support.graph import post_order

_LONG = 256  # elements of a last dimension that is no shorter than accumulators want
_LEAST = 64  # elements of a row
_IN_MEMORY = frozenset(
    ("parameter", "constant", "convolution", "dot", "get-tuple-element", "reduce", "reshape")
)


def flatten_rows(module: Module, context: PassContext) -> Module:
    """`reduce(%x), dimensions={1,2}` of an f32[64,28,28]  →
    `reduce(reshape(%x, [64,784])), dimensions={1}`.

    The order of elements stays. Only of what is computed of arrays in memory, element by element:
    of a transpose or a pad, an index would have to be taken apart again. Not on processors without
    vectors.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _flattened)


def _flattened(instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Reduce) or len(instruction.operands) != 2:
        return instruction
    value, initial = instruction.operands
    sizes = value.array_shape.dimensions
    first = len(sizes)  # of the last dimensions that are reduced
    while first - 1 in attributes.dimensions:
        first -= 1
    row = math.prod(sizes[first:])
    if len(sizes) - first < 2 or sizes[-1] >= _LONG or row < _LEAST:
        return instruction
    if not is_static(instruction) or not is_flat(value, first):
        return instruction
    rows = reshape(instruction, value, (*sizes[:first], row))
    dimensions = (*(d for d in attributes.dimensions if d < first), first)
    flat = Reduce(dimensions, attributes.to_apply)
    return replace(instruction, operands=(rows, initial), attributes=flat)


def is_flat(value: Instruction, first: int, behind: int | None = None) -> bool:
    """Whether the dimensions from `first` on, or to before `behind`, are as good as one, in all
    that the value is computed of; and those from `behind` on, where it is given."""
    return all(_is_flat(part, first, behind) for part in mapped_parts(value))


def mapped_parts(value: Instruction) -> tuple[Instruction, ...]:
    """It, and what it is computed of element by element, operands first."""
    return post_order([value], lambda i: i.operands if is_mapped(i) else ())


def is_mapped(part: Instruction) -> bool:
    """Whether it is computed element by element, of arrays of its size."""
    is_array = part.op not in _IN_MEMORY and part.array_shape.rank > 0
    return is_array and opdef.is_elementwise(part)


def _is_flat(part: Instruction, first: int, behind: int | None) -> bool:
    """Likewise, but for what it is computed of."""
    if part.op in _IN_MEMORY or part.array_shape.rank == 0 or is_mapped(part):
        return True
    if not isinstance(part.attributes, Broadcast):
        return False
    dimensions = part.attributes.dimensions
    is_before = all(d < first for d in dimensions)
    return is_before or (behind is not None and all(d >= behind for d in dimensions))
