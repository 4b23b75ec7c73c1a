"""sort: orders one dimension of several operands together, by any comparator; always stable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array, Arrays, call_lifted, call_scalars, from_leaves
from ccodegen.ops.line_sort import Order, line_sorter, lines_to_sort, sorts_side_by_side
from ccodegen.ops.line_sorter import Less, Values, key_word
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.merge_sort import sorting_permutation
from ccodegen.ops.network_sort import NetworkSort
from ccodegen.ops.shape_checks import (
    arrays,
    check_scalars,
    dimension_numbers,
    one_or_tuple,
    require,
    same_dimensions,
)
from ccodegen.ops.sort_key import key_bits, packed_key, unordered
from ccodegen.ops.sort_order import Key, sort_keys
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen


@frozen
class Sort(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    is_stable: bool = attr(AttrKind.BOOL, False)


def infer(shapes: tuple[Shape, ...], attributes: Sort) -> Shape:
    operands = arrays("sort", shapes)
    same_dimensions("sort", operands)
    require(len(attributes.dimensions) == 1, "sort takes exactly one dimension")
    dimension_numbers("sort", attributes.dimensions, operands[0].rank)
    require(
        len(attributes.to_apply.parameters) == 2 * len(operands),
        f"sort of {len(operands)} operands compares {2 * len(operands)} values,"
        f" not {len(attributes.to_apply.parameters)} as {attributes.to_apply.name}",
    )
    types = [o.element_type for o in operands]
    check_scalars("sort", attributes.to_apply, _pairs(types, types))
    require(
        attributes.to_apply.root.shape == ArrayShape(ElementType.PRED),
        f"sort: {attributes.to_apply.name} gives {attributes.to_apply.root.shape}, not pred[]",
    )
    return one_or_tuple(operands)


def evaluate(evaluator: Any, instruction: Instruction, *values: Array) -> Any:
    attributes = attributes_of(instruction, Sort)
    (dimension,) = attributes.dimensions
    moved = [np.moveaxis(v, dimension, -1) for v in values]
    lines = tuple(m.reshape(int(np.prod(m.shape[:-1])), m.shape[-1]) for m in moved)

    def less(a: Arrays, b: Arrays) -> Array:
        return call_lifted(evaluator, attributes.to_apply, _pairs(a, b))[0]

    order = sorting_permutation(lines, less)
    ordered = (np.take_along_axis(line, order, 1).reshape(moved[0].shape) for line in lines)
    restored = tuple(np.moveaxis(line, -1, dimension) for line in ordered)
    return from_leaves(instruction.shape, restored)


def nest(scope: NestScope, instruction: Instruction) -> None:
    attributes, builder = attributes_of(instruction, Sort), scope.builder
    (dimension,) = attributes.dimensions
    outer = list(scope.operands[0].dimensions)
    n = outer.pop(dimension)

    def less(a: Values, b: Values) -> Expr:
        return call_scalars(scope, attributes.to_apply, _pairs(a, b))[0]

    order = _order(scope, less, sort_keys(attributes.to_apply))
    types = [b.type for b in scope.operands]

    def place(line: Index, i: Expr) -> Index:
        return (*line[:dimension], i, *line[dimension:])

    def read(line: Index, i: Expr) -> Values:
        return [builder.load(b, place(line, i)) for b in scope.operands]

    def write(line: Index, i: Expr, sorted_values: Values) -> None:
        for result, value in zip(scope.results, sorted_values, strict=True):
            builder.store(result, place(line, i), value)

    if sorts_side_by_side(scope.target, outer, n, order):
        assert order.key is not None
        NetworkSort(builder, n, types, key_word(order.bits), order.key, read, write).sort(outer)
        return
    with lines_to_sort(scope, outer, n, types, order) as line:
        sorter = line_sorter(scope, n, types, order, outer)
        sorter.sort(partial(read, line), partial(write, line), n)


def _order(scope: NestScope, less: Less, keys: Sequence[Key]) -> Order:
    if not keys:
        return Order(less)
    order = Order(less, key_bits(keys), lambda values: packed_key(scope, keys, values))
    if any(k.partial for k in keys):
        order = replace(order, unordered=lambda values: unordered(scope, keys, values))
    return order


def _pairs(a: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """The comparator's arguments: a's and b's first value, a's and b's second, …"""
    return tuple(value for pair in zip(a, b, strict=True) for value in pair)


register(
    OpDef("sort", Sort, arity=(1, None), infer=infer, evaluate=evaluate, nest=nest)
)
