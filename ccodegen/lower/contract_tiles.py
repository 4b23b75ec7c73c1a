"""Contractions in register tiles: rows × columns of sums stay in registers over the whole depth.

The right matrix is packed into panels as wide as a tile, so that the tile function reads it in
order; the left one is read where it lies if it lies along the depth, and packed otherwise. Of the
two loops over tiles the outer one packs its operand a panel at a time; the inner one's is packed
whole, before. The tile function adds along the depth in order, one product after the other, for
each sum: strict mode's order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, Load, LoopKind, Var
from ccodegen.loop.linear import delinearize, linearize
from ccodegen.lower.product import Product
from ccodegen.ops.index import minus, plus, times
from ccodegen.support.element_type import ElementType

# Below this many multiplications packing costs more than it saves.
_LEAST_WORK = 1 << 13


@dataclass(frozen=True)
class Tiling:
    """Sizes in elements. `direct`: the left matrix's buffer and its steps from row to row and
    along the depth, where the tile function may read it in place."""

    rows: int
    columns: int
    direct: tuple[Buffer, int, int] | None
    rows_outside: bool


@dataclass(frozen=True)
class _Panel:
    """Where a packed panel begins: in `buffer` at `offset`."""

    buffer: Buffer
    offset: Expr


def tiling(product: Product) -> Tiling | None:
    """The tiles to use; None where packing would not pay."""
    machine = product.work.job.target.machine
    m, n, k = product.shape.sizes
    if product.type not in (ElementType.F32, ElementType.F64) or m * n * k < _LEAST_WORK:
        return None
    if machine.vector_elements(product.type.bytes) == 1 or m < 3 or n < 4 or k < 4:
        return None
    rows, columns, _ = product.work.job.target.tile_size(product.type.bytes)
    rows = _evenly(m, rows)
    direct = _direct(product) if m >= rows else None
    return Tiling(rows, columns, direct, direct is None and n <= m)


def contract_in_tiles(product: Product, tiles: Tiling) -> None:
    builder = product.work.builder
    m, n, _ = product.shape.sizes
    row_tiles, column_tiles = -(-m // tiles.rows), -(-n // tiles.columns)
    writer = _Tiles(product, tiles)
    with builder.loops(product.shape.batch, "b", LoopKind.PARALLEL) as batch:
        if tiles.rows_outside:
            right = writer.pack_all_rhs(batch, column_tiles)
            with builder.loop(row_tiles, "it") as it:
                left = writer.pack_lhs(batch, it, index(0), 1)
                with builder.loop(column_tiles, "jt") as jt:
                    writer.tile(batch, it, jt, left, right(jt))
            return
        all_left = writer.pack_all_lhs(batch, row_tiles)
        with builder.loop(column_tiles, "jt") as jt:
            panel = writer.pack_rhs(batch, jt, index(0), 1)
            with builder.loop(row_tiles, "it") as it:
                writer.tile(batch, it, jt, all_left(it), panel)


class _Tiles:
    def __init__(self, product: Product, tiles: Tiling) -> None:
        self._product, self._tiles = product, tiles
        self._builder = product.work.builder
        self._m, self._n, self._k = product.shape.sizes
        self._lhs: Buffer | None = None
        self._rhs: Buffer | None = None

    def pack_all_rhs(self, batch: Index, count: int) -> Any:
        size = self._k * self._tiles.columns
        with self._builder.loop(count, "jt") as jt:
            panel = self.pack_rhs(batch, jt, times(jt, size), count)
        return lambda at: _Panel(panel.buffer, times(at, size))

    def pack_all_lhs(self, batch: Index, count: int) -> Any:
        if self._tiles.direct is not None:
            return lambda at: None
        size = self._k * self._tiles.rows
        with self._builder.loop(count, "it") as it:
            panel = self.pack_lhs(batch, it, times(it, size), count)
        return lambda at: _Panel(panel.buffer, times(at, size))

    def pack_rhs(self, batch: Index, tile: Expr, offset: Expr, count: int) -> _Panel:
        """panel[k * columns + j] = rhs(k, tile * columns + j), zero beyond the last column."""
        width = self._tiles.columns
        if self._rhs is None:
            self._rhs = self._scratch(count * self._k * width)
        buffer, shape = self._rhs, self._product.shape
        inside = self._rest(self._n, tile, width)
        with self._builder.loops(shape.depth, "k") as depth:
            start = plus(offset, times(linearize(depth, shape.depth), width))
            with self._builder.loop(inside, "j", LoopKind.VECTOR) as j:
                column = self._position(plus(times(tile, width), j), shape.columns)
                value = self._product.rhs(batch, depth, column)
                self._builder.store(buffer, (plus(start, j),), value)
            self._fill(buffer, start, inside, width)
        return _Panel(buffer, offset)

    def pack_lhs(self, batch: Index, tile: Expr, offset: Expr, count: int) -> _Panel:
        """panel[k * rows + i] = lhs(tile * rows + i, k), zero beyond the last row."""
        height = self._tiles.rows
        if self._lhs is None:
            self._lhs = self._scratch(count * self._k * height)
        buffer, shape = self._lhs, self._product.shape
        inside = self._rest(self._m, tile, height)
        with self._builder.loop(inside, "i") as i:
            row = self._position(plus(times(tile, height), i), shape.rows)
            row = tuple(r if _is_affine(r) else self._builder.let(r, "row") for r in row)
            with self._builder.loops(shape.depth, "k") as depth:
                value = self._product.lhs(batch, row, depth)
                at = plus(plus(offset, times(linearize(depth, shape.depth), height)), i)
                self._builder.store(buffer, (at,), value)
        if inside != index(height):
            with self._builder.loop(self._k, "k") as k:
                self._fill(buffer, plus(offset, times(k, height)), inside, height)
        return _Panel(buffer, offset)

    def tile(
        self, batch: Index, it: Expr, jt: Expr, left: _Panel | None, right: _Panel
    ) -> None:
        """Computes one tile of sums and hands each to the epilogue."""
        rows, columns = self._tiles.rows, self._tiles.columns
        first = times(it, rows)
        sums = self._builder.local(self._product.type, (rows * columns,), "sums")
        start = first
        if left is None and self._m % rows:
            start = apply("minimum", first, index(self._m - rows))
        self._builder.emit(self._call(batch, start, sums, left, right))
        skipped = apply("subtract", first, start) if left is None else index(0)
        with self._builder.loop(self._rest(self._m, it, rows), "i") as i:
            row = self._position(plus(first, i), self._product.shape.rows)
            with self._builder.loop(self._rest(self._n, jt, columns), "j", LoopKind.VECTOR) as j:
                place = plus(times(plus(skipped, i), columns), j)
                column = self._position(
                    plus(times(jt, columns), j), self._product.shape.columns
                )
                total = Load(sums, self._builder.simplify((place,)))
                self._product.finish(batch, row, column, total)

    def _call(
        self, batch: Index, start: Expr, sums: Buffer, left: _Panel | None, right: _Panel
    ) -> CallC:
        """tile(sums, lhs, rhs, lhs offset, step per row, step along depth, rhs offset, depth)."""
        tiles = self._tiles
        if left is None:
            assert tiles.direct is not None
            buffer, row_step, depth_step = tiles.direct
            offset = self._direct_offset(batch, start)
        else:
            buffer, row_step, depth_step, offset = left.buffer, 1, tiles.rows, left.offset
        name = f"ccg_tile_{self._product.type.text}_{tiles.rows}x{tiles.columns}"
        steps = (index(row_step), index(depth_step))
        scalars = self._builder.simplify((offset, *steps, right.offset, index(self._k)))
        return CallC(name, f"{name}.h", (sums, buffer, right.buffer), scalars)

    def _direct_offset(self, batch: Index, start: Expr) -> Expr:
        row = self._position(start, self._product.shape.rows)
        zeros = tuple(index(0) for _ in self._product.shape.depth)
        first = self._product.lhs(batch, row, zeros)
        assert isinstance(first, Load)
        return linearize(first.indices, first.buffer.dimensions)

    def _position(self, linear: Expr, extents: Sequence[int]) -> Index:
        return delinearize(linear, tuple(extents), self._builder.ranges)

    def _rest(self, total: int, tile: Expr, size: int) -> Expr:
        """How many of a tile's rows or columns there are."""
        left = minus(index(total), times(tile, size))
        return self._builder.simplify((apply("minimum", index(size), left),))[0]

    def _fill(self, buffer: Buffer, start: Expr, inside: Expr, size: int) -> None:
        """Zeros behind the elements that there are."""
        (missing,) = self._builder.simplify((minus(index(size), inside),))
        if missing == index(0):
            return
        with self._builder.loop(missing, "j") as j:
            at = plus(plus(start, inside), j)
            self._builder.store(buffer, (at,), self._product.zero)

    def _scratch(self, size: int) -> Buffer:
        return self._product.work.new_scratch(self._product.type, (size,))


