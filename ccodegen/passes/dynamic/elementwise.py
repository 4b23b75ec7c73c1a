"""Elementwise ops: of different sizes the least counts, one element goes with any number."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.build import broadcast, reshape, slice_of
from ccodegen.passes.dynamic.values import Padded
from ccodegen.passes.dynamic.writer import Writer


def elementwise(write: Writer, operands: Sequence[Padded]) -> Padded:
    """`add(%x, %y)` of sizes m and n → `add(%x, %y)` of size min(m, n); where m or n is known to be
    another, `%x` and `%y` are replaced by their first elements repeated if m or n is 1."""
    values = [operand.value for operand in operands]
    rank = write.plain.array_shape.rank
    sizes: list[Instruction | None] = []
    for d in range(rank):
        places = [n for n, o in enumerate(operands) if o.sizes and o.sizes[d] is not None]
        known = dict.fromkeys(o.sizes[d] for o in operands if o.sizes)
        found = [size for size in known if size is not None]
        sizes.append(_common(write, found))
        if len(found) > 1:
            for n in places:
                values[n] = _repeated(write, values[n], operands[n].sizes[d], d)
    return Padded(write.over(*values), tuple(sizes))


def _common(write: Writer, sizes: Sequence[Instruction]) -> Instruction | None:
    common: Instruction | None = None
    for size in sizes:
        common = size if common is None else _common_of_two(write, common, size)
    return common


def _common_of_two(write: Writer, a: Instruction, b: Instruction) -> Instruction:
    least = write.apply("minimum", a, b)
    rest = write.apply("select", write.compare("EQ", b, 1), a, least)
    return write.apply("select", write.compare("EQ", a, 1), b, rest)


def _repeated(
    write: Writer, value: Instruction, size: Instruction | None, dimension: int
) -> Instruction:
    """The array; its first slice everywhere if its size is 1."""
    dimensions = value.array_shape.dimensions
    if size is None or dimensions[dimension] < 2:
        return value
    parts = [SliceDimension(0, 1 if d == dimension else n) for d, n in enumerate(dimensions)]
    others = [d for d in range(len(dimensions)) if d != dimension]
    first = slice_of(write.plain, value, parts)
    row = reshape(write.plain, first, [dimensions[d] for d in others])
    rows = broadcast(write.plain, row, dimensions, others)
    is_one = write.spread(write.compare("EQ", size, 1), dimensions)
    return write.apply("select", is_one, rows, value)
