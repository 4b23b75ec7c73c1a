"""Contractions without packing: for few rows, small sizes, and targets without vectors."""

from __future__ import annotations

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.lower.product import Product
from ccodegen.lower.reduction import fold_into, join_lanes
from ccodegen.lower.strides import stride_along

_VECTORS_PER_BLOCK = 8
_VECTORS_PER_WIDE_BLOCK = 64
_TURNS_TOGETHER = 4
_VECTORS_OF_LANES = 4


def contract_in_columns(product: Product) -> None:
    """For each row and block of columns: an accumulator a column, the depth outside.

    The columns of the right matrix and of the result lie side by side in memory.
    """
    work, shape = product.work, product.shape
    *outer, columns = shape.columns
    block = min(columns, _block_width(product))
    with (
        work.builder.loops(shape.batch, "b", LoopKind.PARALLEL) as batch,
        work.builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        work.builder.loops(outer, "col", LoopKind.PARALLEL) as before,
    ):
        with work.builder.loop(columns // block, "block", LoopKind.PARALLEL) as number:
            start = apply("multiply", number, index(block))
            _column_block(product, (batch, row, before), start, block)
        if columns % block:
            rest = columns % block
            _column_block(product, (batch, row, before), index(columns - rest), rest)


def _block_width(product: Product) -> int:
    """Sums that stay in registers; for so few rows that the right matrix is read but once or
    twice, as long a piece of each of its lines as the sums in the nearest cache allow."""
    m, n, k = product.shape.sizes
    streams = m <= 2 and n * k >= 1 << 14 and _vector_elements(product) > 1
    vectors = _VECTORS_PER_WIDE_BLOCK if streams else _VECTORS_PER_BLOCK
    return vectors * _vector_elements(product)


def _column_block(
    product: Product, place: tuple[Index, Index, Index], start: Expr, width: int
) -> None:
    builder = product.work.builder
    batch, row, before = place
    sums = builder.local(product.type, (width,), "sums")
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        builder.store(sums, (j,), product.zero)
    *outer, extent = product.shape.depth or (1,)
    together = _TURNS_TOGETHER if extent >= _TURNS_TOGETHER else 1

    def add(turns: Index, first: Expr, count: int) -> None:
        """Adds `count` turns of the depth to each sum, in order, with one store."""
        last = [builder.simplify((apply("add", first, index(n)),))[0] for n in range(count)]
        depths = [(*turns, k) if product.shape.depth else () for k in last]
        left = [builder.let(product.lhs(batch, row, depth), "left") for depth in depths]
        with builder.loop(width, "j", LoopKind.VECTOR) as j:
            column = (*before, apply("add", start, j))
            total: Expr = Load(sums, (j,))
            for scale, depth in zip(left, depths, strict=True):
                term = apply("multiply", scale, product.rhs(batch, depth, column))
                total = apply("add", total, term)
            builder.store(sums, (j,), total)

    with builder.loops(outer, "k") as turns:
        with builder.loop(extent // together, "k") as k:
            add(turns, apply("multiply", k, index(together)), together)
        for rest in range(extent - extent % together, extent):
            add(turns, index(rest), 1)
    with builder.loop(width, "j", LoopKind.VECTOR) as j:
        column = (*before, apply("add", start, j))
        product.finish(batch, row, column, Load(sums, (j,)))


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


def _vector_elements(product: Product) -> int:
    return product.work.job.target.machine.vector_elements(product.type.bytes)