def _direct(product: Product) -> tuple[Buffer, int, int] | None:
    """The left matrix where it is plain memory with constant steps: no padding, no conversion."""
    shape, builder = product.shape, product.work.builder
    zeros = tuple(index(0) for _ in shape.batch)
    with (
        builder.block(),
        builder.loop(math.prod(shape.rows), "i") as i,
        builder.loop(math.prod(shape.depth), "k") as k,
    ):
        row = delinearize(i, shape.rows, builder.ranges)
        depth = delinearize(k, shape.depth, builder.ranges)
        value = product.lhs(zeros, row, depth)
        if not isinstance(value, Load):
            return None
        (place,) = builder.simplify((linearize(value.indices, value.buffer.dimensions),))
    steps = affine(place).terms
    if not steps.keys() <= {i, k}:
        return None
    return value.buffer, steps.get(i, 0), steps.get(k, 0)


def _evenly(total: int, most: int) -> int:
    """A tile height of at most `most` that wastes the fewest rows, the greatest of those."""
    heights = range(max(1, most // 2), min(most, total) + 1)
    return min(heights, key=lambda h: (-(-total // h) * h - total, -h), default=total)


def _is_affine(expr: Expr) -> bool:
    return all(isinstance(term, Var) for term in affine(expr).terms)
