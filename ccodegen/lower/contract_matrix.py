"""Rows of tiles in matrix registers: one function computes all tiles of a group of panels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, Load, LoopKind
from ccodegen.lower.chunks import in_strips
from ccodegen.lower.contract_direct import Sums, result_place
from ccodegen.lower.contract_panels import Group, Packer, Panel
from ccodegen.lower.product import Product
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.register_tile import RegisterTile

_ZERO = index(0)
_MOST_TILES = 8  # whose sums wait for the epilogue: 32 KB of a stack


class MatrixTiles:
    def __init__(self, product: Product, packer: Packer, tile: RegisterTile) -> None:
        self._product, self._packer, self._tile = product, packer, tile
        self._builder = product.work.builder

    def compute(self, batch: Index, row: Expr, left: Panel, right: Group) -> None:
        """Computes this row of tiles, those of a group of columns."""
        tile, builder = self._tile, self._builder
        step = self._panel_step(right)
        most = right.most if step is not None else 1
        place = result_place(self._product, self._packer, tile, (batch, row, right.first), most)
        if place is not None and most == right.most:
            self._call(place, left, right.panels(_ZERO), step or 0, right.count)
            return
        size = tile.rows * tile.columns
        with self._strips(right, min(most, _MOST_TILES)) as (start, count, most):
            sums = builder.local(tile.sums, (most * size,), "sums")
            place = Sums(sums, _ZERO, tile.columns, size)
            self._call(place, left, right.panels(start), step or 0, count)
            with builder.loop(count, "jt") as jt:
                number = plus(start, jt)
                computed = sums, left, right.panels(number)
                at = batch, row, plus(right.first, number)
                self._packer.finish(at, computed, LoopKind.VECTOR, times(jt, size))

    def _panel_step(self, right: Group) -> int | None:
        """How far apart panels are; None where that differs."""
        with self._builder.block(), self._builder.loop(right.most, "jt") as jt:
            first, second = (right.panels(n).offset for n in (jt, plus(jt, 1)))
            step = affine(*self._builder.simplify((minus(second, first),)))
        return None if step.terms else step.constant

    @contextmanager
    def _strips(self, right: Group, most: int) -> Iterator[tuple[Expr, Expr | int, int]]:
        """A loop over at most so many panels: the first, how many they are, and at most."""
        if right.most <= most:
            yield _ZERO, right.count, right.most
            return
        with in_strips(self._product.work, right.count, most) as (start, count):
            yield start, count, most

    def _call(self, sums: Sums, left: Panel, right: Panel, step: int, count: Expr | int) -> None:
        """Multiplies a left panel with so many right ones, which are `step` apart:

        matrix(sums, lhs, rhs, sums offset, step per row and per tile, lhs offset, step per row,
        rhs offset, step per panel, panels, depth); of pairs the least exponents of right panels
        stand behind rhs, the place of the first and that of the left panel behind the depth."""
        name, depth = self._tile.function("matrix"), index(self._packer.depth)
        panels = index(count) if isinstance(count, int) else count
        buffers: tuple[Buffer, ...] = (sums.buffer, left.buffer, right.buffer)
        scalars: tuple[Expr, ...] = (
            *(sums.offset, index(sums.row_step), index(sums.tile_step)),
            *(left.offset, index(left.row_step)),
            *(right.offset, index(step), panels, depth),
        )
        if left.notes and right.notes:
            buffers, scalars = (*buffers, right.notes), (*scalars, right.note)
        scalars = self._builder.simplify(scalars)
        if left.notes and right.notes:
            scalars = (*scalars, Load(left.notes, (left.note,)))
        self._builder.emit(CallC(name, f"{name}.h", buffers, scalars))
