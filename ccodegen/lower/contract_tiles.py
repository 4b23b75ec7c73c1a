"""Contractions in register tiles: rows × columns of sums stay in registers over the whole depth.

Both matrices are read in panels as high or as wide as a tile: in place where they lie so in memory,
else packed. Of the two loops over tiles the outer one packs its operand a panel at a time, which
then is near; the inner one's is packed whole, before. The tile function adds along the depth in
order, one product after the other, for each sum: strict mode's order.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, Load, LoopKind
from ccodegen.lower.chunks import in_chunks
from ccodegen.lower.contract_notes import Notes
from ccodegen.lower.contract_panels import Packer, Panel, Panels
from ccodegen.lower.product import Product
from ccodegen.ops.register_tile import RegisterTile


def contract_in_tiles(product: Product, tile: RegisterTile) -> None:
    writer = _Tiles(product, tile)
    with product.work.builder.loops(product.shape.batch, "b", LoopKind.PARALLEL) as batch:
        writer.write(batch)


def right_lies_in_panels(product: Product, tile: RegisterTile) -> bool:
    """Whether the right matrix need not be packed."""
    builder = product.work.builder
    with builder.block(), builder.loops(product.shape.batch, "b") as batch:
        return Packer(product, tile).right_in_place(batch) is not None


class _Tiles:
    def __init__(self, product: Product, tile: RegisterTile) -> None:
        self._product, self._tile = product, tile
        self._builder = product.work.builder
        self._packer = Packer(product, tile)
        self._m, self._n, _ = product.shape.sizes
        self._notes = Notes(product.work, tile, self._packer.depth, self._m)

    def write(self, batch: Index) -> None:
        """The nest of one batch."""
        packer, notes = self._packer, self._notes
        rows, columns = -(-self._m // self._tile.rows), -(-self._n // self._tile.columns)
        left, right = packer.left_in_place(batch), packer.right_in_place(batch)
        if left is None and self._n <= self._m:
            near = right or packer.all(packer.right, batch, columns)
            near = notes.all(near, columns)
            with in_chunks(self._product.work, rows, "it") as (it, place, places):
                panel = notes.one(packer.left(batch, it, place, places), is_left=True)
                with self._builder.loop(columns, "jt") as jt:
                    self._compute(batch, (it, jt), panel, near(jt))
            return
        left = notes.all(left or packer.all(packer.left, batch, rows), rows, is_left=True)
        if right:
            with self._builder.loop(columns, "jt", LoopKind.PARALLEL) as jt:
                self._column(batch, jt, left, notes.one(right(jt)))
            return
        with in_chunks(self._product.work, columns, "jt") as (jt, place, places):
            self._column(batch, jt, left, notes.one(packer.right(batch, jt, place, places)))

    def _column(self, batch: Index, jt: Expr, left: Panels, panel: Panel) -> None:
        """Computes the tiles of one panel of the right matrix."""
        with self._builder.loop(-(-self._m // self._tile.rows), "it") as it:
            self._compute(batch, (it, jt), left(it), panel)

    def _compute(self, batch: Index, tile: tuple[Expr, Expr], left: Panel, right: Panel) -> None:
        """Computes one tile of sums and hands each to the epilogue."""
        sums = self._builder.local(self._tile.sums, (self._tile.rows * self._tile.columns,), "sums")
        self._builder.emit(self._call(sums, left, right))
        self._packer.finish((batch, *tile), (sums, left, right), LoopKind.VECTOR)

    def _call(self, sums: Buffer, left: Panel, right: Panel) -> CallC:
        """tile(sums, lhs, rhs, lhs offset, step per row, step along depth, rhs offset, depth), with
        the sum of the least exponents of pairs, or the excess of bytes and where it begins."""
        name, depth = self._tile.function("tile"), index(self._packer.depth)
        steps = (index(left.row_step), index(left.column_step))
        scalars = self._builder.simplify((left.offset, *steps, right.offset, depth))
        buffers: tuple[Buffer, ...] = (sums, left.buffer, right.buffer)
        if self._tile.adds_pairs and left.notes and right.notes:
            least = Load(left.notes, (left.note,)), Load(right.notes, (right.note,))
            scalars = (*scalars, apply("add", *least))
        elif right.notes:
            name = f"{name}_noted"
            buffers, scalars = (*buffers, right.notes), (*scalars, right.note)
        return CallC(name, f"{name}.h", buffers, scalars)
