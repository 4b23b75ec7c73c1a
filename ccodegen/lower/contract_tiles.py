"""Contractions in register tiles: rows × columns of sums stay in registers over the whole depth.

Both matrices are read in panels as high or as wide as a tile: in place where they lie so in memory
and come in time, else packed. Of the two loops over tiles the outer one packs its operand a panel
at a time, which then is near; the inner one's is packed whole, before. Where no near cache keeps
all of that, the outer loop takes some panels at a time, and the inner one's are read once for all
of these. The tile function adds along the depth in order, one product after the other, for each
sum: strict mode's order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ccodegen.loop.builder import apply, index
from ccodegen.loop.cost import CACHE_LINE
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import linearize
from ccodegen.lower.chunks import in_chunks, most_chunks, remaining
from ccodegen.lower.contract_matrix import MatrixTiles
from ccodegen.lower.contract_notes import Notes
from ccodegen.lower.contract_panels import Group, Pack, Packer, Panel, Panels
from ccodegen.lower.product import Product
from ccodegen.ops.index import plus, times
from ccodegen.ops.register_tile import RegisterTile, evenly, has_panels

_ZERO = index(0)
_NEAR = 1 << 19  # bytes that a second-level cache keeps while others pass
_NEAR_REGISTERS = 1 << 20  # likewise, of processors with matrix registers
_FAR = 2048  # bytes between lines of which a cache's prefetching makes no run
PAGE = 4096  # bytes: rows so far apart, or a multiple of that, share places of a cache
_LONG_ROW = 3 * PAGE // 4  # bytes of a row of the result that is mostly on a page of its own
_MANY_PAGES = 512
_OFTEN, _FEW = 8, 2  # tiles beside each other
_ROWS_BEYOND = 2  # what a cache keeps there, that the next one delivers in time
_MOST_WORK_OF_A_SHARED_BATCH = 1 << 22  # multiplications: some ten times what sharing them takes


def contract_in_tiles(product: Product, tile: RegisterTile) -> None:
    work, sizes, tiles = product.work, product.shape.batch, _Tiles(product, tile)
    if tiles.shares_rows_of_all:
        tiles.write_all()
        return
    shared = _shared_dimension(product)
    if shared is None:
        with work.builder.loops(sizes, "b", LoopKind.PARALLEL) as batch:
            tiles.write(batch)
        return
    others = sizes[:shared] + sizes[shared + 1 :]
    with (
        in_chunks(work, sizes[shared], "b") as (number, place, places),
        work.builder.loops(others, "b") as rest,
    ):
        batch = (*rest[:shared], number, *rest[shared:])
        _Tiles(product, tile, place, places).write(batch)


def write_tiles(product: Product, tile: RegisterTile, batch: Index) -> None:
    """Those of one batch."""
    _Tiles(product, tile).write(batch)


def with_rows_apart(product: Product, tile: RegisterTile) -> RegisterTile:
    """The tile, less high where it reads more rows of the left matrix than a first-level cache
    keeps of what lies so far apart: each would be fetched anew for each element."""
    most = product.work.job.target.machine.cache_bytes // PAGE + _ROWS_BEYOND
    if tile.matrix or tile.rows <= most:
        return tile
    with product.looked_at() as (batch, row, _, _):
        panels = Packer(product, tile).left_in_place(batch)
        panel = panels(linearize(row, product.shape.rows)) if panels else None
    if panel is None or panel.row_step * tile.left.bytes % PAGE:
        return tile
    return replace(tile, rows=evenly(product.shape.sizes[0], most))


def with_whole_lines(product: Product, tile: RegisterTile) -> RegisterTile:
    """The tile, less high where the left matrix has lines of rows that lie side by side, which
    panels else straddle: its columns are copied as vectors."""
    lines, most = product.shape.rows, tile.rows
    if len(lines) < 2 or lines[-1] % most == 0 or not Packer(product, tile).has_lines:
        return tile
    divisors = (n for n in range(most, -(-most // 2) - 1, -1) if lines[-1] % n == 0)
    return replace(tile, rows=next(divisors, most))


def _shared_dimension(product: Product) -> int | None:
    """The dimension of batches that threads share where a batch is too small to be shared: each
    packs into memory of its own."""
    threads, sizes = product.work.job.target.machine.threads, product.shape.batch
    if threads == 1 or not sizes or math.prod(product.shape.sizes) > _MOST_WORK_OF_A_SHARED_BATCH:
        return None
    longest = max(range(len(sizes)), key=sizes.__getitem__)
    return longest if sizes[longest] >= 2 * threads else None


def right_lies_in_panels(product: Product, tile: RegisterTile) -> bool:
    """Whether the right matrix need not be packed."""
    builder = product.work.builder
    with builder.block(), builder.loops(product.shape.batch, "b") as batch:
        return Packer(product, tile).right_in_place(batch) is not None


class _Tiles:
    """`place`: of this batch's memory, of so many `places`, where threads share batches."""

    def __init__(
        self, product: Product, tile: RegisterTile, place: Expr = _ZERO, places: int = 1
    ) -> None:
        self._product, self._tile = product, tile
        self._place, self._places = place, places
        self._builder = product.work.builder
        self._packer = Packer(product, tile)
        self._m, self._n, _ = product.shape.sizes
        self._rows, self._columns = -(-self._m // tile.rows), -(-self._n // tile.columns)
        self._notes = Notes(product.work, tile, self._packer.depth, self._m)

    def write(self, batch: Index) -> None:
        """The nest of one batch."""
        packer, rows, columns = self._packer, self._rows, self._columns
        left, right = packer.left_in_place(batch), packer.right_in_place(batch)
        if left and self._is_far(left(_ZERO)):
            left = None
        if self._shares_rows(right is None) if left else self._packs_left_at_a_time:
            right = right or self._all(packer.rights, batch, columns)
            right = self._all_noted(right, columns)
            strip = packer.lefts_of_a_strip if left is None else 1
            together = self._together(rows, self._left_bytes, columns * self._right_bytes, strip)
            if left:
                groups = self._in_place(left, rows, together)
            else:
                groups = self._packed(packer.lefts, batch, rows, together)
            with groups as group:
                self._by_columns(batch, group, right)
            return
        if left and right and self._takes_two_panels:
            self._by_two_panels(batch, left(_ZERO), right)
            return
        left = left or self._all(packer.lefts, batch, rows)
        left = self._all_noted(left, rows, is_left=True)
        strip = packer.rights_of_a_strip if right is None else 1
        together = self._together(columns, self._right_bytes, rows * self._left_bytes, strip)
        if right:
            groups = self._in_place(right, columns, together)
        else:
            groups = self._packed(packer.rights, batch, columns, together)
        with groups as group:
            self._by_rows(batch, left, group)

    @property
    def shares_rows_of_all(self) -> bool:
        """Whether threads share the rows and each does those of all batches: where they are
        multiplied by weights, as other kernels around do."""
        sizes, tile = self._product.shape.batch, self._tile
        if not sizes or not has_panels(self._product.hero):
            return False
        if not tile.left.is_float or tile.adds_pairs:  # whose panels have notes
            return False
        if not self._shares_rows(is_packed=False):
            return False
        with self._builder.block(), self._builder.loops(sizes, "b") as batch:
            left, right = self._packer.left_in_place(batch), self._packer.right_in_place(batch)
        if left is None or right is None:
            return False
        return not self._is_far(left(_ZERO))

    def write_all(self) -> None:
        """The nests of all batches, for some rows after the other."""
        sizes, packer = self._product.shape.batch, self._packer
        weights = math.prod(sizes) * self._columns * self._right_bytes
        together = self._together(self._rows, self._left_bytes, weights)
        with (
            self._groups(self._rows, together) as (first, inside),
            self._builder.loops(sizes, "b", LoopKind.PARALLEL) as batch,
        ):
            left, right = packer.left_in_place(batch), packer.right_in_place(batch)
            assert left is not None and right is not None
            group = Group(first, inside, together, lambda n: left(plus(first, n)))
            self._by_columns(batch, group, right)

    @property
    def _left_bytes(self) -> int:
        """Of a panel of the left matrix."""
        return self._tile.rows * self._packer.depth * self._tile.left.bytes

    @property
    def _right_bytes(self) -> int:
        return self._tile.columns * self._packer.depth * self._tile.right.bytes

    def _is_far(self, left: Panel) -> bool:
        """Whether to pack the left matrix pays although it lies in steps: the first cache does not
        keep a panel of it, and narrow tiles read it so often that it does not come in time; or each
        column of a panel is a line by itself, and these are too many for that cache, share places
        of it, or are read often, each from another page."""
        step, is_used_often = left.column_step * self._tile.left.bytes, self._columns >= _OFTEN
        is_in_lines, is_apart = left.row_step == 1, step >= _FAR
        if is_in_lines and self._packer.depth * CACHE_LINE > self._nearest:
            return is_apart or self._columns > _FEW
        if is_in_lines and is_apart:
            return is_used_often or (step % PAGE == 0 and self._columns > 1)
        return self._packer.is_narrow and self._left_bytes > self._nearest and is_used_often

    @property
    def _nearest(self) -> int:
        """Bytes that a first-level cache keeps while others pass."""
        return self._product.work.job.target.machine.cache_bytes // 2

    @property
    def _packs_left_at_a_time(self) -> bool:
        """Whether each panel of the left matrix is used up when it is packed, and read from near.
        Matrix registers, which are faster than caches, read the right one from near as well."""
        near = not self._tile.matrix or self._columns * self._right_bytes <= _NEAR_REGISTERS
        return self._n <= self._m and near

    def _shares_rows(self, is_packed: bool) -> bool:
        """Whether threads share the rows. They need all of the right matrix, packed if it has to
        be."""
        left, right = self._rows * self._left_bytes, self._columns * self._right_bytes
        is_near = not is_packed or right <= _NEAR
        return is_near and self._product.shares_rows(left, right, is_packed)

    @property
    def _takes_two_panels(self) -> bool:
        """Whether the right matrix, which is read once, comes faster in two panels at a time: wide
        vectors take one as fast as memory gives it."""
        is_row = self._m == 1 == self._tile.group and self._columns > 1
        return is_row and not self._product.work.job.target.machine.has_wide_vectors

    @property
    def _result_is_wide(self) -> bool:
        """Whether to write it panel by panel asks for more pages than a processor knows the places
        of; in rows of tiles it asks for few at a time."""
        row = self._n * self._product.hero.array_shape.element_type.bytes
        return row >= _LONG_ROW and self._m >= _MANY_PAGES

    def _together(self, count: int, size: int, others: int, strip: int = 1) -> int:
        """How many of `count` panels of `size` bytes are near at a time, where the panels of the
        other matrix, of `others` bytes in all, are read once for all of these; whole strips. Where
        a first cache keeps all, rows of the result are not written in parts."""
        chunks = most_chunks(self._product.work)
        if self._tile.matrix:  # which multiplies faster than the other matrix is read for each
            chunks = -(-chunks // 2)
        most = max(1, min(_NEAR // max(1, size), count // chunks))
        if count * size <= self._nearest:
            return most
        if (others <= _NEAR and not self._result_is_wide) or most < strip:
            return min(most, strip)
        strips = -(-count // strip)
        return -(-strips // -(-strips // (most // strip))) * strip

    def _all(self, pack: Pack, batch: Index, count: int) -> Panels:
        """Packs all panels of a matrix."""
        place, places = times(self._place, count), self._places * count
        return pack(batch, (_ZERO, count), place, places, LoopKind.PARALLEL)

    def _all_noted(self, panels: Panels, count: int, is_left: bool = False) -> Panels:
        return self._notes.all(panels, count, self._place, self._places, is_left)

    @contextmanager
    def _in_place(self, panels: Panels, count: int, together: int) -> Iterator[Group]:
        """A loop over groups of panels that lie in memory."""
        with self._groups(count, together) as (first, inside):
            yield Group(first, inside, together, lambda n: panels(plus(first, n)))

    @contextmanager
    def _groups(self, count: int, together: int) -> Iterator[tuple[Expr, Expr | int]]:
        """A loop over groups: the first panel of each, and how many it has."""
        with self._builder.loop(-(-count // together), "group", LoopKind.PARALLEL) as number:
            yield self._inside(number, count, together)

    @contextmanager
    def _packed(self, pack: Pack, batch: Index, count: int, together: int) -> Iterator[Group]:
        """A loop over groups of panels, which packs them."""
        groups = -(-count // together)
        with self._groups_in_chunks(groups) as (number, place, places):
            first, inside = self._inside(number, count, together)
            at = times(place, together)
            panels = pack(batch, (first, inside), at, places * together, LoopKind.SERIAL)
            yield Group(first, inside, together, panels)

    @contextmanager
    def _groups_in_chunks(self, groups: int) -> Iterator[tuple[Expr, Expr, int]]:
        """A loop over groups: its number, and which memory of how much it has."""
        if self._places > 1:
            with self._builder.loop(groups, "group") as number:
                yield number, self._place, self._places
            return
        with in_chunks(self._product.work, groups, "group") as chunk:
            yield chunk

    def _inside(self, group: Expr, count: int, together: int) -> tuple[Expr, Expr | int]:
        """The first panel of a group, and how many it has."""
        first = times(group, together)
        if count % together == 0:
            return first, together
        return first, remaining(self._product.work, count, first, together)

    def _by_rows(self, batch: Index, left: Panels, right: Group) -> None:
        """Computes the tiles of a group of columns."""
        builder, panels = self._builder, self._notes.some(right.panels, right.count, right.most)
        if self._tile.matrix:
            lines = Group(_ZERO, self._rows, self._rows, left)
            self._in_registers(batch, lines, replace(right, panels=panels))
            return
        with builder.loop(self._rows, "it") as it, builder.loop(right.count, "jt") as jt:
            self._compute(batch, (it, plus(right.first, jt)), left(it), panels(jt))

    def _by_columns(self, batch: Index, left: Group, right: Panels) -> None:
        """Computes the tiles of a group of rows."""
        builder = self._builder
        panels = self._notes.some(left.panels, left.count, left.most, is_left=True)
        if self._tile.matrix:
            columns = Group(_ZERO, self._columns, self._columns, right)
            self._in_registers(batch, replace(left, panels=panels), columns)
            return
        with builder.loop(self._columns, "jt") as jt, builder.loop(left.count, "it") as it:
            self._compute(batch, (plus(left.first, it), jt), panels(it), right(jt))

    def _in_registers(self, batch: Index, left: Group, right: Group) -> None:
        """Computes the tiles of a group of rows and one of columns in matrix registers."""
        tiles = MatrixTiles(self._product, self._packer, self._tile)
        with self._builder.loop(left.count, "it") as it:
            tiles.compute(batch, plus(left.first, it), left.panels(it), right)

    def _by_two_panels(self, batch: Index, left: Panel, right: Panels) -> None:
        """Computes the only row, two panels of columns at a time."""
        builder, width = self._builder, self._tile.columns
        name = f"{replace(self._tile, columns=2 * width).function('tile')}_apart"
        with builder.loop(self._columns // 2, "pair", LoopKind.PARALLEL) as pair:
            sums = builder.local(self._tile.sums, (2 * width,), "sums")
            numbers = [plus(times(pair, 2), n) for n in range(2)]
            panels = [right(number) for number in numbers]
            step = apply("subtract", panels[1].offset, panels[0].offset)
            call = self._call(sums, left, panels[0])
            scalars = builder.simplify((*call.scalars, step))
            builder.emit(replace(call, function=name, header=f"{name}.h", scalars=scalars))
            for number, panel, start in zip(numbers, panels, (0, width), strict=True):
                place, computed = (batch, _ZERO, number), (sums, left, panel)
                self._packer.finish(place, computed, LoopKind.VECTOR, start)
        if self._columns % 2:
            last = index(self._columns - 1)
            self._compute(batch, (_ZERO, last), left, right(last))

    def _compute(self, batch: Index, tile: tuple[Expr, Expr], left: Panel, right: Panel) -> None:
        """Computes one tile of sums and hands each to the epilogue, if there is one."""
        own = self._tile
        sums = self._builder.local(own.sums, (own.rows * own.columns,), "sums")
        self._builder.emit(self._call(sums, left, right))
        self._packer.finish((batch, *tile), (sums, left, right), LoopKind.VECTOR)

    def _call(self, sums: Buffer, left: Panel, right: Panel) -> CallC:
        """tile(sums, lhs, rhs, lhs offset, step per row, step along depth, rhs offset, depth), with
        the sum of the least exponents of pairs, or the excess of bytes and where it begins."""
        name, depth = self._tile.function("tile"), index(self._packer.depth)
        steps = (index(left.row_step), index(left.column_step))
        scalars: tuple[Expr, ...] = (left.offset, *steps, right.offset, depth)
        scalars = self._builder.simplify(scalars)
        buffers: tuple[Buffer, ...] = (sums, left.buffer, right.buffer)
        if self._tile.adds_pairs and left.notes and right.notes:
            least = Load(left.notes, (left.note,)), Load(right.notes, (right.note,))
            scalars = (*scalars, apply("add", *least))
        elif right.notes:
            name = f"{name}_noted"
            buffers, scalars = (*buffers, right.notes), (*scalars, right.note)
        return CallC(name, f"{name}.h", buffers, scalars)
