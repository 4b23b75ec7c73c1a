"""topk: the k largest or smallest elements of the last dimension, and their s32 indices.

Floats are compared in their total order (-NaN < -inf … -0 < +0 … inf < NaN); of equal elements the
one of the lowest index comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape, TupleShape
from ccodegen.loop import operators
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Expr
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array, Arrays
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.merge_sort import MergeSorter, sorting_permutation
from ccodegen.ops.shape_checks import arrays, require
from ccodegen.support.element_type import ElementType


@dataclass(frozen=True)
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
    builder, operand = scope.builder, scope.operands[0]
    *outer, n = operand.dimensions
    values, indices = scope.results
    sorter = MergeSorter(
        scope, n, (operand.type, indices.type), _before(comparison(operand.type, largest))
    )
    with builder.loops(outer, "line") as line:

        def read(i: Expr) -> Sequence[Expr]:
            number = apply("convert", i, type=indices.type)
            return builder.load(operand, (*line, i)), number

        def write(i: Expr, found: Sequence[Expr]) -> None:
            builder.store(values, (*line, i), found[0])
            builder.store(indices, (*line, i), found[1])

        sorter.sort(read, write, k)


def _before(operator: str) -> Callable[[Sequence[Expr], Sequence[Expr]], Expr]:
    return lambda a, b: apply(operator, a[0], b[0], type=ElementType.PRED)


def comparison(element_type: ElementType, largest: bool) -> str:
    """The operator that says whether its first argument comes before the second."""
    order = "total-" if element_type.is_float else ""
    return f"compare-{order}{'gt' if largest else 'lt'}"


register(OpDef("topk", TopK, infer=infer, evaluate=evaluate, nest=nest))
