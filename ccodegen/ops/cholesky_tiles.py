"""Cholesky's factor in register tiles: a = uᴴ · u, as many rows of u at a time as a tile has.

What the rows known so far contribute to them is one product; those lie in panels for it, as wide as
a tile. What is left of the rows is divided by its roots in plain loops. Each element's products are
added up before they are subtracted: not strict mode's order.
"""

from __future__ import annotations

from functools import cached_property

from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.cost import CACHE_LINE
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.ops.arithmetic import minus_product
from ccodegen.ops.index import minus, plus, quotient, times
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.register_tile import RegisterTile
from ccodegen.ops.row_groups import RowGroup, matrix_tile, row_group
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

PRED, S32 = ElementType.PRED, ElementType.S32
_LEAST_GROUPS = 6  # of rows: plain loops are good at small matrices


def factor_tile(scope: NestScope) -> RegisterTile | None:
    """The tile for the scope's first operand; None where plain loops are better."""
    return matrix_tile(scope, _LEAST_GROUPS)


def factor_in_tiles(scope: NestScope, tile: RegisterTile, lower: bool, batch: Index) -> Buffer:
    """Writes u over the upper triangle of result 0, or its transpose over the lower one. Gives a
    variable: 0, or the number from 1 of the first row that has no root; then nothing there is
    defined."""
    return _Factor(scope, tile, lower, batch).write()


