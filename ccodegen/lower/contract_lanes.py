"""Contractions along the depth, which lies side by side in memory in both matrices: each sum has
several accumulators. Sums of floats are not in strict mode's order."""

from __future__ import annotations

import math
from functools import partial

from ccodegen.loop.builder import apply, in_blocks, index
from ccodegen.loop.cost import FAR
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.lower.lanes import join_lanes
from ccodegen.lower.product import Product
from ccodegen.lower.strides import stride_along
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_SHORT = 16  # elements of a line
_VECTORS_OF_A_SUM = 4
_VECTORS_OF_SUMS = 8  # that share what is read
_MOST_OF_FEW, _MOST_OF_MANY = 2, 4  # lines that are read together
_LEAST_WORK_FOR_RESTS = 1 << 14  # multiplications that are worth code for lines left over


def contract_in_lanes(product: Product) -> None:
    """Some rows and columns at a time, which share what is read of each other."""
    builder, shape = product.work.builder, product.shape
    *above, rows = shape.rows or (1,)
    *before, columns = shape.columns or (1,)
    high, wide = _lines_together(product, rows, columns)
    lanes = _lanes_of_a_sum(product, high * wide)
    with (
        builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        builder.loops(above, "row", LoopKind.PARALLEL) as outer_row,
        builder.loops(before, "col", LoopKind.PARALLEL) as outer_column,
    ):

        def add(row: Expr, height: int, column: Expr, width: int) -> None:
            rows = _lines(outer_row, row, height, len(shape.rows))
            columns = _lines(outer_column, column, width, len(shape.columns))
            _Sums.of(product, batch, rows, columns, lanes).add_up()

        def across(row: Expr, height: int) -> None:
            in_blocks(builder, columns, wide, "col", partial(add, row, height), LoopKind.PARALLEL)

        in_blocks(builder, rows, high, "row", across, LoopKind.PARALLEL)


def shares_lines(product: Product) -> bool:
    """Whether several rows or columns are added up together: where they are not short."""
    depth = product.shape.depth
    return bool(depth) and depth[-1] > max(_SHORT, product.vector_elements)


def comes_from_memory(product: Product) -> bool:
    """Whether a matrix that is read but once is so large that several lines at a time come slower
    than one after the other."""
    m, n, k = product.shape.sizes
    return min(m, n) == 1 and m * n * k * product.type.bytes > FAR


def _lines(outer: Index, first: Expr, count: int, rank: int) -> list[Index]:
    return [(*outer, apply("add", first, index(n)))[:rank] for n in range(count)]


def _lines_together(product: Product, rows: int, columns: int) -> tuple[int, int]:
    """How many rows and columns."""
    if comes_from_memory(product) or not shares_lines(product):
        return 1, 1
    evenly = math.prod(product.shape.sizes) < _LEAST_WORK_FOR_RESTS
    few, many = sorted((rows, columns))
    narrow, wide = _together(few, _MOST_OF_FEW, evenly), _together(many, _MOST_OF_MANY, evenly)
    return (narrow, wide) if rows <= columns else (wide, narrow)


def _together(count: int, most: int, evenly: bool) -> int:
    return max(n for n in range(1, most + 1) if count % n == 0 or (n < count and not evenly))


def _lanes_of_a_sum(product: Product, sums: int) -> int:
    vectors = max(1, min(_VECTORS_OF_A_SUM, _VECTORS_OF_SUMS // sums))
    lanes = vectors * product.vector_elements
    while lanes > 1 and lanes * 2 > product.shape.depth[-1]:
        lanes //= 2
    return lanes


@immutable
class _Sums:
    """Of some rows and columns of a batch: the accumulators of each."""

    product: Product
    batch: Index
    rows: list[Index]
    columns: list[Index]
    accumulators: list[list[Buffer]]

    @classmethod
    def of(
        cls, product: Product, batch: Index, rows: list[Index], columns: list[Index], lanes: int
    ) -> _Sums:
        builder, kind = product.work.builder, product.type
        accumulators = [[builder.local(kind, (lanes,), "sums") for _ in columns] for _ in rows]
        return cls(product, batch, rows, columns, accumulators)

    def add_up(self) -> None:
        product, builder = self.product, self.product.work.builder
        lanes = self.accumulators[0][0].size
        with builder.loop(lanes, "l", LoopKind.VECTOR) as lane:
            for line in self.accumulators:
                for sums in line:
                    builder.store(sums, (lane,), product.zero)
        *outer, extent = product.shape.depth
        vector = min(product.vector_elements, lanes)
        rest = extent % vector
        with builder.loops(outer, "k") as before:
            in_blocks(builder, extent - rest, lanes, "k", partial(self._add, before))
            if rest:
                self._add(before, index(extent - vector), vector, vector - rest)
        for row, line in zip(self.rows, self.accumulators, strict=True):
            for column, sums in zip(self.columns, line, strict=True):
                total = builder.let(join_lanes(builder, sums, partial(apply, "add")), "sum")
                product.finish(self.batch, row, column, total)

    def _add(self, before: Index, first: Expr, count: int, done: int = 0) -> None:
        """Products of the depth from `first` on, side by side, the first `done` of which have been
        added already: what is left over is read as one more vector."""
        product, builder, batch = self.product, self.product.work.builder, self.batch
        with builder.loop(count, "l", LoopKind.VECTOR) as lane:
            depth = (*before, apply("add", first, lane))
            left = [product.lhs(batch, row, depth) for row in self.rows]
            right = [product.rhs(batch, depth, column) for column in self.columns]
            if len(right) > 1:
                left = [builder.let(value, "left") for value in left]
            if len(left) > 1:
                right = [builder.let(value, "right") for value in right]
            for a, line in zip(left, self.accumulators, strict=True):
                for b, sums in zip(right, line, strict=True):
                    so_far = Load(sums, (lane,))
                    total = apply("add", so_far, apply("multiply", a, b))
                    if done:
                        is_new = apply("compare-ge", lane, index(done), type=ElementType.PRED)
                        total = apply("select", is_new, total, so_far)
                    builder.store(sums, (lane,), total)


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
