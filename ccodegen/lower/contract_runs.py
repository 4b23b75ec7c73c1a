"""Convolutions whose left matrix is read in place: along the depth it lies in runs.

Under a window of 3 × 3 over images whose features lie side by side, the depth of a place is three
runs of three pixels; of 3 × 3 × 3 over volumes, three planes of such. Places in one row of the
image are a constant step apart, those of different rows are not, so that each row of the result is
a product by itself. In the gradient of a filter the runs are those of places, and a row's elements
are features.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, CallC, Expr, Index, Load, LoopKind
from ccodegen.loop.linear import merged_axes
from ccodegen.lower.contract_panels import Packer, Panel, Panels, ending_inside
from ccodegen.lower.contract_tiles import PAGE, right_lies_in_panels
from ccodegen.lower.product import Product
from ccodegen.lower.strides import position_of, steps_along
from ccodegen.ops.contraction import Contraction
from ccodegen.ops.register_tile import RegisterTile, evenly
from ccodegen.support.immutable import immutable

_ZERO = index(0)
_NEAR = 1 << 19  # bytes: what is read anew for each row should lie in a second-level cache


@immutable
class RunTile:
    """A register tile, and of the left matrix how far apart rows are, elements of a run, runs and
    planes of them; how long a run is, and how many there are in a plane. `plane_step`: 0 where all
    are in one."""

    tile: RegisterTile
    row_step: int
    step: int
    run: int
    run_step: int
    runs: int
    plane_step: int

    def left(self, product: Product, batch: Index, number: Expr) -> Panel:
        """The panel of this number in a row of a product by rows."""
        (width,) = product.shape.rows
        first, before = ending_inside(number, width, self.tile.rows)
        element = product.lhs(batch, (first,), tuple(index(0) for _ in product.shape.depth))
        assert isinstance(element, Load)
        return Panel(element.buffer, position_of(element), self.row_step, self.step, before)


@immutable
class _RowByRow(Product):
    """The product with all dimensions of rows but the last among those of the batch."""

    whole: Product

    @cached_property
    def shape(self) -> Contraction:
        return _row_by_row(self.whole.shape)

    def finish(self, batch: Index, row: Index, column: Index, total: Expr) -> None:
        count = len(self.whole.shape.batch)
        self.whole.finish(batch[:count], (*batch[count:], *row), column, total)


def _row_by_row(shape: Contraction) -> Contraction:
    count = len(shape.batch)

    def joined(batch: Index, row: Index) -> tuple[Index, Index]:
        return batch[:count], (*batch[count:], *row)

    def position(at: Index) -> tuple[Index, Index, Index]:
        batch, row, column = shape.position(at)
        return (*batch, *row[:-1]), row[-1:], column

    return replace(
        shape,
        batch=(*shape.batch, *shape.rows[:-1]),
        rows=shape.rows[-1:],
        lhs_index=lambda batch, row, depth: shape.lhs_index(*joined(batch, row), depth),
        rhs_index=lambda batch, depth, column: shape.rhs_index(batch[:count], depth, column),
        output_index=lambda batch, row, column: shape.output_index(*joined(batch, row), column),
        position=position,
    )


def run_tile(product: Product, tile: RegisterTile) -> RunTile | None:
    """What a product is computed by that has this register tile; None where another form is better,
    as one of the matrices had to be packed or was read from far anew for each row."""
    _, columns, depth = product.shape.sizes
    is_near = columns * depth * tile.right.bytes <= _NEAR
    if tile.group > 1 or len(product.shape.rows) < 2 or not is_near:
        return None
    target = product.work.job.target
    most, _ = target.tile_size(tile.left.bytes)
    registers = -(-tile.columns // target.machine.vector_elements(tile.left.bytes))
    width = product.shape.rows[-1]
    lower = replace(tile, rows=evenly(width, most, registers))
    if 2 * lower.rows < tile.rows:
        return None
    fills_tiles = lower.rows == tile.rows and width % tile.rows == 0
    if not fills_tiles and _lies_in_steps(product, tile):
        return None
    found = left_runs(by_rows(product), lower)
    return None if found is None or _collides(found) else found


def _collides(found: RunTile) -> bool:
    """Whether rows that are read together share a few places in a first-level cache."""
    return found.row_step * found.tile.left.bytes % PAGE == 0


def _lies_in_steps(product: Product, tile: RegisterTile) -> bool:
    """Whether all rows are a constant step apart, those of different rows of the image too."""
    with product.looked_at() as (batch, _, _, _):
        return Packer(product, tile).left_in_place(batch) is not None


def by_rows(product: Product) -> Product:
    """The product of each row of the result by itself."""
    types = product.left_type, product.right_type
    return _RowByRow(product.work, product.hero, *types, product)


def left_runs(product: Product, tile: RegisterTile) -> RunTile | None:
    """How the left matrix lies in memory; None where it is computed, or in more than planes of
    runs."""
    with product.looked_at() as (batch, row, depth, _):
        value = product.lhs(batch, row, depth)
        found = steps_along(product.work.builder, value, (*row, *depth), batch)
    if found is None:
        return None
    row_step, *steps = found[1]
    runs = merged_axes(product.shape.depth, steps)
    if len(runs) > 3:
        return None
    (_, plane_step), (count, run_step), (run, step) = ((1, 0), (1, 0), (1, 0), *runs)[-3:]
    return RunTile(tile, row_step, step, run, run_step, count, plane_step)


def contract_in_runs(product: Product, runs: RunTile) -> None:
    """For each row of the result: panels of the right matrix, with each the places of the row, the
    last of which end with it. Threads rather share rows and places than batches and panels."""
    batches, builder = product.shape.batch, product.work.builder
    if not right_lies_in_panels(product, runs.tile):
        with builder.loops(batches, "b") as batch:
            write_in_runs(product, runs, batch)
        return
    rows, tile = by_rows(product), runs.tile
    packer, shape = Packer(rows, tile), rows.shape
    width, columns, depth = shape.sizes
    weights = columns * depth * tile.right.bytes
    order = -1 if product.shares_rows(0, weights, is_packed=False) else 1
    outer, inner = (batches, shape.batch[len(batches) :])[::order]
    first, second = (("jt", -(-columns // tile.columns)), ("it", -(-width // tile.rows)))[::order]
    with (
        builder.loops(outer, "b", LoopKind.PARALLEL) as before,
        builder.loops(inner, "b", LoopKind.PARALLEL) as after,
        builder.loop(first[1], first[0], LoopKind.PARALLEL) as one,
        builder.loop(second[1], second[0], LoopKind.PARALLEL) as other,
    ):
        (number, above), (jt, it) = (before, after)[::order], (one, other)[::order]
        batch = (*number, *above)
        right = packer.right_in_place(batch)
        assert right is not None
        _compute(rows, runs, (batch, it, jt), right)


def write_in_runs(product: Product, runs: RunTile, batch: Index) -> None:
    """The nest of one batch, whose right matrix is packed where it does not lie in panels."""
    rows, builder, tile = by_rows(product), product.work.builder, runs.tile
    width, columns, _ = rows.shape.sizes
    panels, packer = -(-columns // tile.columns), Packer(product, tile)
    right = packer.right_in_place(batch)
    right = right or packer.rights(batch, (_ZERO, panels), _ZERO, panels, LoopKind.PARALLEL)
    with (
        builder.loops(product.shape.rows[:-1], "row", LoopKind.PARALLEL) as above,
        builder.loop(-(-width // tile.rows), "it", LoopKind.PARALLEL) as it,
        builder.loop(panels, "jt") as jt,
    ):
        _compute(rows, runs, ((*batch, *above), it, jt), right)


def _compute(
    product: Product, runs: RunTile, place: tuple[Index, Expr, Expr], right: Panels
) -> None:
    """The tile at a place: which batch, row and column of tiles."""
    batch, it, jt = place
    left, panel = runs.left(product, batch, it), right(jt)
    sums = _sums(product, runs, left, panel)
    Packer(product, runs.tile).finish(place, (sums, left, panel), LoopKind.VECTOR)


def _sums(product: Product, runs: RunTile, left: Panel, right: Panel) -> Buffer:
    """By tile(sums, lhs, rhs, lhs offset, step per row, step in a run, rhs offset, depth, length of
    a run, step from run to run), and of planes how many runs are in one and the step to the next
    one."""
    builder, tile = product.work.builder, runs.tile
    sums = builder.local(tile.sums, (tile.rows * tile.columns,), "sums")
    name = f"{tile.function('tile')}_{'planes' if runs.plane_step else 'runs'}"
    sizes = [product.shape.sizes[2], runs.run, runs.run_step]
    sizes += [runs.runs, runs.plane_step] if runs.plane_step else []
    steps = map(index, (left.row_step, left.column_step))
    scalars = builder.simplify((left.offset, *steps, right.offset, *map(index, sizes)))
    builder.emit(CallC(name, f"{name}.h", (sums, left.buffer, right.buffer), scalars))
    return sums
