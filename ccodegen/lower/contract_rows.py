"""Contractions of few rows or few columns whose matrices both lie along the depth in memory.

Some rows are multiplied with some columns at a time, vectors along the depth: each element is read
once or twice, and nothing is packed but a few columns that lie across. Under the window of a
convolution the left matrix lies in runs (see contract_runs.py). Sums of floats are not in strict
mode's order.
"""

from __future__ import annotations

import math

from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, CallC, Index, LoopKind
from ccodegen.lower.contract_lanes import (
    comes_from_memory,
    depth_is_contiguous,
    shares_lines,
)
from ccodegen.lower.contract_loops import rows_are_contiguous
from ccodegen.lower.contract_panels import Packer, Panel, Panels
from ccodegen.lower.contract_runs import RunTile, by_rows, left_runs
from ccodegen.lower.product import Product
from ccodegen.ops.contraction import contraction
from ccodegen.ops.lines import LEAST_VECTORS, MOST_LINES, prefers_lines
from ccodegen.ops.register_tile import LEAST_ROWS_TO_PACK_FOR, RegisterTile, register_tile
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_LEAST_SUMS = 4  # fewer would wait for each other
_MOST_ROWS = 24  # of long lines: for more it pays to pack the right matrix
_LONG = 8  # vectors
_SHORT = 5
_NEAR = 1 << 18  # bytes that a cache has ready
_ROWS_A_COLUMN = 4  # from which on packing may pay


@immutable
class RowTile:
    """Rows of a product, by rows of the result where they lie in runs, and columns that are
    multiplied at a time."""

    product: Product
    tile: RegisterTile
    runs: RunTile | None = None

    def left(self, packer: Packer, batch: Index) -> Panels | None:
        if self.runs is None:
            return packer.left_lines(batch)
        runs = self.runs
        return lambda number: runs.left(self.product, batch, number)

    def right(self, packer: Packer, batch: Index) -> Panels:
        return packer.right_lines(batch) or packer.pack_right_lines(batch)


def row_tile(product: Product) -> RowTile | None:
    """How many rows and columns are multiplied at a time; None where another form is better."""
    machine = product.work.job.target.machine
    m, n, k = product.shape.sizes
    lanes = machine.vector_elements(product.left_type.bytes)
    if lanes == 1 or k < LEAST_VECTORS * lanes or min(m, n) == 0:
        return None
    if min(m, n) > MOST_LINES and (m > _MOST_ROWS or k < _LONG * lanes):
        return None
    if product.left_type in (ElementType.U32, ElementType.BF16):  # there are no such functions
        return None
    if product.type.is_float and product.work.job.strict:
        return None
    if product.type.is_float and comes_from_memory(product):
        return None
    if n == 1 and rows_are_contiguous(product):  # as under a window: loops have vectors along them
        return None
    return _in_lines(product, lanes) or _in_runs(product, lanes)


def _in_lines(product: Product, lanes: int) -> RowTile | None:
    tile = _tile(product)
    if tile is None or (product.type.is_float and _is_better_otherwise(product, lanes)):
        return None
    builder = product.work.builder
    with builder.block(), builder.loops(product.shape.batch, "b") as batch:
        if Packer(product, tile).left_lines(batch) is None:
            return None
    return RowTile(product, tile) if _has_lines(product, tile) else None