@immutable
class _Factor:
    """`batch`: which of the matrices."""

    scope: NestScope
    tile: RegisterTile
    lower: bool
    batch: Index

    @property
    def builder(self) -> Builder:
        return self.scope.builder

    @property
    def size(self) -> int:
        return self.scope.operands[0].dimensions[-1]

    @property
    def blocks(self) -> int:
        """Panels of columns."""
        return -(-self.size // self.tile.columns)

    @cached_property
    def panels(self) -> Buffer:
        """The rows of u that are known: [block, row, column of the block]."""
        return self.scope.scratch(self.tile.sums, (self.blocks * self.size * self.tile.columns,))

    @cached_property
    def rows(self) -> Buffer:
        """What is left of the rows to come: [row, column]."""
        return self.scope.scratch(self.tile.sums, (self.tile.rows * self._row_step,))

    @property
    def _row_step(self) -> int:
        """Some more than columns, so that a column's elements do not collide in the cache."""
        return self.blocks * self.tile.columns + CACHE_LINE // self.tile.sums.bytes

    def write(self) -> Buffer:
        b, n, height = self.builder, self.size, self.tile.rows
        failed = b.variable(const(S32, 0), "failed")
        self._clear_beyond()
        with b.loop(-(-n // height), "group") as number:
            group = row_group(b, number, n, height)
            first = b.let(quotient(group.top, self.tile.columns), "first")
            with b.loop(minus(index(self.blocks), first), "jt") as block:
                self._subtract_products(plus(first, block), group)
            self._divide_by_roots(group, failed)
            self._store(group)
            with b.loop(minus(index(self.blocks), first), "jt") as block:
                self._keep(plus(first, block), group)
        return failed

    def _clear_beyond(self) -> None:
        """Zeroes columns that only fill the last panel: products of what was in memory before may
        be denormal, which takes twenty times as long."""
        b, beyond = self.builder, self.blocks * self.tile.columns - self.size
        if beyond:
            with b.loop(self.tile.rows, "r") as r, b.loop(beyond, "c", LoopKind.VECTOR) as c:
                zero = const(self.rows.type, 0)
                b.store(self.rows, self._left(r, plus(index(self.size), c)), zero)

    def _left(self, r: Expr, column: Expr) -> tuple[Expr]:
        """Of an element in `rows`."""
        return (plus(times(r, self._row_step), column),)

    def _place(self, i: Expr, j: Expr) -> Index:
        """Of u(i, j) in memory."""
        return (*self.batch, *((j, i) if self.lower else (i, j)))

    def _panel(self, jt: Expr) -> Expr:
        return times(jt, self.size * self.tile.columns)

    def _subtract_products(self, jt: Expr, group: RowGroup) -> None:
        """rows = those of a less their products with the known rows, in one block of columns."""
        b, tile, (a, factor) = self.builder, self.tile, self._matrices
        sums = b.local(tile.sums, (tile.rows * tile.columns,), "sums")
        corner = linearize(self._place(index(0), group.start), factor.dimensions)
        steps = (self.size, 1) if self.lower else (1, self.size)
        scalars = (corner, *map(index, steps), self._panel(jt), group.top)
        name = tile.function("tile")
        b.emit(CallC(name, f"{name}.h", (sums, factor, self.panels), scalars))
        left = times(jt, tile.columns)
        inside = apply("minimum", index(tile.columns), minus(index(self.size), left))
        extents = (inside, group.count) if self.lower else (group.count, inside)
        with b.loop(extents[0], "i") as outer, b.loop(extents[1], "j", LoopKind.VECTOR) as inner:
            r, c = (inner, outer) if self.lower else (outer, inner)
            column = plus(left, c)
            at = plus(times(group.in_tile(r), tile.columns), c)
            value = b.load(a, self._place(group.row(r), column))
            rest = apply("subtract", value, b.load(sums, (at,)))
            b.store(self.rows, self._left(r, column), rest)

    @property
    def _matrices(self) -> tuple[Buffer, Buffer]:
        return self.scope.operands[0], self.scope.results[0]

    def _divide_by_roots(self, group: RowGroup, failed: Buffer) -> None:
        """Row after row, each subtracted from those behind it."""
        b, n = self.builder, self.size
        with b.loop(group.count, "r") as r:
            k = b.let(group.row(r), "k")
            pivot = b.let(b.load(self.rows, self._left(r, k)), "pivot")
            self._check(pivot, k, failed)
            root = b.let(apply("sqrt", pivot), "root")
            with b.loop(minus(index(n), k), "j", LoopKind.VECTOR) as j:
                at = self._left(r, plus(k, j))
                b.store(self.rows, at, apply("divide", b.load(self.rows, at), root))
            with b.loop(minus(minus(group.count, 1), r), "q") as q:
                other = plus(plus(r, 1), q)
                i = b.let(group.row(other), "row")
                factor = b.let(b.load(self.rows, self._left(r, i)), "factor")
                with b.loop(minus(index(n), i), "j", LoopKind.VECTOR) as j:
                    at = self._left(other, plus(i, j))
                    known = b.load(self.rows, self._left(r, plus(i, j)))
                    b.store(self.rows, at, minus_product(b.load(self.rows, at), factor, known))

    def _check(self, pivot: Expr, k: Expr, failed: Buffer) -> None:
        b = self.builder
        has_root = compare("gt", pivot, const(pivot.type, 0))
        is_first = compare("eq", b.load(failed), const(S32, 0))
        with b.when(apply("and", apply("not", has_root), is_first)):
            b.store(failed, (), apply("convert", plus(k, 1), type=S32))

    def _store(self, group: RowGroup) -> None:
        b, n, factor = self.builder, self.size, self.scope.results[0]
        if not self.lower:
            with b.loop(group.count, "r") as r:
                k = group.row(r)
                with b.loop(minus(index(n), k), "j", LoopKind.VECTOR) as j:
                    value = b.load(self.rows, self._left(r, plus(k, j)))
                    b.store(factor, self._place(k, plus(k, j)), value)
            return
        with b.loop(minus(index(n), group.top), "i") as i:
            column = plus(group.top, i)
            with b.loop(apply("minimum", group.count, plus(i, 1)), "r") as r:
                value = b.load(self.rows, self._left(r, column))
                b.store(factor, self._place(group.row(r), column), value)

    def _keep(self, jt: Expr, group: RowGroup) -> None:
        """Puts the rows into a panel."""
        b, width = self.builder, self.tile.columns
        with b.loop(group.count, "r") as r, b.loop(width, "c", LoopKind.VECTOR) as c:
            value = b.load(self.rows, self._left(r, plus(times(jt, width), c)))
            at = plus(plus(self._panel(jt), times(group.row(r), width)), c)
            b.store(self.panels, (at,), value)
