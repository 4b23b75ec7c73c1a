"""reduce-window: folds the elements under a sliding window with a computation.

Padding and the holes of base dilation hold the init value, as the specification says. The window's
elements are taken in row-major order (`rhs_reversal` means nothing here, as in XLA).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, Window, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Buffer, Expr, Index, LoopKind
from ccodegen.ops import fold, running_fold, window
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.lowering import ElementScope, NestScope, Scope
from ccodegen.ops.running_loops import running_loops
from ccodegen.ops.shape_checks import inputs_and_inits, window_dimensions
from ccodegen.support.immutable import frozen


@frozen
class ReduceWindow(Attributes):
    to_apply: Computation = attr(AttrKind.COMPUTATION)
    window: Window = attr(AttrKind.WINDOW, Window())


def infer(shapes: tuple[Shape, ...], attributes: ReduceWindow) -> Shape:
    inputs = inputs_and_inits("reduce-window", shapes, attributes.to_apply)
    sizes = window_dimensions("reduce-window", attributes.window, inputs[0].dimensions)
    dynamic = inputs[0].dynamic
    positions = ArrayShape(inputs[0].element_type, sizes, dynamic)
    return fold.accumulated(positions, attributes.to_apply)


def evaluate(evaluator: Any, instruction: Instruction, *values: fold.Array) -> Any:
    attributes = attributes_of(instruction, ReduceWindow)
    count = len(values) // 2
    inputs, initial = values[:count], values[count:]
    running = running_fold.find(attributes.window, attributes.to_apply, inputs[0].shape)
    if running and running.exact and running_fold.is_neutral(
        evaluator, attributes.to_apply, initial
    ):
        results = running_fold.evaluate(evaluator, attributes.to_apply, running, inputs, initial)
    else:
        results = _evaluate_windows(evaluator, attributes, inputs, initial)
    return fold.from_leaves(instruction.shape, results)


def _evaluate_windows(
    evaluator: Any, attributes: ReduceWindow, inputs: fold.Arrays, initial: fold.Arrays
) -> fold.Arrays:
    """All windows at once: folds over the offsets in a window."""
    dimensions = attributes.window.dimensions
    sizes = [w.output_size(n) for w, n in zip(dimensions, inputs[0].shape, strict=True)]
    padded = [
        window.dilated_and_padded(x, dimensions, init)
        for x, init in zip(inputs, initial, strict=True)
    ]
    elements = (
        tuple(window.strided(p, dimensions, at, sizes) for p in padded)
        for at in np.ndindex(*(w.size for w in dimensions))
    )
    starts = [np.broadcast_to(init, sizes) for init in initial]
    return fold.fold(evaluator, attributes.to_apply, starts, elements)


def element(scope: ElementScope, instruction: Instruction, index: Index) -> tuple[Expr, ...]:
    count = len(instruction.operands) // 2
    initial = [scope.builder.let(scope.operand(count + n, ()), "init") for n in range(count)]

    def at_window(offsets: Index) -> list[Expr]:
        condition, at = _input_index(instruction, index, offsets)
        if condition is None:
            return [scope.operand(n, at) for n in range(count)]
        return [_guarded(scope, condition, n, at, init) for n, init in enumerate(initial)]

    return _window_fold(scope, instruction, initial, at_window)


def _guarded(scope: ElementScope, condition: Expr, number: int, at: Index, init: Expr) -> Expr:
    return scope.guarded(condition, lambda: scope.operand(number, at), lambda: init)


def _window_fold(
    scope: Scope,
    instruction: Instruction,
    initial: Sequence[Expr],
    elements: Callable[[Index], Sequence[Expr]],
) -> tuple[Expr, ...]:
    """The accumulators after folding elements(offsets) for the window's offsets in order."""
    attributes = attributes_of(instruction, ReduceWindow)
    accumulators = fold.Accumulators(scope, attributes.to_apply, initial)
    sizes = [w.size for w in attributes.window.dimensions]
    with scope.builder.loops(sizes, "w") as offsets:
        accumulators.add(elements(offsets))
    return accumulators.values


def _input_index(
    instruction: Instruction, positions: Index, offsets: Index
) -> tuple[Expr | None, Index]:
    dimensions = attributes_of(instruction, ReduceWindow).window.dimensions
    sizes = instruction.operands[0].array_shape.dimensions
    counts = [w.output_size(n) for w, n in zip(dimensions, sizes, strict=True)]
    return window.input_index(dimensions, sizes, counts, positions, offsets)


def prefers_nest(instruction: Instruction) -> bool:
    """Whether one running fold along an axis gives all outputs."""
    return _running(instruction) is not None


def nest(scope: NestScope, instruction: Instruction) -> None:
    """Running folds, save where strict mode asks for another order."""
    running = _running(instruction)
    assert running is not None
    if scope.strict and not running.exact:
        _nest_of_windows(scope, instruction)
        return
    computation = attributes_of(instruction, ReduceWindow).to_apply
    running_loops(scope, computation, running, *_inputs_and_initial(scope))


def _nest_of_windows(scope: NestScope, instruction: Instruction) -> None:
    """The windows one by one, as strict mode needs where the order matters."""
    inputs, initial = _inputs_and_initial(scope)
    builder = scope.builder
    with builder.loops(scope.results[0].dimensions, "i", LoopKind.PARALLEL) as position:

        def elements(offsets: Index) -> list[Expr]:
            condition, at = _input_index(instruction, position, offsets)
            loads = [builder.load(x, at) for x in inputs]
            if condition is None:
                return list(loads)
            return [
                apply("select", condition, load, init)
                for load, init in zip(loads, initial, strict=True)
            ]

        _store(scope, position, _window_fold(scope, instruction, initial, elements))


def _inputs_and_initial(scope: NestScope) -> tuple[Sequence[Buffer], list[Expr]]:
    count = len(scope.operands) // 2
    initial = [scope.builder.load(b) for b in scope.operands[count:]]
    return scope.operands[:count], [scope.builder.let(i, "init") for i in initial]


def _store(scope: NestScope, at: Index, values: Sequence[Expr]) -> None:
    for result, value in zip(scope.results, values, strict=True):
        scope.builder.store(result, at, value)


def _running(instruction: Instruction) -> running_fold.RunningFold | None:
    attributes = attributes_of(instruction, ReduceWindow)
    return running_fold.with_constant_init(
        attributes.window, attributes.to_apply, instruction.operands
    )


register(
    OpDef(
        "reduce-window",
        ReduceWindow,
        arity=(2, None),
        infer=infer,
        takes=fold.takes,
        evaluate=evaluate,
        element=element,
        nest=nest,
        prefers_nest=prefers_nest,
    )
)
