"""The matrices of a contraction as register tiles read them.

The right one in panels as wide as a tile, panel after panel, each with its rows one after the
other; the left one in panels as high as a tile, each with its columns one after the other. Where
an operand lies in memory in such an order, or the left one in constant steps, it is read in place.

Where a tile takes a group of the depth at a time, `row` and `column` of this are those of a matrix
of groups: the elements of a group lie side by side, and zeros fill up the last one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.cost import CACHE_LINE
from ccodegen.loop.ir import MOST_UNROLLED, Buffer, Expr, Index, Load, LoopKind, Var
from ccodegen.loop.linear import delinearize, linearize, merged_axes
from ccodegen.lower.chunks import in_strips, remaining
from ccodegen.lower.product import Product
from ccodegen.lower.strides import position_of, steps_along, stride_along
from ccodegen.ops.fold import converted
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.register_tile import RegisterTile, has_noted_panels
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_ZERO = index(0)
_STRIP = 256  # bytes of a row of the right matrix: each of its rows is in another page
# Elements that are copied together, neighbours and others: where gcc unrolls their loop, it puts
# them together of what it has read for the row before.
_LEAST_NEIGHBOURS, _LEAST_APART = 4, 8
_COLLIDING = 1024  # bytes: rows that far apart fall on an eighth of the places of 32 KB


@immutable
class Panel:
    """Where element (0, 0) of a panel lies, and how far apart rows and columns are. `before`: how
    many of its first rows are those of the panel before it. `notes`: what is known of it, from
    place `note` on (see contract_notes.py); `noted`: a row behind it says what that
    would be (see `register_tile.with_panels`)."""

    buffer: Buffer
    offset: Expr
    row_step: int
    column_step: int
    before: Expr = _ZERO
    notes: Buffer | None = None
    note: Expr = _ZERO
    noted: bool = False


Panels: TypeAlias = Callable[[Expr], Panel]
"""The panel of this number."""
Numbers: TypeAlias = tuple[Expr, Expr | int]
"""Those of panels: the first one, and how many there are."""
Pack: TypeAlias = Callable[[Index, Numbers, Expr, int, LoopKind], Panels]
"""Packs, of a batch, panels to so many places, from one on, in a loop of that kind; each by its
place among them."""


@immutable
class Group:
    """Panels of one matrix that are near at a time: the number of the first one, how many there
    are, at most `most`, and each by its place among them."""

    first: Expr
    count: Expr | int
    most: int
    panels: Panels


class Packer:
    """Packs the panels of one product. `depth`: that of panels, a multiple of a group."""

    def __init__(self, product: Product, tile: RegisterTile) -> None:
        self._product, self._tile = product, tile
        self._rows, self._columns, self._group = tile.rows, tile.columns, tile.group
        self._builder = product.work.builder
        self._m, self._n, self._k = product.shape.sizes
        self.depth = tile.padded_depth(self._k)
        self._left: Buffer | None = None
        self._right: Buffer | None = None

    def _pack_left(
        self, batch: Index, number: Expr, place: Expr, places: int, count: Expr
    ) -> Panel:
        """Packs `count` panels from this number on into places of `places`; element (i, k) of one
        is lhs(number * rows + i, k), zero beyond the last row. The order is that of the operand in
        memory: row after row, or depth after depth where rows lie side by side."""
        height, by_rows = self._rows, not self._packs_columns
        row_step, depth_step = (self.depth, 1) if by_rows else (1, height)
        row_step += CACHE_LINE // self._tile.left.bytes if self._collides(row_step) else 0
        size = height * max(row_step, self.depth)
        self._left = self._left or self._scratch(self._tile.left, places * size)
        panel = Panel(self._left, times(place, size), row_step, depth_step)
        if by_rows:
            self._copy_rows(batch, number, panel)
        else:
            self._copy_columns(batch, number, panel, (size, count))
        kind = LoopKind.VECTOR if depth_step == 1 else LoopKind.SERIAL
        with self._builder.loop(count, "panel") as n:
            inside = self._rows_inside(plus(number, n))
            with self._missing(inside, height) as i, self._builder.loop(self.depth, "k", kind) as k:
                self._store_left(panel, times(n, size), (i, k), const(self._tile.left, 0))
        return replace(panel, column_step=depth_step * self._group)

    def _copy_rows(self, batch: Index, number: Expr, panel: Panel) -> None:
        """Fills the rows that there are in the panel of this number, and their ends with zeros."""
        inside = self._rows_inside(number)
        with self._builder.loop(inside, "i", LoopKind.PARALLEL) as i:
            row = self.row(plus(times(number, self._rows), i))
            at = tuple(r if _is_affine(r) else self._builder.let(r, "row") for r in row)
            extents, step = self._runs(batch, at)
            *outer, run = extents
            least = _LEAST_NEIGHBOURS if step == 1 else _LEAST_APART
            kind = LoopKind.LANES if least <= run <= MOST_UNROLLED else LoopKind.VECTOR
            with (
                self._builder.loops(outer, "k") as before,
                self._builder.loop(run, "k", kind) as k,
            ):
                linear = linearize((*before, k), extents)
                value = self._product.lhs(batch, at, self._depth(linear))
                self._store_left(panel, _ZERO, (i, linear), value)
        with (
            self._builder.loop(inside, "i") as i,
            self._builder.loop(self.depth - self._k, "rest", LoopKind.VECTOR) as rest,
        ):
            place = i, plus(rest, index(self._k))
            self._store_left(panel, _ZERO, place, const(self._tile.left, 0))

    def _copy_columns(
        self, batch: Index, number: Expr, panel: Panel, panels: tuple[int, Expr]
    ) -> None:
        """Fills so many panels, of that size, from this number on: of each column what goes into
        all of them."""
        builder, depths, (size, count) = self._builder, self._product.shape.depth, panels
        with builder.loops(depths, "k") as depth, builder.loop(count, "panel") as n:
            this = plus(number, n)
            with builder.loop(self._rows_inside(this), "i", LoopKind.VECTOR) as i:
                row = self.row(plus(times(this, self._rows), i))
                value = self._product.lhs(batch, row, depth)
                self._store_left(panel, times(n, size), (i, linearize(depth, depths)), value)

    def _rows_inside(self, number: Expr) -> Expr:
        """How many rows the left panel of this number has."""
        return remaining(self._product.work, self._m, times(number, self._rows), self._rows)

    def _store_left(self, panel: Panel, start: Expr, place: tuple[Expr, Expr], value: Expr) -> None:
        i, k = place
        at = plus(times(i, panel.row_step), times(k, panel.column_step))
        self._builder.store(panel.buffer, (plus(plus(panel.offset, start), at),), value)

    def _pack_right(
        self, batch: Index, number: Expr, place: Expr, places: int, count: Expr
    ) -> Panel:
        """Packs `count` panels from this number on, of each row what goes into all of them; element
        (k, j) of one is rhs(k, number * columns + j), zero beyond the last column."""
        width, group, shape = self._columns, self._group, self._product.shape
        step, size, builder = width * group, self.depth * width, self._builder
        self._right = self._right or self._scratch(self._tile.right, places * size)
        panels, offset = self._right, times(place, size)

        def inside(n: Expr) -> Expr:
            first = times(plus(number, n), width)
            return remaining(self._product.work, self._n, first, width)

        def fill(turn: Expr, depths: Sequence[Index]) -> None:
            with builder.loop(count, "panel") as n:
                start = plus(plus(offset, times(n, size)), times(turn, step))
                self._fill_group(batch, (plus(number, n), inside(n)), start, depths)

        if group == 1:
            with builder.loops(shape.depth, "k", LoopKind.PARALLEL) as depth:
                fill(linearize(depth, shape.depth), [depth])
        else:
            whole, part = divmod(self._k, group)
            with builder.loop(whole, "k") as turn:
                fill(turn, self._depths(turn, group))
            if part:
                fill(index(whole), self._depths(index(whole), part))
        zero, filled = const(self._tile.right, 0), -(-self._k // group)
        with builder.loop(count, "panel") as n:
            start = plus(offset, times(n, size))
            missing = self._missing(times(inside(n), group), step)
            with builder.loop(filled, "k") as turn, missing as j:
                builder.store(panels, (plus(plus(start, times(turn, step)), j),), zero)
            with builder.loop(size - filled * step, "rest", LoopKind.VECTOR) as rest:
                builder.store(panels, (plus(plus(start, index(filled * step)), rest),), zero)
        return Panel(panels, offset, step, 1)

    def _depths(self, turn: Expr, count: int) -> list[Index]:
        """The first `count` of a group."""
        first = times(turn, self._group)
        return [self._depth(plus(first, index(n))) for n in range(count)]

    def _fill_group(
        self, batch: Index, panel: tuple[Expr, Expr], start: Expr, depths: Sequence[Index]
    ) -> None:
        """Packs of every column in the panel of this number, with so many of them, the elements at
        these depths, zeros behind them."""
        assert self._right is not None
        (number, inside), group = panel, self._group
        with self._builder.loop(inside, "j", LoopKind.VECTOR) as j:
            column = self.column(plus(times(number, self._columns), j))
            values = [self._product.rhs(batch, depth, column) for depth in depths]
            values += [const(self._tile.right, 0)] * (group - len(values))
            for n, value in enumerate(values):
                at = plus(plus(start, times(j, group)), index(n))
                self._builder.store(self._right, (at,), value)

    def lefts(
        self, batch: Index, numbers: Numbers, place: Expr, places: int, kind: LoopKind
    ) -> Panels:
        """Packs panels of the left matrix to the places from `place` on; each by its place among
        them. Of columns a strip is read at a time."""
        (first, count), work = numbers, self._product.work
        with in_strips(work, count, self.lefts_of_a_strip, kind) as (n, here):
            panel = self._pack_left(batch, plus(first, n), plus(place, n), places, here)
        return _from(panel, place, places)

    def rights(
        self, batch: Index, numbers: Numbers, place: Expr, places: int, kind: LoopKind
    ) -> Panels:
        """Those of the right matrix likewise, of whose rows a strip is read at a time."""
        (first, count), work = numbers, self._product.work
        with in_strips(work, count, self.rights_of_a_strip, kind) as (n, here):
            panel = self._pack_right(batch, plus(first, n), plus(place, n), places, here)
        return _from(panel, place, places)

    @property
    def lefts_of_a_strip(self) -> int:
        """How many panels of the left matrix lie in what is read of its columns at a time."""
        if not self._packs_columns:
            return 1
        return max(1, _STRIP // (self._rows * self._tile.left.bytes))

    @cached_property
    def rights_of_a_strip(self) -> int:
        """How many panels of the right matrix lie in what is read of its rows at a time."""
        read = self._columns * self._tile.right.bytes
        if read > CACHE_LINE:
            return 1
        product, builder = self._product, self._builder
        with product.looked_at() as (batch, _, depth, _), builder.loop(self._n, "j") as j:
            step = stride_along(product.rhs(batch, depth, self.column(j)), j)
        return _STRIP // read if step == 1 else 1

    @property
    def is_narrow(self) -> bool:
        """Whether a row of a panel of the right matrix is at most one line of a cache."""
        return self._columns * self._group * self._tile.right.bytes <= CACHE_LINE

    def left_in_place(self, batch: Index) -> Panels | None:
        """The left matrix where it is plain memory in constant steps: no padding, no conversion."""
        found = self._steps(
            (self._m, self._k),
            lambda i, k: self._product.lhs(batch, self.row(i), self._depth(k)),
            known=batch,
        )
        if found is None or self._m < self._rows:
            return None
        buffer, (row_step, depth_step) = found
        if self._group > 1 and (depth_step != 1 or self.depth != self._k):
            return None
        # Rows that straddle lines of the cache go into matrix registers at half the speed.
        if self._tile.matrix and self._n > self._columns:
            return None

        def panel(number: Expr) -> Panel:
            first, before = ending_inside(number, self._m, self._rows)
            zero = self._depth(index(0))
            offset = position_of(self._product.lhs(batch, self.row(first), zero))
            return Panel(buffer, offset, row_step, depth_step * self._group, before)

        return panel

    def left_lines(self, batch: Index) -> Panels | None:
        """The left matrix where its rows lie along the depth in memory."""
        return self._lines(
            (self._m, self._rows),
            lambda i, k: self._product.lhs(batch, self.row(i), self._depth(k)),
            batch,
        )

    def right_lines(self, batch: Index) -> Panels | None:
        """The right matrix where its columns lie along the depth in memory: `row` and `row_step` of
        a panel are those of its transpose."""
        return self._lines(
            (self._n, self._columns),
            lambda j, k: self._product.rhs(batch, self._depth(k), self.column(j)),
            batch,
        )

    def pack_right_lines(self, batch: Index) -> Panels:
        """Packs the right matrix with its columns along the depth: panels as of `right_lines`."""
        n, k, shape = self._n, self._k, self._product.shape
        buffer = self._right = self._right or self._scratch(self._tile.right, n * k)
        with self._builder.loop(n, "j") as j, self._builder.loops(shape.depth, "k") as depth:
            at = plus(times(j, k), linearize(depth, shape.depth))
            self._builder.store(buffer, (at,), self._product.rhs(batch, depth, self.column(j)))

        def panel(number: Expr) -> Panel:
            first, before = ending_inside(number, n, self._columns)
            return Panel(buffer, times(first, k), k, 1, before)

        return panel

    def _lines(
        self, lines: tuple[int, int], element: Callable[[Expr, Expr], Expr], batch: Index
    ) -> Panels | None:
        """`lines`: how many there are, and how many in a panel; `element`: of which line, where."""
        found = self._steps((lines[0], self._k), element, known=batch)
        if found is None or found[1][1] != 1:
            return None
        buffer, (step, _) = found

        def panel(number: Expr) -> Panel:
            first, before = ending_inside(number, *lines)
            return Panel(buffer, position_of(element(first, index(0))), step, 1, before)

        return panel

    def right_in_place(self, batch: Index) -> Panels | None:
        """The right matrix where it lies in memory in such panels, as weights do."""
        width, group = self._columns, self._group
        step, turns = width * group, self.depth // group

        def element(number: Expr, turn: Expr, j: Expr, n: Expr) -> Expr:
            """Element `n` of column `j` of panel `number` in group `turn` of the depth."""
            column = self.column(plus(times(number, width), j))
            return self._product.rhs(batch, self._depth(plus(times(turn, group), n)), column)

        # The last panel lies like those before it; what is behind its columns is no element.
        whole, inside = max(1, self._n // width), min(width, self._n)
        with self._builder.block(), self._builder.loop(whole, "jt") as jt:
            extents = turns, inside, group
            found = self._steps(extents, lambda k, j, n: element(jt, k, j, n), (jt, *batch))
        if found is None or found[1] != (step, group, 1 if group > 1 else 0):
            return None
        zero, buffer, noted = index(0), found[0], has_noted_panels(self._product.hero)
        if math.prod(buffer.dimensions) < -(-self._n // width) * self.depth * width:
            return None

        def panel(number: Expr) -> Panel:
            offset = position_of(element(number, zero, zero, zero))
            return Panel(buffer, offset, step, 1, noted=noted)

        return panel

    def finish(
        self,
        place: tuple[Index, Expr, Expr],
        computed: tuple[Buffer, Panel, Panel],
        kind: LoopKind = LoopKind.SERIAL,
        start: int | Expr = 0,
    ) -> None:
        """Hands the sums of a tile, which begin there, to the epilogue; `place`: which batch, row
        and column of tiles, `kind`: of the loop over columns."""
        builder, tile, work = self._builder, self._tile, self._product.work
        (batch, it, jt), (sums, left, right) = place, computed
        m, n, _ = self._product.shape.sizes
        top, first = times(it, tile.rows), times(jt, tile.columns)
        with builder.loop(remaining(work, m, top, tile.rows), "i") as i:
            row = self.row(plus(top, i))
            with builder.loop(remaining(work, n, first, tile.columns), "j", kind) as j:
                at = plus(times(plus(left.before, i), tile.columns), plus(right.before, j))
                at, column = plus(at, start), self.column(plus(first, j))
                total = converted(Load(sums, builder.simplify((at,))), self._product.type)
                self._product.finish(batch, row, column, total)

    def row(self, linear: Expr) -> Index:
        return delinearize(linear, self._product.shape.rows, self._builder.ranges)

    def column(self, linear: Expr) -> Index:
        return delinearize(linear, self._product.shape.columns, self._builder.ranges)

    def _depth(self, linear: Expr) -> Index:
        return delinearize(linear, self._product.shape.depth, self._builder.ranges)

    def _steps(
        self, extents: Sequence[int], element: Callable[..., Expr], known: Sequence[Expr]
    ) -> tuple[Buffer, tuple[int, ...]] | None:
        """The buffer of the elements at indices of these extents, and for each index how far apart
        those are where it differs by one; None where they are computed or the steps differ.
        `known`: what else the place may depend on."""
        with self._builder.block(), self._builder.loops(extents, "a") as at:
            return steps_along(self._builder, element(*at), at, known)

    @contextmanager
    def _missing(self, inside: Expr, size: int) -> Iterator[Expr]:
        """A loop over the places of a panel behind those that there are, the last one first: such a
        place is seen to be in the panel."""
        (missing,) = self._builder.simplify((apply("subtract", index(size), inside),))
        with self._builder.loop(missing, "rest") as rest:
            yield minus(index(size - 1), rest)

    def _runs(self, batch: Index, row: Index) -> tuple[list[int], int]:
        """Extents of loops over the depth, as few as there are where the row lies in memory, and
        how far apart elements of the last one are; 0: nobody knows."""
        depth = self._product.shape.depth
        found = self._steps(depth, lambda *k: self._product.lhs(batch, row, k), (*row, *batch))
        if found is None:
            return list(depth) or [1], 0
        axes = merged_axes(depth, found[1]) or [(1, 1)]
        return [extent for extent, _ in axes], axes[-1][1]

    @cached_property
    def _packs_columns(self) -> bool:
        """Whether neighbours in a column of a left panel are neighbours in memory."""
        if self._group > 1:
            return False
        product, builder = self._product, self._builder
        zeros = tuple(index(0) for _ in product.shape.depth)
        with product.looked_at() as (batch, *_), builder.loop(self._m, "i") as i:
            value = product.lhs(batch, self.row(i), zeros)
            _, steps = steps_along(builder, value, (i,), batch) or (None, ())
            if 1 in (stride_along(value, i), *steps):
                return True
        return self.has_lines and product.shape.rows[-1] % self._rows == 0

    @cached_property
    def has_lines(self) -> bool:
        """Whether elements of the left matrix that differ in the last dimension of the rows lie
        side by side."""
        if self._group > 1:
            return False
        with self._product.looked_at() as (batch, row, depth, _):
            return bool(row) and stride_along(self._product.lhs(batch, row, depth), row[-1]) == 1

    def _collides(self, step: int) -> bool:
        """Whether rows that far apart share few places in a first-level cache."""
        return step * self._tile.left.bytes % _COLLIDING == 0

    def _scratch(self, element_type: ElementType, size: int) -> Buffer:
        return self._product.work.new_scratch(element_type, (size,))


def ending_inside(number: Expr, total: int, size: int) -> tuple[Expr, Expr]:
    """The first line of a panel of `size` of the `total` lines, and how many are in the one before:
    the last panel ends with the last line."""
    first = times(number, size)
    if total % size == 0:
        return first, _ZERO
    last = index(total - size)
    before = apply("maximum", _ZERO, apply("subtract", first, last))
    return apply("minimum", first, last), before


def _from(panel: Panel, place: Expr, places: int) -> Panels:
    """Those of which this is one, from a place on."""
    size = panel.buffer.dimensions[0] // places
    return lambda at: replace(panel, offset=times(plus(place, at), size))


def _is_affine(expr: Expr) -> bool:
    return all(isinstance(term, Var) for term in affine(expr).terms)
