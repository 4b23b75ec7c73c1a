"""scatter: windows of updates combined into copies of the operands at places given by indices.

Index vectors are taken in row-major order, so that duplicates accumulate in that order. A window
that is out of bounds in any part is dropped whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import Attributes, AttrKind, attr
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import apply, vector_kind
from ccodegen.loop.builder import index as constant
from ccodegen.loop.ir import INDEX, Buffer, Expr, Index
from ccodegen.loop.scalar_numpy import Array
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import call_lifted, call_scalars, from_tuple
from ccodegen.ops.gather import index_at, index_batch_dims, vector_size
from ccodegen.ops.index import all_of, exact, plus, within
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.shape_checks import (
    arrays,
    check_scalars,
    dimension_numbers,
    one_or_tuple,
    require,
)
from ccodegen.support.immutable import frozen


@frozen
class Scatter(Attributes):
    """XLA's ScatterDimensionNumbers."""

    to_apply: Computation = attr(AttrKind.COMPUTATION)
    update_window_dims: tuple[int, ...] = attr(AttrKind.INTS)
    inserted_window_dims: tuple[int, ...] = attr(AttrKind.INTS)
    scatter_dims_to_operand_dims: tuple[int, ...] = attr(AttrKind.INTS)
    index_vector_dim: int = attr(AttrKind.INT)
    input_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    scatter_indices_batching_dims: tuple[int, ...] = attr(AttrKind.INTS, ())
    indices_are_sorted: bool = attr(AttrKind.BOOL, False)
    unique_indices: bool = attr(AttrKind.BOOL, False)

    def window_operand_dims(self, rank: int) -> tuple[int, ...]:
        """The operand dimensions that `update_window_dims` run over, in order."""
        gone = (*self.inserted_window_dims, *self.input_batching_dims)
        return tuple(d for d in range(rank) if d not in gone)

    def batch_dims(self, rank: int) -> tuple[int, ...]:
        """The update dimensions that run over index vectors."""
        return tuple(d for d in range(rank) if d not in self.update_window_dims)

    def window_sizes(self, rank: int, update: Sequence[int]) -> tuple[int, ...]:
        """A window's size in each operand dimension; 1 where updates have none for it."""
        sizes = [1] * rank
        places = zip(self.window_operand_dims(rank), self.update_window_dims, strict=True)
        for d, u in places:
            sizes[d] = update[u]
        return tuple(sizes)


def infer(shapes: tuple[Shape, ...], attributes: Scatter) -> Shape:
    require(len(shapes) % 2 == 1, "scatter takes operands, indices, and as many updates")
    found = arrays("scatter", shapes)
    count = len(found) // 2
    operands, indices, updates = found[:count], found[count], found[count + 1 :]
    _check(operands[0], indices, updates[0], attributes)
    for operand, update in zip(operands, updates, strict=True):
        same = (operand.dimensions, update.dimensions)
        require(
            same == (operands[0].dimensions, updates[0].dimensions),
            "scatter takes operands of the same dimensions, and updates of the same dimensions",
        )
    types = [o.element_type for o in operands]
    check_scalars("scatter", attributes.to_apply, [*types, *types])
    return one_or_tuple(operands)


def _check(
    operand: ArrayShape, indices: ArrayShape, update: ArrayShape, attributes: Scatter
) -> None:
    require(indices.element_type.is_integer, f"scatter takes integer indices, not {indices}")
    require(
        0 <= attributes.index_vector_dim <= indices.rank,
        f"scatter: index_vector_dim={attributes.index_vector_dim} is not in {indices}",
    )
    gone = (*attributes.inserted_window_dims, *attributes.input_batching_dims)
    dimension_numbers("scatter", gone, operand.rank)
    dimension_numbers("scatter", attributes.scatter_dims_to_operand_dims, operand.rank)
    dimension_numbers("scatter: update_window_dims", attributes.update_window_dims, update.rank)
    windows = attributes.window_operand_dims(operand.rank)
    require(
        len(windows) == len(attributes.update_window_dims),
        f"scatter: {len(attributes.update_window_dims)} update_window_dims for {len(windows)} "
        f"dimensions of a window in {operand}",
    )
    count = vector_size(indices, attributes.index_vector_dim)
    require(
        len(attributes.scatter_dims_to_operand_dims) == count,
        f"scatter: an index vector of {indices} has {count} elements, not "
        f"{len(attributes.scatter_dims_to_operand_dims)}",
    )
    batch = index_batch_dims(indices.rank, attributes.index_vector_dim)
    expected = [indices.dimensions[d] for d in batch]
    sizes = [update.dimensions[d] for d in attributes.batch_dims(update.rank)]
    require(
        sizes == expected or -1 in (*sizes, *expected),
        f"scatter: the updates {update} have {sizes} windows, the indices {indices} name "
        f"{expected}",
    )