def _is_better_otherwise(product: Product, lanes: int) -> bool:
    """Whether lines are so short that loops add them up sooner, or packing pays."""
    m, n, k = product.shape.sizes
    is_short = shares_lines(product) and k < _SHORT * lanes
    size = math.prod((*product.shape.batch, m, n, k)) * product.left_type.bytes
    is_near = min(m, n) > 1 or size <= _NEAR
    if is_short and is_near and depth_is_contiguous(product):
        return True
    job, is_narrow = product.work.job, 1 < n <= min(m // _ROWS_A_COLUMN, MOST_LINES)
    packs = is_narrow and register_tile(product.hero, job.target, job.strict) is not None
    return packs and not prefers_lines(product.hero, job.target, job.strict)


def _in_runs(product: Product, lanes: int) -> RowTile | None:
    """For few columns."""
    if len(product.shape.rows) < 2 or product.shape.sizes[1] > MOST_LINES:
        return None
    rows = by_rows(product)
    tile = _tile(rows)
    if tile is None:
        return None
    runs = left_runs(rows, tile)
    if runs is None or runs.step != 1 or runs.plane_step or runs.run < lanes:
        return None
    return RowTile(rows, tile, runs) if _has_lines(product, tile) else None


def _has_lines(product: Product, tile: RegisterTile) -> bool:
    """Whether the right matrix lies in lines, or is worth packing in such."""
    job, builder = product.work.job, product.work.builder
    with builder.block(), builder.loops(product.shape.batch, "b") as batch:
        if Packer(product, tile).right_lines(batch) is not None:
            return True
    is_tall = product.shape.sizes[0] >= LEAST_ROWS_TO_PACK_FOR
    return is_tall and prefers_lines(product.hero, job.target, job.strict)


def _tile(product: Product) -> RegisterTile | None:
    m, n, _ = product.shape.sizes
    sizes = _sizes(min(m, n), max(m, n), product.work.job.target.machine.vector_registers)
    if sizes[0] * sizes[1] < _LEAST_SUMS:
        return None
    return RegisterTile(*(sizes if m <= n else sizes[::-1]), product.left_type, product.right_type)


def _sizes(few: int, many: int, registers: int) -> tuple[int, int]:
    """Lines of the side with few and of the other: sums, lines and corrections fit registers."""
    narrow = -(-few // -(-few // 4))
    if narrow == 1:
        wide = 8 if registers >= 32 else 4
    else:
        wide = 4 if registers >= 32 or narrow == 2 else 2
    return narrow, min(wide, many)


def contract_in_rows(rows: RowTile) -> None:
    """The nest."""
    product, tile = rows.product, rows.tile
    builder = product.work.builder
    m, n, _ = product.shape.sizes
    packer = Packer(product, tile)
    counts = -(-m // tile.rows), -(-n // tile.columns)
    batches = len(contraction(product.hero).batch)
    with builder.loops(product.shape.batch[:batches], "b", LoopKind.PARALLEL) as before:
        right = rows.right(packer, before)
        outer, inner = (("jt", counts[1]), ("it", counts[0]))[:: 1 if m <= n else -1]
        with (
            builder.loops(product.shape.batch[batches:], "row", LoopKind.PARALLEL) as above,
            builder.loop(outer[1], outer[0], LoopKind.PARALLEL) as first,
            builder.loop(inner[1], inner[0]) as second,
        ):
            batch, (it, jt) = (*before, *above), (second, first) if m <= n else (first, second)
            left = rows.left(packer, batch)
            assert left is not None
            sums = _sums(rows, left(it), right(jt))
            packer.finish((batch, it, jt), (sums, left(it), right(jt)))


def _sums(rows: RowTile, left: Panel, right: Panel) -> Buffer:
    """By rows(sums, lhs, rhs, lhs offset, step per row, rhs offset, step per column, depth), and
    of runs their length and the step from one to the next."""
    product, tile = rows.product, rows.tile
    builder = product.work.builder
    sums = builder.local(tile.sums, (tile.rows * tile.columns,), "sums")
    name = tile.function("rows")
    if tile.left.is_float:
        name += f"x{product.work.job.target.machine.vector_elements(tile.left.bytes)}"
    sizes = [product.shape.sizes[2]]
    if rows.runs:
        name += "_runs"
        sizes += [rows.runs.run, rows.runs.run_step]
    offsets = left.offset, index(left.row_step), right.offset, index(right.row_step)
    scalars = builder.simplify((*offsets, *map(index, sizes)))
    builder.emit(CallC(name, f"{name}.h", (sums, left.buffer, right.buffer), scalars))
    return sums
