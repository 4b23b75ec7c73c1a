"""select-and-scatter: adds each source element to the one its window selects (max-pool's grad).

Windows are walked in row-major order, padding is skipped. `select(chosen, element)` false makes
the element the chosen one; so with GE the first of equal elements wins. Sources are scattered in
row-major order: result = scatter(result, source).
"""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, Window, WindowDimension, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import Shape
from ccodegen.loop.builder import apply, const, in_blocks, index
from ccodegen.loop.ir import Buffer, Expr, Index, LoopKind
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array, call_lifted, call_scalars
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.select_lanes import Lanes
from ccodegen.ops.shape_checks import arrays, check_scalars, require, window_dimensions
from ccodegen.ops.window import dilated_and_padded, input_index, strided
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import frozen

_MOST_LANES = 64


@frozen
class SelectAndScatter(Attributes):
    select: Computation = attr(AttrKind.COMPUTATION)
    scatter: Computation = attr(AttrKind.COMPUTATION)
    window: Window = attr(AttrKind.WINDOW, Window())


def infer(shapes: tuple[Shape, ...], attributes: SelectAndScatter) -> Shape:
    operand, source, init = arrays("select-and-scatter", shapes)
    sizes = window_dimensions("select-and-scatter", attributes.window, operand.dimensions)
    require(init.rank == 0, f"select-and-scatter: the init value is a scalar, not {init}")
    require(
        source.dimensions == sizes,
        f"select-and-scatter: the window has {list(sizes)} positions over {operand}, the source is"
        f" {source}",
    )
    both = (operand.element_type, operand.element_type)
    check_scalars("select-and-scatter", attributes.select, both)
    check_scalars("select-and-scatter", attributes.scatter, both)
    return operand


def evaluate(
    evaluator: Any, instruction: Instruction, operand: Array, source: Array, init: Array
) -> Array:
    attributes = attributes_of(instruction, SelectAndScatter)
    targets, found = _selected(evaluator, attributes, operand, source.shape)
    result = np.full(operand.size, init, operand.dtype)
    sources, targets = source.reshape(-1)[found], targets[found]
    for turn in _turns(targets):
        at = targets[turn]
        arguments = (result[at], sources[turn])
        result[at] = call_lifted(evaluator, attributes.scatter, arguments)[0]
    return result.reshape(operand.shape)


def _selected(
    evaluator: Any,
    attributes: SelectAndScatter,
    operand: Array,
    positions: tuple[int, ...],
) -> tuple[Array, Array]:
    """For each window, flat: the flat index of the selected element, and whether there is one."""
    dimensions = attributes.window.dimensions
    numbers = np.arange(operand.size).reshape(operand.shape)
    places = dilated_and_padded(numbers, dimensions, np.asarray(-1))
    flat = operand.reshape(-1)
    chosen = np.full(int(np.prod(positions)), -1)
    for at in np.ndindex(*(w.size for w in dimensions)):
        place = strided(places, dimensions, at, positions).reshape(-1)
        candidates = np.flatnonzero(place >= 0)
        old, new = chosen[candidates], place[candidates]
        arguments = (flat[old], flat[new])
        keep = call_lifted(evaluator, attributes.select, arguments)[0] & (old >= 0)
        chosen[candidates] = np.where(keep, old, new)
    return chosen, chosen >= 0


def _turns(targets: Array) -> list[Array]:
    """Positions in `targets`, split so that no turn has a target twice and their order is kept."""
    order = np.argsort(targets, kind="stable")
    ordered = targets[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else order
    counts = np.diff(np.r_[starts, len(ordered)])
    rank = np.arange(len(ordered)) - np.repeat(starts, counts)
    return [order[rank == r] for r in range(int(rank.max(initial=-1)) + 1)]


def nest(scope: NestScope, instruction: Instruction) -> None:
    attributes, b = attributes_of(instruction, SelectAndScatter), scope.builder
    _, source, init = scope.operands
    (result,) = scope.results
    with b.loops(result.dimensions, "i", LoopKind.PARALLEL) as at:
        b.store(result, at, b.load(init))
    window = attributes.window.dimensions
    outer = len(tuple(takewhile(_is_single, window)))
    in_lanes = scope.target.machine.has_vectors and outer < len(window) and _is_single(window[-1])
    sizes = source.dimensions[:-1] if in_lanes else source.dimensions
    with (
        b.loops(sizes[:outer], "s", LoopKind.APART) as first,
        b.loops(sizes[outer:], "s") as rest,
    ):
        position = (*first, *rest)
        if in_lanes:
            emit, width = partial(_emit_lanes, scope, attributes, position), source.dimensions[-1]
            in_blocks(b, width, min(_MOST_LANES, max(width, 1)), "b", emit)
        else:
            _emit_one(scope, attributes, position)


def _is_single(dimension: WindowDimension) -> bool:
    """Whether windows along the dimension are its elements."""
    return dimension == WindowDimension()


def _emit_lanes(
    scope: NestScope, attributes: SelectAndScatter, position: Index, first: Expr, count: int
) -> None:
    lanes = Lanes(scope, attributes.window.dimensions, position, first, count)
    lanes.scatter(attributes.scatter, lanes.select(attributes.select))


def _emit_one(scope: NestScope, attributes: SelectAndScatter, position: Index) -> None:
    b, source, (result,) = scope.builder, scope.operands[1], scope.results
    found, chosen = _emit_selection(scope, attributes, position)
    with b.when(b.load(found)):
        target = tuple(b.load(c) for c in chosen)
        arguments = (b.load(result, target), b.load(source, position))
        (value,) = call_scalars(scope, attributes.scatter, arguments)
        b.store(result, target, value)


def _emit_selection(
    scope: NestScope, attributes: SelectAndScatter, position: Index
) -> tuple[Buffer, list[Buffer]]:
    """Variables: whether the window has an element, and the index of the selected one."""
    b, pred = scope.builder, ElementType.PRED
    operand, source, _ = scope.operands
    dimensions = attributes.window.dimensions
    found = b.variable(const(pred, False), "found")
    chosen = [b.variable(index(0), "at") for _ in operand.dimensions]
    with b.loops([w.size for w in dimensions], "w") as offsets:
        condition, at = input_index(
            dimensions, operand.dimensions, source.dimensions, position, offsets
        )
        with b.when(const(pred, True) if condition is None else condition):
            better = _emit_comparison(scope, attributes.select, found, chosen, at)
            with b.when(better):
                b.store(found, (), const(pred, True))
                for variable, value in zip(chosen, at, strict=True):
                    b.store(variable, (), value)
    return found, chosen


def _emit_comparison(
    scope: NestScope, select: Computation, found: Buffer, chosen: list[Buffer], at: Index
) -> Expr:
    """Whether the element at `at` takes the place of the chosen one."""
    b, pred = scope.builder, ElementType.PRED
    operand = scope.operands[0]
    better = b.variable(const(pred, True), "better")
    with b.when(b.load(found)):
        old = b.load(operand, tuple(b.load(c) for c in chosen))
        (keep,) = call_scalars(scope, select, (old, b.load(operand, at)))
        b.store(better, (), apply("not", keep))
    return b.load(better)


register(
    OpDef(
        "select-and-scatter",
        SelectAndScatter,
        arity=(3, 3),
        infer=infer,
        evaluate=evaluate,
        nest=nest,
    )
)
