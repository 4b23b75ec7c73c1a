"""A range of what is computed, computed of the same ranges of what it is made of."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.build import broadcast, is_static, slice_of, slice_size
from ccodegen.ops.movement import Broadcast

_DEEPEST = 32


class ComputedPart:
    """A range of one dimension: of arrays in memory a slice. Each part is made once."""

    def __init__(self, dimension: int, begin: int, end: int) -> None:
        self._dimension, self._range = dimension, SliceDimension(begin, end)
        self._made: dict[Instruction, Instruction] = {}

    def of(self, value: Instruction, depth: int = 0) -> Instruction:
        if value not in self._made:
            self._made[value] = self._make(value, depth)
        return self._made[value]

    def _make(self, value: Instruction, depth: int) -> Instruction:
        dimensions = value.array_shape.dimensions
        ranges = [SliceDimension(0, size) for size in dimensions]
        ranges[self._dimension] = self._range
        sizes = tuple(map(slice_size, ranges))
        if depth < _DEEPEST and is_static(value) and not value.control_predecessors:
            if opdef.get(value.op).elementwise:
                operands = [
                    self.of(o, depth + 1) if o.array_shape.rank else o for o in value.operands
                ]
                shape = value.array_shape.with_dimensions(sizes)
                return replace(value, operands=tuple(operands), shape=shape)
            if isinstance(value.attributes, Broadcast):
                places = value.attributes.dimensions
                (operand,) = value.operands
                part = slice_of(operand, operand, [ranges[d] for d in places])
                return broadcast(value, part, sizes, places)
        return slice_of(value, value, ranges)
