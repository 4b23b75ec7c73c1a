"""triangular-solve in register tiles, some columns of y at a time.

What the rows known so far contribute to as many rows as a tile has is one product; they lie in a
panel for it, as wide as a tile. The triangle that is left of these rows is solved in plain loops.
Each element's products are added up before they are subtracted: not strict mode's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import Buffer, CallC, Expr, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.ops.arithmetic import minus_product
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.lowering import NestScope
from ccodegen.ops.register_tile import RegisterTile
from ccodegen.ops.row_groups import RowGroup, matrix_tile, row_group
from ccodegen.ops.triangular_system import System, TriangularSolve
from ccodegen.support.immutable import immutable

# Groups of rows, in the first of which there is nothing to multiply: where rows of y lie in memory,
# plain loops are good at small systems.
_LEAST_GROUPS, _LEAST_GROUPS_ACROSS = 6, 2


def solve_tile(
    scope: NestScope, attributes: TriangularSolve, columns: int
) -> RegisterTile | None:
    """The tile for systems of so many columns; None where plain loops are better."""
    tile = matrix_tile(scope, _LEAST_GROUPS if attributes.left_side else _LEAST_GROUPS_ACROSS)
    lanes = scope.target.machine.vector_elements(scope.operands[0].type.bytes)
    if tile is None or 2 * columns < lanes:
        return None
    return tile if columns > lanes else replace(tile, columns=lanes)


def solve_in_tiles(system: System, columns: int, tile: RegisterTile) -> None:
    """Threads share the blocks of columns, each with a panel of its own."""
    b, width, size = system.scope.builder, tile.columns, system.size * tile.columns
    blocks, rest = divmod(columns, width)
    each = max(1, -(-blocks // system.scope.target.machine.threads))
    parts = max(1, -(-blocks // each))
    panels = system.scope.scratch(tile.sums, (parts * size,))
    if blocks:
        with b.loop(parts, "part", LoopKind.APART) as part:
            first = times(part, each)
            left = apply("minimum", index(each), minus(index(blocks), first))
            with b.loop(left if blocks % each else each, "block") as number:
                block = times(plus(first, number), width)
                _Block(system, tile, panels, times(part, size), block, width).solve()
    if rest:
        _Block(system, tile, panels, index(0), index(columns - rest), rest).solve()


@immutable
class _Block:
    """`inside` columns of y from the `first` one on, at most as many as the tile has. The `panel`
    has, from element `start` on, the rows known so far, by turns."""

    system: System
    tile: RegisterTile
    panel: Buffer
    start: Expr
    first: Expr
    inside: int

    def solve(self) -> None:
        b, n, height = self.system.scope.builder, self.system.size, self.tile.rows
        missing = self.tile.columns - self.inside
        if missing:
            with b.loop(n, "turn") as turn, b.loop(missing, "c", LoopKind.VECTOR) as c:
                zero = const(self.panel.type, 0)
                b.store(self.panel, self._in_panel(turn, plus(c, self.inside)), zero)
        with b.loop(-(-n // height), "group") as number:
            totals = b.local(self.tile.sums, (height * self.tile.columns,), "totals")
            group = row_group(b, number, n, height)
            self._subtract_products(totals, group)
            self._solve_triangle(totals, group)
            with self._each(group.count) as (r, c):
                turn = group.row(r)
                value = b.load(self.panel, self._in_panel(turn, c))
                self.system.store(self.system.row(turn), plus(self.first, c), value)

    def _place(self, row: Expr, c: Expr) -> tuple[Expr]:
        """Of an element in a tile."""
        return (plus(times(row, self.tile.columns), c),)

    def _in_panel(self, row: Expr, c: Expr) -> tuple[Expr]:
        return (plus(self.start, *self._place(row, c)),)

    @contextmanager
    def _each(self, rows: Expr) -> Iterator[tuple[Expr, Expr]]:
        """Loops over rows and columns, in memory's order."""
        b = self.system.scope.builder
        if self.system.attributes.left_side:
            with b.loop(rows, "r") as r, b.loop(self.inside, "c", LoopKind.VECTOR) as c:
                yield r, c
        else:
            with b.loop(self.inside, "c") as c, b.loop(rows, "r", LoopKind.VECTOR) as r:
                yield r, c

    def _subtract_products(self, totals: Buffer, group: RowGroup) -> None:
        """totals = the right side of these rows less their products with those known."""
        b, system, tile = self.system.scope.builder, self.system, self.tile
        a, n = system.scope.operands[0], system.size
        sums = b.local(tile.sums, (tile.rows * tile.columns,), "sums")
        corner = system.t_place(system.row(group.start), system.row(index(0)))
        sign = 1 if system.attributes.forwards else -1
        steps = (sign, sign * n) if system.attributes.transposed else (sign * n, sign)
        scalars = (linearize(corner, a.dimensions), *map(index, steps), self.start, group.top)
        name = tile.function("tile")
        b.emit(CallC(name, f"{name}.h", (sums, a, self.panel), scalars))
        with self._each(group.count) as (r, c):
            right = system.right_side(system.row(group.row(r)), plus(self.first, c))
            known = b.load(sums, self._place(group.in_tile(r), c))
            b.store(totals, self._place(r, c), apply("subtract", right, known))

    def _solve_triangle(self, totals: Buffer, group: RowGroup) -> None:
        """Row after row of these into the panel, each subtracted from those behind it."""
        b, system = self.system.scope.builder, self.system
        with b.loop(group.count, "r") as r:
            turn = group.row(r)
            i = system.row(turn)
            pivot = None if system.attributes.unit_diagonal else b.let(system.t(i, i), "pivot")
            with b.loop(self.inside, "c", LoopKind.VECTOR) as c:
                total: Expr = b.load(totals, self._place(r, c))
                value = apply("divide", total, pivot) if pivot else total
                b.store(self.panel, self._in_panel(turn, c), value)
            with b.loop(minus(minus(group.count, 1), r), "q") as q:
                other = plus(plus(r, 1), q)
                factor = b.let(system.t(system.row(group.row(other)), i), "t")
                with b.loop(self.inside, "c", LoopKind.VECTOR) as c:
                    total = b.load(totals, self._place(other, c))
                    known = b.load(self.panel, self._in_panel(turn, c))
                    b.store(totals, self._place(other, c), minus_product(total, factor, known))
