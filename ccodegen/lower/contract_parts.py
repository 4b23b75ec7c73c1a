"""Contractions of great depth in register tiles, a part of the depth at a time.

Panels that no near cache keeps come from far for each tile. Those of a part of the depth stay near;
the sums, to which each part adds its own, lie in memory meanwhile. That is not strict mode's order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.lower.contract_runs import run_tile, write_in_runs
from ccodegen.lower.contract_tiles import right_lies_in_panels, write_tiles
from ccodegen.lower.product import Product
from ccodegen.lower.strides import stride_along
from ccodegen.ops.contraction import Contraction, contraction
from ccodegen.ops.index import plus, times
from ccodegen.ops.register_tile import RegisterTile, has_noted_panels
from ccodegen.support.immutable import immutable

_MOST_PANEL = 1 << 18  # bytes of a panel of which half a second-level cache keeps others as well
_PANEL = 1 << 16  # bytes of one that stays near beside those of the other matrix
_LINE = 64


@immutable
class _Part(Product):
    """The product of a part of the depth, whose dimensions are in the order `order`: `size` of the
    one at `axis` from `first` on, and all behind that. Those before it, and the number of the part
    if there are `count` of that size, are its batch's last. It adds to `sums` [rows, columns]."""

    order: tuple[int, ...]
    axis: int
    first: int
    size: int
    count: int
    sums: Buffer

    @cached_property
    def shape(self) -> Contraction:
        whole = contraction(self.hero)
        batches, sizes = len(whole.batch), [whole.depth[d] for d in self.order]

        def deep(batch: Index, depth: Index) -> Index:
            *before, part = batch[batches:]
            at = plus(times(part, self.size), plus(depth[0], self.first))
            ordered = sorted(zip(self.order, (*before, at, *depth[1:]), strict=True))
            return tuple(place for _, place in ordered)

        return replace(
            whole,
            batch=(*whole.batch, *sizes[: self.axis], self.count),
            depth=(self.size, *sizes[self.axis + 1 :]),
            lhs_index=lambda batch, row, depth: whole.lhs_index(
                batch[:batches], row, deep(batch, depth)
            ),
            rhs_index=lambda batch, depth, column: whole.rhs_index(
                batch[:batches], deep(batch, depth), column
            ),
            output_index=lambda batch, row, column: whole.output_index(
                batch[:batches], row, column
            ),
        )

    def finish(self, batch: Index, row: Index, column: Index, total: Expr) -> None:
        """Adds to the sum."""
        place = self.place(row, column)
        self.work.builder.store(self.sums, place, apply("add", Load(self.sums, place), total))

    def place(self, row: Index, column: Index) -> Index:
        """Of the sum."""
        rows, columns = self.shape.rows, self.shape.columns
        return self.work.builder.simplify((linearize(row, rows), linearize(column, columns)))


def is_deep(product: Product, tile: RegisterTile) -> bool:
    """Whether a part of the depth at a time is better."""
    m, _, k = product.shape.sizes
    if product.work.job.strict or has_noted_panels(product.hero):
        return False
    if k * tile.columns * tile.right.bytes <= _MOST_PANEL:
        return False
    return m > tile.rows or not right_lies_in_panels(product, tile)


def contract_in_parts(product: Product, tile: RegisterTile) -> None:
    shape, builder = product.shape, product.work.builder
    m, n, _ = shape.sizes
    sums = product.work.new_scratch(product.type, (m, n))
    parts = list(_parts(product, tile, sums))
    with builder.loops(shape.batch, "b") as batch:
        with (
            builder.loop(m, "i", LoopKind.PARALLEL) as i,
            builder.loop(n, "j", LoopKind.VECTOR) as j,
        ):
            builder.store(sums, (i, j), product.zero)
        for part in parts:
            runs = run_tile(part, tile)
            with builder.loops(part.shape.batch[len(shape.batch) :], "part") as number:
                if runs:
                    write_in_runs(part, runs, (*batch, *number))
                else:
                    write_tiles(part, tile, (*batch, *number))
        with (
            builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
            builder.loops(shape.columns, "col", LoopKind.VECTOR) as column,
        ):
            total = Load(sums, parts[0].place(row, column))
            product.finish(batch, row, column, total)


def _parts(product: Product, tile: RegisterTile, sums: Buffer) -> Iterator[_Part]:
    """Those of one size, then what is left."""
    most, order = _PANEL // (tile.columns * tile.right.bytes), _order_in_memory(product)
    depth = [product.shape.depth[d] for d in order]
    axis = next(d for d in range(len(depth)) if math.prod(depth[d + 1 :]) <= most)
    total, most = depth[axis], most // math.prod(depth[axis + 1 :])
    size = -(-total // -(-total // most))
    if axis == len(depth) - 1:
        size = min(most, -(-size // _LINE) * _LINE)
    count, rest = divmod(total, size)
    own = product.work, product.hero, product.left_type, product.right_type, order, axis
    yield _Part(*own, 0, size, count, sums)
    if rest:
        yield _Part(*own, count * size, rest, 1, sums)


def _order_in_memory(product: Product) -> tuple[int, ...]:
    """The dimensions of the depth, those first in which the matrices are furthest apart."""
    with product.looked_at() as (batch, row, depth, column):
        elements = product.lhs(batch, row, depth), product.rhs(batch, depth, column)
        steps = [max(stride_along(e, k) or 0 for e in elements) for k in depth]
    return tuple(sorted(range(len(steps)), key=lambda d: -steps[d]))
