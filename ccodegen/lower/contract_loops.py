"""Contractions without packing: for few rows, small sizes, and targets without vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.lower.product import Product
from ccodegen.lower.reduction import fold_into, join_lanes
from ccodegen.lower.strides import stride_along

_VECTORS_PER_BLOCK = 8
_VECTORS_PER_WIDE_BLOCK = 64
_TURNS_TOGETHER = 4
_VECTORS_OF_LANES = 4
_SHORT_DEPTH = 16


def contract_in_columns(product: Product) -> None:
    """For each row and block of columns: an accumulator a column, the depth outside.

    The columns of the right matrix and of the result lie side by side in memory.
    """
    work, shape = product.work, product.shape
    *outer, columns = shape.columns
    with (
        work.builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        work.builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        work.builder.loops(outer, "col", LoopKind.PARALLEL) as before,
    ):
        lanes = _Lanes(product, lambda at: (batch, row, (*before, at)), left_is_one=True)
        _in_blocks(lanes, columns, _block_width(product))


def contract_in_batch(product: Product) -> None:
    """For each row, column and block of the last batch dimension, along which both operands and
    the result lie in memory: an accumulator an element, the depth outside."""
    work, shape = product.work, product.shape
    *outer, count = shape.batch
    with (
        work.builder.loops(outer, "b", LoopKind.PARALLEL) as before,
        work.builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        work.builder.loops(shape.columns, "col", LoopKind.PARALLEL) as column,
    ):
        lanes = _Lanes(product, lambda at: ((*before, at), row, column), left_is_one=False)
        _in_blocks(lanes, count, _VECTORS_PER_BLOCK * _vector_elements(product))


def _block_width(product: Product) -> int:
    """Sums that stay in registers; for so few rows that the right matrix is read but once or
    twice, as long a piece of each of its lines as the sums in the nearest cache allow."""
    m, n, k = product.shape.sizes
    streams = m <= 2 and n * k >= 1 << 14 and _vector_elements(product) > 1
    vectors = _VECTORS_PER_WIDE_BLOCK if streams else _VECTORS_PER_BLOCK
    return vectors * _vector_elements(product)


@dataclass(frozen=True)
class _Lanes:
    """Sums side by side. `where(at)`: batch, row and column of the sum at that position.
    `left_is_one`: all have the same element of the left matrix."""

    product: Product
    where: Callable[[Expr], tuple[Index, Index, Index]]
    left_is_one: bool


def _in_blocks(lanes: _Lanes, count: int, most: int) -> None:
    builder = lanes.product.work.builder
    width = count if _is_short(lanes) else min(count, most)
    with builder.loop(count // width, "block", LoopKind.PARALLEL) as number:
        _block(lanes, apply("multiply", number, index(width)), width)
    if count % width:
        _block(lanes, index(count - count % width), count % width)


def _block(lanes: _Lanes, start: Expr, width: int) -> None:
    """The sums at `start` and after, added up together."""
    product, builder = lanes.product, lanes.product.work.builder
    if _is_short(lanes):
        with builder.loop(width, "j", LoopKind.VECTOR) as j:
            batch, row, column = lanes.where(apply("add", start, j))
            total: Expr = product.zero
            for depth in itertools.product(*(map(index, range(n)) for n in product.shape.depth)):
                scale, other = product.lhs(batch, row, depth), product.rhs(batch, depth, column)
                total = apply("add", total, apply("multiply", scale, other))
            product.finish(batch, row, column, total)
        return
    sums = builder.local(product.type, (width,), "sums")
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        builder.store(sums, (j,), product.zero)
    *outer, extent = product.shape.depth or (1,)
    together = _TURNS_TOGETHER if extent >= _TURNS_TOGETHER else 1

    def left(depth: Index, at: Expr) -> Expr:
        batch, row, _ = lanes.where(at)
        return product.lhs(batch, row, depth)

    def add(turns: Index, first: Expr, count: int) -> None:
        """Adds `count` turns of the depth to each sum, in order, with one store."""
        last = [builder.simplify((apply("add", first, index(n)),))[0] for n in range(count)]
        depths = [(*turns, k) if product.shape.depth else () for k in last]
        named = [builder.let(left(d, start), "left") for d in depths] if lanes.left_is_one else []
        with builder.loop(width, "j", LoopKind.VECTOR) as j:
            at = apply("add", start, j)
            batch, _, column = lanes.where(at)
            scales = named or [left(depth, at) for depth in depths]
            total: Expr = Load(sums, (j,))
            for scale, depth in zip(scales, depths, strict=True):
                term = apply("multiply", scale, product.rhs(batch, depth, column))
                total = apply("add", total, term)
            builder.store(sums, (j,), total)

    with builder.loops(outer, "k") as turns:
        with builder.loop(extent // together, "k") as k:
            add(turns, apply("multiply", k, index(together)), together)
        for rest in range(extent - extent % together, extent):
            add(turns, index(rest), 1)
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        product.finish(*lanes.where(apply("add", start, j)), Load(sums, (j,)))


def _is_short(lanes: _Lanes) -> bool:
    """Whether a sum is one expression: of few products, each of two elements in memory."""
    return not lanes.left_is_one and math.prod(lanes.product.shape.depth) <= _SHORT_DEPTH


def contract_in_lanes(product: Product) -> None:
    """For each row and column: several accumulators along the depth, which lies side by side in
    memory in both matrices. Not for strict mode, as it changes the order of the sum."""
    work, shape = product.work, product.shape
    builder = work.builder
    lanes = _vector_elements(product) * _VECTORS_OF_LANES
    *outer, extent = shape.depth
    while lanes > 1 and lanes * 2 > extent:
        lanes //= 2
    with (
        builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        builder.loops(shape.columns, "col", LoopKind.PARALLEL) as column,
    ):
        sums = builder.local(product.type, (lanes,), "sums")
        with builder.loop(lanes, "l", LoopKind.VECTOR) as lane:
            builder.store(sums, (lane,), product.zero)
        with builder.loops(outer, "k") as before:
            with builder.loop(extent // lanes, "k") as block:
                base = apply("multiply", block, index(lanes))
                _add_lanes(product, (batch, row, column, before), (base, lanes), sums)
            if extent % lanes:
                rest = index(extent - extent % lanes), extent % lanes
                _add_lanes(product, (batch, row, column, before), rest, sums)
        total = builder.let(join_lanes(builder, sums, "add"), "sum")
        product.finish(batch, row, column, total)


def _add_lanes(
    product: Product,
    place: tuple[Index, Index, Index, Index],
    span: tuple[Expr, int],
    sums: Buffer,
) -> None:
    batch, row, column, before = place
    base, count = span
    with product.work.builder.loop(count, "l", LoopKind.VECTOR) as lane:
        depth = (*before, apply("add", base, lane))
        left = product.lhs(batch, row, depth)
        right = product.rhs(batch, depth, column)
        fold_into(product.work.builder, sums, (lane,), "add", apply("multiply", left, right))


def contract_plainly(product: Product) -> None:
    """For each row and column one sum, in order."""
    work, shape = product.work, product.shape
    builder = work.builder
    with (
        builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        builder.loops(shape.columns, "col", LoopKind.PARALLEL) as column,
    ):
        total = builder.variable(product.zero, "sum")
        with builder.loops(shape.depth, "k") as depth:
            left = product.lhs(batch, row, depth)
            right = product.rhs(batch, depth, column)
            fold_into(builder, total, (), "add", apply("multiply", left, right))
        product.finish(batch, row, column, Load(total))


def depth_is_contiguous(product: Product) -> bool:
    """Whether both matrices lie along the depth in memory."""
    shape, builder = product.shape, product.work.builder
    if not shape.depth:
        return False
    with builder.block(), builder.loops(shape.depth, "k") as depth:
        zeros = [tuple(index(0) for _ in axes) for axes in (shape.batch, shape.rows, shape.columns)]
        left = product.lhs(zeros[0], zeros[1], depth)
        right = product.rhs(zeros[0], depth, zeros[2])
        return stride_along(left, depth[-1]) == 1 == stride_along(right, depth[-1])


def columns_are_contiguous(product: Product) -> bool:
    """Whether the right matrix lies along its columns in memory, or does not depend on them."""
    shape, builder = product.shape, product.work.builder
    if not shape.columns:
        return False
    with builder.block(), builder.loops(shape.columns, "col") as column:
        zeros = [tuple(index(0) for _ in axes) for axes in (shape.batch, shape.depth)]
        right = product.rhs(zeros[0], zeros[1], column)
        return stride_along(right, column[-1]) in (0, 1)


def batch_is_contiguous(product: Product) -> bool:
    """Whether both operands and the result lie along the last batch dimension in memory."""
    shape, builder = product.shape, product.work.builder
    if not shape.batch:
        return False
    with builder.block(), builder.loops(shape.batch, "b") as batch:
        axes = (shape.rows, shape.columns, shape.depth)
        rows, columns, depth = (tuple(index(0) for _ in extents) for extents in axes)
        left = product.lhs(batch, rows, depth)
        right = product.rhs(batch, depth, columns)
        output = shape.output_index(batch, rows, columns)
        (place,) = builder.simplify((linearize(output, product.hero.array_shape.dimensions),))
        along = affine(place).terms.get(batch[-1], 0)
        return stride_along(left, batch[-1]) == 1 == stride_along(right, batch[-1]) == along


def _vector_elements(product: Product) -> int:
    return product.work.job.target.machine.vector_elements(product.type.bytes)
