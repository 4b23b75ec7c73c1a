"""topk: the k largest or smallest elements of the last dimension, and their s32 indices.

Floats are compared in their total order (-NaN < -inf … -0 < +0 … inf < NaN); of equal elements the
one of the lowest index comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.loop import operators
from ccodegen.loop.builder import Builder, apply
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array, Arrays
from ccodegen.ops.line_sort import Order, cheapest, line_sorter, lines_to_sort, sort_cost
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.merge_sort import sorting_permutation
from ccodegen.ops.partial_sort import PartialSorter, Search
from ccodegen.ops.repeated_search import RepeatedSearch, repeated_search_cost
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.ops.sort_key import ordered, ordered_bits
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen
from ccodegen.target import Target

SORT, CANDIDATES, SEARCHES = "a sort", "candidates", "searches"


@frozen
class TopK(Attributes):
    k: int = attr(AttrKind.INT)
    largest: bool = attr(AttrKind.BOOL, True)


def infer(shapes: tuple[Shape, ...], attributes: TopK) -> Shape:
    (operand,) = arrays("topk", shapes)
    require(not operand.element_type.is_complex, f"topk orders numbers, not {operand}")
    require(operand.rank > 0, "topk takes an array of at least one dimension")
    n = operand.dimensions[-1]
    require(0 <= attributes.k <= n, f"topk: k={attributes.k} of {n} elements")
    values = operand.with_dimensions((*operand.dimensions[:-1], attributes.k))
    return TupleShape((values, values.with_type(ElementType.S32)))


def evaluate(evaluator: Any, instruction: Instruction, operand: Array) -> Any:
    attributes = attributes_of(instruction, TopK)
    element_type = instruction.operands[0].array_shape.element_type
    operator = comparison(element_type, attributes.largest)

    def before(a: Arrays, b: Arrays) -> Array:
        return operators.evaluate(operator, (a[0], b[0]), ElementType.PRED)

    lines = operand.reshape(int(np.prod(operand.shape[:-1])), operand.shape[-1])
    order = sorting_permutation((lines,), before)[:, : attributes.k]
    shape = (*operand.shape[:-1], attributes.k)
    values = np.take_along_axis(lines, order, 1)
    return values.reshape(shape), order.reshape(shape).astype(np.int32)


def nest(scope: NestScope, instruction: Instruction) -> None:
    attributes = attributes_of(instruction, TopK)
    topk_nest(scope, attributes.k, attributes.largest)


def topk_nest(scope: NestScope, k: int, largest: bool) -> None:
    """The lowering for one operand and two results, which custom calls of topk share."""
    operand = scope.operands[0]
    *outer, n = operand.dimensions
    best = cheapest_form(scope.target, n, k, operand.type)
    if best == SORT:
        _by_sort(scope, outer, n, k, largest)
        return
    with scope.builder.loops(outer, "line") as line:
        if best == CANDIDATES:
            sorter = PartialSorter(scope, Search(n, k), ordered_bits(operand.type))
            _by_places(scope, line, sorter, largest)
        else:
            _by_places(scope, line, RepeatedSearch(scope, n, k), largest)


def cheapest_form(target: Target, n: int, k: int, element_type: ElementType) -> str:
    """How the first k of a line of n elements are found in the least time: SORT, CANDIDATES or
    SEARCHES."""
    types, bits = (element_type, ElementType.S32), ordered_bits(element_type)

    def sort(length: int) -> float:
        return sort_cost(target, length, types, bits)

    prices = {
        SORT: sort(n),
        CANDIDATES: Search(n, k).cost(sort),
        SEARCHES: repeated_search_cost(target.machine, n, k, bits),
    }
    return cheapest(f"first {k} of {n} elements", prices)


def _by_places(
    scope: NestScope, line: Index, sorter: PartialSorter | RepeatedSearch, largest: bool
) -> None:
    builder, operand = scope.builder, scope.operands[0]
    values, indices = scope.results

    def key(i: Expr) -> Expr:
        return ordered(builder, builder.load(operand, (*line, i)), descending=largest)

    def write(i: Expr, place: Expr) -> None:
        builder.store(values, (*line, i), builder.load(operand, (*line, place)))
        builder.store(indices, (*line, i), apply("convert", place, type=indices.type))

    sorter.sort(key, write)


def _by_sort(scope: NestScope, outer: Sequence[int], n: int, k: int, largest: bool) -> None:
    builder, operand = scope.builder, scope.operands[0]
    values, indices = scope.results
    types = operand.type, indices.type
    order = _order(builder, operand.type, largest)

    def read(line: Index, i: Expr) -> Sequence[Expr]:
        number = apply("convert", i, type=indices.type)
        return builder.load(operand, (*line, i)), number

    def write(line: Index, i: Expr, found: Sequence[Expr]) -> None:
        builder.store(values, (*line, i), found[0])
        builder.store(indices, (*line, i), found[1])

    with lines_to_sort(scope, outer, n, types, order) as line:
        sorter = line_sorter(scope, n, types, order, outer)
        sorter.sort(partial(read, line), partial(write, line), k)


def _order(builder: Builder, element_type: ElementType, largest: bool) -> Order:
    operator = comparison(element_type, largest)
    return Order(
        lambda a, b: apply(operator, a[0], b[0], type=ElementType.PRED),
        ordered_bits(element_type),
        lambda values: ordered(builder, values[0], descending=largest),
    )


def comparison(element_type: ElementType, largest: bool) -> str:
    """The operator that says whether its first argument comes before the second."""
    order = "total-" if element_type.is_float else ""
    return f"compare-{order}{'gt' if largest else 'lt'}"


register(OpDef("topk", TopK, infer=infer, evaluate=evaluate, nest=nest))
