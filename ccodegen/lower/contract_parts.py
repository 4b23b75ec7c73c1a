"""Contractions of great depth, a part of it at a time.

What no near cache keeps comes from far for each register tile, or for each row where the batch lies
side by side. What a part of the depth needs stays near; the sums, to which each part adds its own,
lie in memory meanwhile. That is not strict mode's order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Buffer, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.lower.contract_loops import contract_in_batch
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
_MOST_LINES, _LINES = 1 << 19, 1 << 18  # likewise of both matrices, of what lies beside each other
_MULTIPLE = 64  # places of the depth, of which a part has whole ones
_SMALL = 4  # times smaller than both matrices are sums that may take memory of their own


@immutable
class _Part(Product):
    """The product of a part of the depth, whose dimensions are in the order `order`: `size` of the
    one at `axis` from `first` on, and all behind that. Those before it, and the number of the part
    if there are `count` of that size, are its batch's first. It adds to `sums`: [rows, columns] of
    any batch, or, behind those, the batch's last dimension."""

    order: tuple[int, ...]
    axis: int
    first: int
    size: int
    count: int
    sums: Buffer

    @cached_property
    def shape(self) -> Contraction:
        whole = contraction(self.hero)
        sizes = [whole.depth[d] for d in self.order]
        numbers = (*sizes[: self.axis], self.count)

        def deep(batch: Index, depth: Index) -> Index:
            *before, part = batch[: len(numbers)]
            at = plus(times(part, self.size), plus(depth[0], self.first))
            ordered = sorted(zip(self.order, (*before, at, *depth[1:]), strict=True))
            return tuple(place for _, place in ordered)

        return replace(
            whole,
            batch=(*numbers, *whole.batch),
            depth=(self.size, *sizes[self.axis + 1 :]),
            lhs_index=lambda batch, row, depth: whole.lhs_index(
                batch[len(numbers) :], row, deep(batch, depth)
            ),
            rhs_index=lambda batch, depth, column: whole.rhs_index(
                batch[len(numbers) :], deep(batch, depth), column
            ),
            output_index=lambda batch, row, column: whole.output_index(
                batch[len(numbers) :], row, column
            ),
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """How many parts there are, by dimensions."""
        return self.shape.batch[: self.axis + 1]

    def finish(self, batch: Index, row: Index, column: Index, total: Expr) -> None:
        """Adds to the sum."""
        place = _place(self, self.sums, batch, row, column)
        self.work.builder.store(self.sums, place, apply("add", Load(self.sums, place), total))


def _place(product: Product, sums: Buffer, batch: Index, row: Index, column: Index) -> Index:
    """Of a sum of the product among those of a part."""
    rows, columns = linearize(row, product.shape.rows), linearize(column, product.shape.columns)
    beside = batch[-1:] if len(sums.dimensions) > 2 else ()
    return product.work.builder.simplify((rows, columns, *beside))


def is_deep(product: Product, tile: RegisterTile) -> bool:
    """Whether tiles are better computed of a part of the depth at a time."""
    m, n, k = product.shape.sizes
    if product.work.job.strict or has_noted_panels(product.hero):
        return False
    if k * tile.columns * tile.right.bytes <= _MOST_PANEL or _SMALL * m * n > (m + n) * k:
        return False
    return m > tile.rows or not right_lies_in_panels(product, tile)


def contract_in_parts(product: Product, tile: RegisterTile) -> None:
    """In register tiles."""
    builder, most = product.work.builder, _PANEL // (tile.columns * tile.right.bytes)
    with builder.loops(product.shape.batch, "b") as batch, _sums(product, batch) as sums:
        for part in _parts(product, most, sums):
            runs = run_tile(part, tile)
            with builder.loops(part.numbers, "part") as number:
                if runs:
                    write_in_runs(part, runs, (*number, *batch))
                else:
                    write_tiles(part, tile, (*number, *batch))


def is_deep_in_batch(product: Product) -> bool:
    """Whether sums beside each other in the batch are better computed of a part at a time."""
    m, _, k = product.shape.sizes
    return not product.work.job.strict and m > 1 and k * _line(product) > _MOST_LINES


def contract_batch_in_parts(product: Product) -> None:
    """As `contract_in_batch` does."""
    *outer, count = product.shape.batch
    builder, most = product.work.builder, max(1, _LINES // _line(product))
    with builder.loops(outer, "b") as batch, _sums(product, batch, (count,)) as sums:
        for part in _parts(product, most, sums):
            with builder.loops(part.numbers, "part") as number:
                contract_in_batch(part, (*number, *batch))


def _line(product: Product) -> int:
    """Bytes of both matrices that lie beside each other in the batch, at one place of the depth."""
    _, n, _ = product.shape.sizes
    return product.shape.batch[-1] * (product.left_type.bytes + n * product.right_type.bytes)


@contextmanager
def _sums(product: Product, batch: Index, beside: tuple[int, ...] = ()) -> Iterator[Buffer]:
    """Zeros to add to, which the epilogue takes then. `beside`: how many of the batch's last
    dimension have places of their own."""
    shape, builder = product.shape, product.work.builder
    m, n, _ = shape.sizes
    sums = product.work.new_scratch(product.type, (m, n, *beside))
    *outer, last = sums.dimensions
    with (
        builder.loops(outer, "i", LoopKind.PARALLEL) as i,
        builder.loop(last, "j", LoopKind.VECTOR) as j,
    ):
        builder.store(sums, (*i, j), product.zero)
    yield sums
    with (
        builder.loops(shape.rows, "row", LoopKind.PARALLEL) as row,
        builder.loops(shape.columns, "col", LoopKind.VECTOR) as column,
        builder.loops(beside, "b", LoopKind.VECTOR) as lane,
    ):
        at = (*batch, *lane), row, column
        product.finish(*at, Load(sums, _place(product, sums, *at)))


def _parts(product: Product, most: int, sums: Buffer) -> list[_Part]:
    """Those of one size, at most so many places of the depth, and what is left."""
    order, sizes = _order_in_memory(product), product.shape.depth
    depth = [sizes[d] for d in order]
    axis = next(d for d in range(len(depth)) if math.prod(depth[d + 1 :]) <= most)
    total, most = depth[axis], most // math.prod(depth[axis + 1 :])
    size = -(-total // -(-total // most))
    if axis == len(depth) - 1:
        size = min(most, -(-size // _MULTIPLE) * _MULTIPLE)
    count, rest = divmod(total, size)
    own = product.work, product.hero, product.left_type, product.right_type, order, axis
    parts = [_Part(*own, 0, size, count, sums)]
    return [*parts, _Part(*own, count * size, rest, 1, sums)] if rest else parts


def _order_in_memory(product: Product) -> tuple[int, ...]:
    """The dimensions of the depth, those first in which elements are furthest apart."""
    with product.looked_at() as (batch, row, depth, column):
        elements = product.lhs(batch, row, depth), product.rhs(batch, depth, column)
        steps = [max(stride_along(e, k) or 0 for e in elements) for k in depth]
    return tuple(sorted(range(len(steps)), key=lambda d: -steps[d]))
