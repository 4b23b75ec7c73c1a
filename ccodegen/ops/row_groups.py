"""Rows of square matrices in groups as high as a register tile: what factors and systems share."""

from __future__ import annotations

from ccodegen.loop.builder import Builder, apply, index
from ccodegen.loop.ir import Expr
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.register_tile import RegisterTile
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable


def matrix_tile(scope: NestScope, least_groups: int) -> RegisterTile | None:
    """The tile for the matrices in the scope's first operand; None where plain loops are better, as
    they are for less than so many groups of rows."""
    a, target = scope.operands[0], scope.target
    has_vectors = target.machine.vector_elements(a.type.bytes) > 1
    if scope.strict or a.type not in (ElementType.F32, ElementType.F64) or not has_vectors:
        return None
    rows, columns = target.tile_size(a.type.bytes)
    if a.dimensions[-1] < least_groups * rows:
        return None
    return RegisterTile(rows, columns, a.type, a.type)


@immutable
class RowGroup:
    """`count` rows from `top` on, in a tile that begins at row `start`."""

    top: Expr
    count: Expr
    start: Expr

    def row(self, r: Expr) -> Expr:
        """The row that row `r` of the group is."""
        return plus(self.top, r)

    def in_tile(self, r: Expr) -> Expr:
        """The row of the tile that row `r` of the group is."""
        return plus(minus(self.top, self.start), r)


def row_group(builder: Builder, number: Expr, size: int, height: int) -> RowGroup:
    """The group of this number, of `size` rows in all; the last tile ends with the last row."""
    top = times(number, height)
    if size % height == 0:
        return RowGroup(top, index(height), top)
    count = builder.let(apply("minimum", index(height), minus(index(size), top)), "count")
    start = builder.let(apply("minimum", top, index(size - height)), "start")
    return RowGroup(top, count, start)