def evaluate(evaluator: Any, instruction: Instruction, *values: Array) -> Any:
    attributes = attributes_of(instruction, Scatter)
    count = len(values) // 2
    results = [v.copy() for v in values[:count]]
    indices, updates = exact(values[count]), values[count + 1 :]
    rank = results[0].ndim
    batch_dims = attributes.batch_dims(updates[0].ndim)
    sizes = attributes.window_sizes(rank, updates[0].shape)
    for batch in np.ndindex(*(updates[0].shape[d] for d in batch_dims)):
        starts = _starts(attributes, indices, batch, rank)
        window = _window(results[0].shape, starts, sizes)
        if window is not None:
            at = dict(zip(batch_dims, batch, strict=True))
            taken = [
                u[tuple(at.get(d, slice(None)) for d in range(u.ndim))].reshape(sizes)
                for u in updates
            ]
            old = [r[window].copy() for r in results]
            new = call_lifted(evaluator, attributes.to_apply, (*old, *taken))
            for result, value in zip(results, new, strict=True):
                result[window] = value
    return from_tuple(tuple(results))


def _starts(
    attributes: Scatter, indices: Array, batch: tuple[int, ...], rank: int
) -> list[int]:
    """The window's first place in each operand dimension."""
    starts = [0] * rank
    for number, d in enumerate(attributes.scatter_dims_to_operand_dims):
        starts[d] = int(indices[index_at(batch, attributes.index_vector_dim, number, indices.ndim)])
    dims = index_batch_dims(indices.ndim, attributes.index_vector_dim)
    for d, other in zip(
        attributes.input_batching_dims, attributes.scatter_indices_batching_dims, strict=True
    ):
        starts[d] = batch[dims.index(other)]
    return starts


def _window(
    whole: Sequence[int], starts: Sequence[int], sizes: Sequence[int]
) -> tuple[slice, ...] | None:
    """None where any part of it is out of bounds."""
    bounds = list(zip(starts, sizes, whole, strict=True))
    if any(start < 0 or start + size > n for start, size, n in bounds):
        return None
    return tuple(slice(start, start + size) for start, size, _ in bounds)


def nest(scope: NestScope, instruction: Instruction) -> None:
    count = len(scope.results)
    builder = scope.builder
    for operand, result in zip(scope.operands[:count], scope.results, strict=True):
        if operand is not result:
            with builder.loops(operand.dimensions, "c") as at:
                builder.store(result, at, builder.load(operand, at))
    attributes = attributes_of(instruction, Scatter)
    update = scope.operands[count + 1].dimensions
    with builder.loops([update[d] for d in attributes.batch_dims(len(update))], "u") as batch:
        places, conditions = _places(scope, attributes, batch)
        condition = all_of(conditions)
        if condition is None:
            _combine(scope, attributes, batch, places)
        else:
            with builder.when(condition):
                _combine(scope, attributes, batch, places)


def _places(
    scope: NestScope, attributes: Scatter, batch: Index
) -> tuple[list[Expr], list[Expr]]:
    """The window's first place in each operand dimension, and when the whole of it fits.

    A place is made from an index only where the conditions hold.
    """
    count = len(scope.results)
    indices, whole = scope.operands[count], scope.results[0].dimensions
    sizes = attributes.window_sizes(len(whole), scope.operands[count + 1].dimensions)
    places: list[Expr] = [constant(0)] * len(whole)
    conditions: list[Expr] = []
    rank = len(indices.dimensions)
    for number, d in enumerate(attributes.scatter_dims_to_operand_dims):
        at = index_at(batch, attributes.index_vector_dim, constant(number), rank)
        start = scope.builder.let(scope.builder.load(indices, at), "start")
        conditions += within(start, whole[d] - sizes[d])
        places[d] = apply("convert", start, type=INDEX)
    dims = index_batch_dims(rank, attributes.index_vector_dim)
    for d, other in zip(
        attributes.input_batching_dims, attributes.scatter_indices_batching_dims, strict=True
    ):
        places[d] = batch[dims.index(other)]
    return places, conditions


def _combine(
    scope: NestScope, attributes: Scatter, batch: Index, places: Sequence[Expr]
) -> None:
    """The loops over one window."""
    builder, count = scope.builder, len(scope.results)
    updates = scope.operands[count + 1 :]
    rank, window_dims = len(updates[0].dimensions), attributes.update_window_dims
    extents = [updates[0].dimensions[d] for d in window_dims]
    batch_at = dict(zip(attributes.batch_dims(rank), batch, strict=True))
    with builder.loops(extents, "w", vector_kind(math.prod(extents))) as window:
        inside = dict(zip(window_dims, window, strict=True))
        source = tuple({**batch_at, **inside}[d] for d in range(rank))
        target = list(places)
        for d, i in zip(attributes.window_operand_dims(len(places)), window, strict=True):
            target[d] = plus(i, places[d])
        _update(scope, attributes.to_apply, updates, tuple(target), source)


def _update(
    scope: NestScope,
    to_apply: Computation,
    updates: Sequence[Buffer],
    target: Index,
    source: Index,
) -> None:
    builder = scope.builder
    arguments = [builder.load(r, target) for r in scope.results]
    arguments += [builder.load(u, source) for u in updates]
    values = [builder.let(v, "new") for v in call_scalars(scope, to_apply, arguments)]
    for result, value in zip(scope.results, values, strict=True):
        builder.store(result, target, value)


register(OpDef("scatter", Scatter, (3, None), infer=infer, evaluate=evaluate, nest=nest))
