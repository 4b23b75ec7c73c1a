"""reduce: folds dimensions of one or several operands with a computation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops import fold
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.lowering import ElementScope
from ccodegen.ops.shape_checks import dimension_numbers, inputs_and_inits, without
from ccodegen.support.immutable import frozen


@frozen
class Reduce(Attributes):
    dimensions: tuple[int, ...] = attr(AttrKind.INTS)
    to_apply: Computation = attr(AttrKind.COMPUTATION)


def infer(shapes: tuple[Shape, ...], attributes: Reduce) -> Shape:
    inputs = inputs_and_inits("reduce", shapes, attributes.to_apply)
    dimension_numbers("reduce", attributes.dimensions, inputs[0].rank)
    kept = without(inputs[0], attributes.dimensions)
    return fold.accumulated(kept, attributes.to_apply)


def evaluate(evaluator: Any, instruction: Instruction, *values: fold.Array) -> Any:
    """Left to right in row-major order of the reduced dimensions, from the init value."""
    attributes = attributes_of(instruction, Reduce)
    count = len(values) // 2
    rows = tuple(_reduced_first(v, attributes.dimensions) for v in values[:count])
    initial = [np.broadcast_to(v, rows[0].shape[1:]) for v in values[count:]]
    results = fold.fold_axis(evaluator, attributes.to_apply, initial, rows)
    return fold.from_leaves(instruction.shape, results)


def _reduced_first(array: fold.Array, dimensions: tuple[int, ...]) -> fold.Array:
    """The array with its reduced dimensions, in row-major order, as the one first axis."""
    reduced = sorted(dimensions)
    kept = [d for d in range(array.ndim) if d not in reduced]
    moved = array.transpose(*reduced, *kept)
    return moved.reshape(int(np.prod(moved.shape[: len(reduced)])), *moved.shape[len(reduced) :])


def element(scope: ElementScope, instruction: Instruction, index: Index) -> tuple[Expr, ...]:
    attributes = attributes_of(instruction, Reduce)
    count = len(instruction.operands) // 2
    sizes = instruction.operands[0].array_shape.dimensions
    initial = [scope.operand(count + n, ()) for n in range(count)]
    accumulators = fold.Accumulators(scope, attributes.to_apply, initial)
    reduced = sorted(attributes.dimensions)
    with scope.builder.loops([sizes[d] for d in reduced], "r") as turns:
        at = _merged(index, dict(zip(reduced, turns, strict=True)), len(sizes))
        accumulators.add([scope.operand(n, at) for n in range(count)])
    return accumulators.values


def _merged(kept: Index, reduced: dict[int, Expr], rank: int) -> Index:
    """The operand's index out of the output's and the reduced dimensions' loop variables."""
    rest = iter(kept)
    return tuple(reduced[d] if d in reduced else next(rest) for d in range(rank))


register(
    OpDef(
        "reduce",
        Reduce,
        arity=(2, None),
        infer=infer,
        takes=fold.takes,
        evaluate=evaluate,
        element=element,
    )
)
