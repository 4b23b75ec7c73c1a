"""Contractions without packing: for few rows, small sizes, and targets without vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import apply, in_blocks, index
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.lower.lanes import fold_into
from ccodegen.lower.product import Product
from ccodegen.lower.strides import stride_along
from ccodegen.support.immutable import immutable

Place: TypeAlias = tuple[Index, Index, Index]
"""Batch, row and column of a sum."""

_VECTORS_PER_BLOCK = 8
# Fewer than fill a page: sums of several rows would fall on the same places of a cache.
_VECTORS_PER_WIDE_BLOCK = 60
_VECTORS_OF_SUMS = 180
_TURNS_TOGETHER = 4
ROWS_TOGETHER = 8
_LEAST_EVEN_ROWS = 5  # so many at a time are hardly slower, and need no code for a rest
_LEAST_VECTORS_TO_SHARE = 2
_LEAST_SHARED = 1 << 16  # elements of the right matrix that threads share
_SHORT_DEPTH = 16
_SHORT_DEPTH_OF_ROWS = 6  # that share elements of the right matrix


def contract_in_columns(product: Product) -> None:
    """For some rows and a block of columns: an accumulator each, the depth outside.

    The columns of the right matrix and of the result lie side by side in memory.
    """
    builder, shape = product.work.builder, product.shape
    *outer, rows = shape.rows or (1,)
    height = _rows_together(product)

    def compute(batch: Index, above: Index, first: Expr, count: int) -> None:
        numbers = [(*above, apply("add", first, index(n))) for n in range(count)]
        _add_rows(product, batch, [number[: len(shape.rows)] for number in numbers])

    with (
        builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        builder.loops(outer, "row", LoopKind.PARALLEL) as above,
    ):
        in_blocks(
            builder, rows, height, "row", partial(compute, batch, above), LoopKind.PARALLEL
        )


def shares_columns(product: Product) -> bool:
    """Whether it pays to add up several rows together, which share what is read of the right
    matrix."""
    wide = product.shape.columns[-1] >= _LEAST_VECTORS_TO_SHARE * product.vector_elements
    return wide and math.prod(product.shape.depth) >= _TURNS_TOGETHER


def _rows_together(product: Product) -> int:
    if not shares_columns(product):
        return 1
    rows = (product.shape.rows or (1,))[-1]
    even = [n for n in range(_LEAST_EVEN_ROWS, ROWS_TOGETHER + 1) if rows % n == 0]
    turns = max(1, -(-rows // ROWS_TOGETHER))
    return even[-1] if even else max(1, -(-rows // turns))


def _add_rows(product: Product, batch: Index, rows: list[Index]) -> None:
    """All sums of these rows."""
    *outer, columns = product.shape.columns
    with product.work.builder.loops(outer, "col", LoopKind.PARALLEL) as before:

        def places(at: Expr) -> list[Place]:
            return [(batch, row, (*before, at)) for row in rows]

        lanes = _Lanes(product, places, left_is_one=True)
        _columns_in_blocks(lanes, columns, _block_width(product, len(rows)))


def contract_in_batch(product: Product, first: Index = ()) -> None:
    """For each row, column and block of the last batch dimension, along which both operands and
    the result lie in memory: an accumulator an element, the depth outside. `first`: only of the
    batches that begin so."""
    work, shape = product.work, product.shape
    *outer, count = shape.batch
    with (
        work.builder.loops(outer[len(first) :], "b", LoopKind.PARALLEL) as rest,
        work.builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        work.builder.loops(shape.columns, "col", LoopKind.PARALLEL) as column,
    ):
        before = (*first, *rest)
        lanes = _Lanes(product, lambda at: [((*before, at), row, column)], left_is_one=False)
        _columns_in_blocks(lanes, count, _VECTORS_PER_BLOCK * product.vector_elements)


def contract_along_rows(product: Product) -> None:
    """For each column and block of rows, along which the left matrix lies in memory: an accumulator
    an element, the depth outside. As under the window of a filter."""
    builder, shape = product.work.builder, product.shape
    *outer, count = shape.rows
    with (
        builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        builder.loops(outer, "row", LoopKind.PARALLEL) as above,
        builder.loops(shape.columns, "col", LoopKind.PARALLEL) as column,
    ):
        lanes = _Lanes(product, lambda at: [(batch, (*above, at), column)], left_is_one=False)
        _columns_in_blocks(lanes, count, _VECTORS_PER_BLOCK * product.vector_elements)


def _block_width(product: Product, height: int) -> int:
    """Sums of a row that stay in registers; for so few rows that the right matrix is read but once
    or twice, as long a piece of each of its lines as the sums in the nearest cache allow. Threads
    that have no rows to share have the same number of blocks each."""
    m, n, k = product.shape.sizes
    streams = m <= 2 * ROWS_TOGETHER and n * k >= 1 << 14 and product.vector_elements > 1
    wide = min(_VECTORS_PER_WIDE_BLOCK, _VECTORS_OF_SUMS // height)
    width = (wide if streams else _VECTORS_PER_BLOCK) * product.vector_elements
    threads, columns = product.work.job.target.machine.threads, product.shape.columns[-1]
    lines = math.prod(product.shape.batch) * -(-m // height)
    if lines >= threads or n * k < _LEAST_SHARED:
        return width
    blocks = threads * -(-columns // (width * threads))
    return max(columns // blocks, product.vector_elements)


@immutable
class _Lanes:
    """Sums side by side, in one line or in several that share the elements of the right matrix.

    `places(at)`: of the sum at that position in each line. `left_is_one`: all
    in a line have the same element of the left matrix.
    """

    product: Product
    places: Callable[[Expr], list[Place]]
    left_is_one: bool


def _columns_in_blocks(lanes: _Lanes, count: int, most: int) -> None:
    width = count if _is_short(lanes) else min(count, most)
    builder = lanes.product.work.builder
    in_blocks(builder, count, width, "block", partial(_block, lanes), LoopKind.PARALLEL)


def _block(lanes: _Lanes, start: Expr, width: int) -> None:
    """The sums at `start` and after, added up together."""
    product, builder = lanes.product, lanes.product.work.builder
    if _is_short(lanes):
        depths = itertools.product(*(map(index, range(n)) for n in product.shape.depth))
        _add_turns(lanes, (start, width), [], list(depths))
        return
    lines = [builder.local(product.type, (width,), "sums") for _ in lanes.places(start)]
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        for sums in lines:
            builder.store(sums, (j,), product.zero)
    *outer, extent = product.shape.depth or (1,)
    together = _TURNS_TOGETHER if extent >= _TURNS_TOGETHER else 1
    with builder.loops(outer, "k") as turns:

        def add(first: Expr, count: int) -> None:
            last = [builder.simplify((apply("add", first, index(n)),))[0] for n in range(count)]
            depths = [(*turns, k) if product.shape.depth else () for k in last]
            _add_turns(lanes, (start, width), lines, depths)

        with builder.loop(extent // together, "k") as k:
            add(apply("multiply", k, index(together)), together)
        for rest in range(extent - extent % together, extent):
            add(index(rest), 1)
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        for sums, place in zip(lines, lanes.places(apply("add", start, j)), strict=True):
            product.finish(*place, Load(sums, (j,)))


def _add_turns(
    lanes: _Lanes, span: tuple[Expr, int], lines: list[Buffer], depths: list[Index]
) -> None:
    """Adds the products at these depths to each sum of the span, in order, with one store. No
    `lines`: they are all there are of a sum, which is finished."""
    product, builder = lanes.product, lanes.product.work.builder
    start, width = span

    def left(place: Place) -> list[Expr]:
        return [product.lhs(place[0], place[1], depth) for depth in depths]

    firsts = lanes.places(start) if lanes.left_is_one else []
    named = [[builder.let(value, "left") for value in left(place)] for place in firsts]
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        places = lanes.places(apply("add", start, j))
        batch, _, column = places[0]
        others = [product.rhs(batch, depth, column) for depth in depths]
        if len(places) > 1:
            others = [builder.let(other, "right") for other in others]
        scales = named or [left(place) for place in places]
        for number, line in enumerate(scales):
            total: Expr = Load(lines[number], (j,)) if lines else product.zero
            for scale, other in zip(line, others, strict=True):
                total = apply("add", total, apply("multiply", scale, other))
            if lines:
                builder.store(lines[number], (j,), total)
            else:
                product.finish(*places[number], total)


def _is_short(lanes: _Lanes) -> bool:
    """Whether a sum is one expression: of few products, each of two elements in memory, or in lines
    that fill a vector."""
    shape, most = lanes.product.shape, _SHORT_DEPTH
    if lanes.left_is_one:
        fills = shape.columns[-1] >= lanes.product.vector_elements
        most = _SHORT_DEPTH_OF_ROWS if fills else 0
    return math.prod(shape.depth) <= most


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


def columns_are_contiguous(product: Product) -> bool:
    """Whether the right matrix lies along its columns in memory, or does not depend on them."""
    shape, builder = product.shape, product.work.builder
    if not shape.columns:
        return False
    with builder.block(), builder.loops(shape.columns, "col") as column:
        zeros = [tuple(index(0) for _ in axes) for axes in (shape.batch, shape.depth)]
        right = product.rhs(zeros[0], zeros[1], column)
        return stride_along(right, column[-1]) in (0, 1)


def rows_are_contiguous(product: Product) -> bool:
    """Whether the left matrix lies along its rows in memory."""
    shape, builder = product.shape, product.work.builder
    if not shape.rows:
        return False
    with builder.block(), builder.loops(shape.rows, "row") as row:
        zeros = [tuple(index(0) for _ in axes) for axes in (shape.batch, shape.depth)]
        return stride_along(product.lhs(zeros[0], row, zeros[1]), row[-1]) == 1


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
