"""Takes a narrow last dimension apart into columns, where a reduce has to do with it."""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.attributes import NO_ATTRIBUTES
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_computation
from ccodegen.ops.build import broadcast, derived, reshape
from ccodegen.ops.movement import Concatenate
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.computed_part import ComputedPart
from ccodegen.passes.context import PassContext
from ccodegen.passes.simple_reduce import operator_of

_WIDEST = 4
_LEAST_ELEMENTS = 16


def unzip_narrow(module: Module, context: PassContext) -> Module:
    """Vectors along a last dimension of two to four elements would be nearly empty; along the
    dimension before it they are full.

    `reduce(%x), dimensions={2}` of an f32[N,M,3]  →  `x0 + x1 + x2`, of f32[N,M] each;
    `reduce(%y), dimensions={1}`  →  `concatenate(reduce(%y0), reduce(%y1), reduce(%y2))`, where %y
    is computed. The columns of what is computed are computed, those of an array are slices. The
    order in which elements are added stays. Not on processors without vectors.
    """
    if not context.has_vectors:
        return module

    def transform(
        computation: Computation, callees: dict[Computation, Computation]
    ) -> Computation:
        columns = _Columns()
        return rewrite_computation(computation, lambda i: _unzipped(i, columns), callees)

    return map_computations(module, transform)


def _unzipped(instruction: Instruction, columns: _Columns) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Reduce) or not _is_simple(instruction, attributes):
        return instruction
    operand, initial = instruction.operands
    *_, width = operand.array_shape.dimensions
    last = operand.array_shape.rank - 1
    if not 1 < width <= _WIDEST or operand.array_shape.size < _LEAST_ELEMENTS * width:
        return instruction
    if attributes.dimensions == (last,):
        return _combined(instruction, attributes, columns)
    if last in attributes.dimensions or not opdef.get(operand.op).elementwise:
        return instruction
    parts = []
    shape = instruction.array_shape
    for n in range(width):
        column = columns.of(operand, n)
        part = shape.with_dimensions(shape.dimensions[:-1])
        reduced = derived(instruction, "reduce", part, (column, initial), attributes)
        parts.append(reshape(instruction, reduced, (*part.dimensions, 1)))
    joined = Concatenate((shape.rank - 1,))
    return derived(instruction, "concatenate", shape, tuple(parts), joined)


def _is_simple(reduce: Instruction, attributes: Reduce) -> bool:
    """Whether it combines elements of one array by one op of their type."""
    plain = attributes.to_apply.root.attributes == NO_ATTRIBUTES
    return plain and operator_of(reduce) is not None


def _combined(reduce: Instruction, attributes: Reduce, columns: _Columns) -> Instruction:
    """The columns of the operand, combined from the first to the last."""
    operand, initial = reduce.operands
    root, (accumulator, _) = attributes.to_apply.root, attributes.to_apply.parameters
    total = broadcast(reduce, initial, reduce.array_shape.dimensions, ())
    for n in range(operand.array_shape.dimensions[-1]):
        column = columns.of(operand, n)
        pair = (total, column) if root.operands[0] is accumulator else (column, total)
        total = derived(reduce, root.op, reduce.shape, pair)
    return total


class _Columns:
    """Elements of the last dimension as arrays of the other ones, each made once."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, int], ComputedPart] = {}

    def of(self, value: Instruction, number: int) -> Instruction:
        *rest, _ = value.array_shape.dimensions
        last = len(rest)
        part = self._parts.setdefault((last, number), ComputedPart(last, number, number + 1))
        return reshape(value, part.of(value), rest)
