"""Takes reduces to few elements apart, into parts that threads share."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import derived, element_of, elementwise, is_static, reshape
from ccodegen.ops.extremum import extremum_operator, growing
from ccodegen.ops.reduce import Reduce
from ccodegen.ops.shape_checks import one_or_tuple
from ccodegen.passes.computed_part import ComputedPart
from ccodegen.passes.context import PassContext
from ccodegen.passes.simple_reduce import neutral_start

Operands: TypeAlias = tuple[Instruction, ...]

_LONG = 1 << 20  # bytes: parts of several arrays take longer to put together
_ENOUGH = 16  # elements of a result, or pieces of its rows, to share among threads
_COLUMNS = 4096  # a piece, with which memory is read as fast as it can be
_MOST_PARTS = 64
_MOST_PARTS_OF_COLUMNS = 16
_LEAST_PARTS = 8
_LEAST_ROWS = 64  # of a part: its result is written and read again


def split_reductions(module: Module, context: PassContext) -> Module:
    """`reduce(%x, 0), dimensions={0}` of an f32[16000000]  →
    `reduce(reduce(reshape(%x, [64,250000]), -0), 0)`.

    The parts, and so the order of sums, are the same for any number of threads. Not in strict mode,
    which has one order, and not on processors without vectors, where arrays are small.
    """
    if context.strict or not context.has_vectors:
        return module
    return rewrite_module(module, _split)


def _split(instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Reduce) or not _is_long(instruction, attributes):
        return instruction
    count = len(instruction.operands) // 2
    inputs, initial = instruction.operands[:count], instruction.operands[count:]
    starts = _starts(instruction, inputs, initial)
    sizes = inputs[0].array_shape.dimensions
    outer, *inner = sorted(attributes.dimensions)
    most = min(_most_parts(instruction, attributes), sizes[outer])
    parts = _parts(sizes[outer], most)
    if not starts or most < _LEAST_PARTS or (not parts and count > 1):
        return instruction
    if not parts:
        return _split_with_rest(instruction, attributes, most, starts)
    if parts < sizes[outer]:
        cut = (*sizes[:outer], parts, sizes[outer] // parts, *sizes[outer + 1 :])
        inputs = tuple(reshape(instruction, i, cut) for i in inputs)
        inner = [outer + 1, *(d + 1 for d in inner)]
    elif not inner:
        return instruction
    kept = [d for d in range(inputs[0].array_shape.rank) if d not in inner]
    dimensions = tuple(inputs[0].array_shape.dimensions[d] for d in kept)
    of_parts = derived(
        instruction,
        "reduce",
        one_or_tuple([i.array_shape.with_dimensions(dimensions) for i in inputs]),
        (*inputs, *starts),
        replace(attributes, dimensions=tuple(inner)),
    )
    results = (
        [of_parts] if count == 1 else [element_of(instruction, of_parts, n) for n in range(count)]
    )
    return replace(
        instruction,
        operands=(*results, *initial),
        attributes=replace(attributes, dimensions=(kept.index(outer),)),
    )


def _split_with_rest(
    instruction: Instruction, attributes: Reduce, parts: int, starts: Operands
) -> Instruction:
    """Where no number of parts divides the first dimension: what is left over is added last."""
    value, initial = instruction.operands
    outer, sizes = min(attributes.dimensions), value.array_shape.dimensions
    whole = sizes[outer] - sizes[outer] % parts

    def reduced(begin: int, end: int, start: Instruction) -> Instruction:
        part = ComputedPart(outer, begin, end).of(value)
        return replace(instruction, operands=(part, start))

    first, rest = reduced(0, whole, initial), reduced(whole, sizes[outer], starts[0])
    return elementwise(instruction, attributes.to_apply.root.op, _split(first), rest)


def _is_long(instruction: Instruction, attributes: Reduce) -> bool:
    """Whether it reads much, and gives few elements."""
    arrays = len(instruction.operands) // 2
    is_long = instruction.operands[0].array_shape.bytes >= _LONG * arrays
    return is_static(instruction) and is_long and _shared(instruction, attributes) < _ENOUGH


def _shared(instruction: Instruction, attributes: Reduce) -> int:
    """What threads share if it stays as it is: elements of the result, or many columns at once."""
    shape = instruction.operands[0].array_shape
    kept = [size for d, size in enumerate(shape.dimensions) if d not in attributes.dimensions]
    if _keeps_last(instruction, attributes):
        kept[-1] = -(-kept[-1] // _COLUMNS)
    return math.prod(kept)


def _keeps_last(instruction: Instruction, attributes: Reduce) -> bool:
    return instruction.operands[0].array_shape.rank - 1 not in attributes.dimensions


def _most_parts(instruction: Instruction, attributes: Reduce) -> int:
    """More have results too large to be written and read again at little cost."""
    if not _keeps_last(instruction, attributes):
        return _MOST_PARTS
    dimensions = instruction.operands[0].array_shape.dimensions
    rows = math.prod(dimensions[d] for d in attributes.dimensions)
    return min(_MOST_PARTS_OF_COLUMNS, rows // _LEAST_ROWS)


def _starts(instruction: Instruction, inputs: Operands, initial: Operands) -> Operands:
    """Init values for all parts that change nothing; none where elements have a fixed order."""
    if len(inputs) == 1:
        start = neutral_start(instruction)
        return () if start is None else (start,)
    attributes = attributes_of(instruction, Reduce)
    *others, last = sorted(attributes.dimensions)
    if others or last != inputs[0].array_shape.rank - 1 or instruction.control_predecessors:
        return ()
    # The extremum of an init value and itself is the same once more.
    grows = growing(inputs, initial, last)
    return initial if extremum_operator(attributes.to_apply, grows) else ()


def _parts(size: int, most: int) -> int:
    """Into how many a dimension is split; 0 where that cannot be."""
    found = (n for n in range(most, _LEAST_PARTS - 1, -1) if size % n == 0)
    return next(found, 0)
