"""Tiles whose sums are the result: the function that computes them stores them where they belong.

A processor may have to wait before it reads what was stored from matrix registers.
"""

from __future__ import annotations

from ccodegen.loop.builder import index
from ccodegen.loop.ir import Apply, Buffer, Expr, Index, Load, Store
from ccodegen.lower.contract_panels import Packer
from ccodegen.lower.product import Product
from ccodegen.lower.strides import position_of, steps_along
from ccodegen.ops.index import plus, times
from ccodegen.ops.register_tile import RegisterTile
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_WORDS = (ElementType.S32, ElementType.U32)


@immutable
class Sums:
    """Where the sums of tiles beside each other go: element (0, 0), and how far apart rows are, and
    tiles; columns lie side by side."""

    buffer: Buffer
    offset: Expr
    row_step: int
    tile_step: int


def result_place(
    product: Product, packer: Packer, tile: RegisterTile, at: tuple[Index, Expr, Expr], most: int
) -> Sums | None:
    """The part of the result that is tile `at` (batch, row and column of tiles) and those behind
    it, at most `most` in all; None where the epilogue does more than to store sums, or tiles stand
    out of the result."""
    batch, it, jt = at
    m, n, _ = product.shape.sizes
    if m % tile.rows or n % tile.columns:
        return None
    builder, zero = product.work.builder, index(0)

    def stored(n: Expr, i: Expr, j: Expr) -> Load | None:
        row, column = plus(times(it, tile.rows), i), plus(times(plus(jt, n), tile.columns), j)
        with builder.block() as statements:
            total = Load(builder.local(tile.sums, (1,), "sum"), (zero,))
            product.finish(batch, packer.row(row), packer.column(column), total)
        match statements[1:]:
            case [Store(buffer, indices, value)] if _is_same(value, total):
                return Load(buffer, indices)
        return None

    with builder.block(), builder.loops((most, tile.rows, tile.columns), "a") as place:
        element = stored(*place)
        found = element and steps_along(builder, element, place, (*batch, it, jt))
    first = stored(zero, zero, zero)
    if not found or first is None or found[1][2] != 1:
        return None
    return Sums(found[0], position_of(first), found[1][1], found[1][0])


def _is_same(value: Expr, total: Load) -> bool:
    """Whether a value has the bits of that sum."""
    match value:
        case Apply("convert", (inner,), made):
            return inner == total and made in _WORDS and total.type in _WORDS
    return value == total
