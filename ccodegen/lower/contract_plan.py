"""Which form of contraction a dot or convolution takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.ir import Apply, Expr, Load
from ccodegen.lower.contract_lanes import contract_in_lanes, depth_is_contiguous, shares_lines
from ccodegen.lower.contract_loops import (
    ROWS_TOGETHER,
    batch_is_contiguous,
    columns_are_contiguous,
    contract_along_rows,
    contract_in_batch,
    contract_in_columns,
    contract_plainly,
    rows_are_contiguous,
    shares_columns,
)
from ccodegen.lower.contract_parts import (
    contract_batch_in_parts,
    contract_in_parts,
    is_deep,
    is_deep_in_batch,
)
from ccodegen.lower.contract_rows import contract_in_rows, row_tile
from ccodegen.lower.contract_runs import contract_in_runs, run_tile
from ccodegen.lower.contract_tiles import (
    contract_in_tiles,
    right_lies_in_panels,
    with_rows_apart,
    with_whole_lines,
)
from ccodegen.lower.contract_windows import contract_in_windows, window_tile
from ccodegen.lower.frame import fill_edges, is_framed
from ccodegen.lower.job import Work
from ccodegen.lower.product import Product
from ccodegen.ops.contraction import accumulator_type
from ccodegen.ops.lines import pays_in_lines
from ccodegen.ops.register_tile import (
    LEAST_ROWS_TO_PACK_FOR,
    RegisterTile,
    panel_types,
    register_tile,
)
from ccodegen.support.decisions import decided

HEROES = ("dot", "convolution")

_LEAST_DEPTH_FOR_LANES = 8
_LEAST_COLUMNS = 4
_LEAST_DEPTH_ALONG_ROWS = 28  # of fewer, several vectors of rows are under way at once anyway
_LEAST_WORK_OF_SCALARS = 1 << 9  # multiplications that take longer one by one than to pack for
_LEAST_WORK_OF_ROWS = 5 << 10  # as compilers unroll less, and find vectors along the rows
_MOST_ROWS_IN_PLACE = 24  # of floats, that share what is read some at a time


def contract_plan(work: Work, hero: Instruction) -> None:
    """Tiles where packing pays; else vectors along what lies side by side in memory."""
    for output in work.job.outputs:
        if is_framed(work, output):
            fill_edges(work, output)
    types = panel_types(hero, work.job.target, work.job.strict)
    if types is None or not _contract_narrow(Product(work, hero, *types)):
        product = _widened(work, hero)
        _tell(product, "in loops", "packing does not pay")
        _loops(product)(product)


def _widened(work: Work, hero: Instruction) -> Product:
    """With elements of the accumulator's type."""
    accumulator = accumulator_type(hero)
    return Product(work, hero, accumulator, accumulator)


def _contract_narrow(product: Product) -> bool:
    """Contracts by a function over elements as narrow as they are, if one is best."""
    rows = row_tile(product)
    if rows is not None:
        form = f"{rows.tile.rows} × {rows.tile.columns} lines at a time"
        _tell(product, form, "they are few and long")
        contract_in_rows(rows)
        return True
    if _pays_in_lines(product):
        return False
    tile = _tile(product)
    if tile is None or not _pays_in_tiles(product, tile):
        return False
    runs = run_tile(product, tile)
    if runs is not None:
        _tell(product, "in register tiles", "the left side is read where it lies")
        contract_in_runs(product, runs)
    else:
        tile = with_whole_lines(product, with_rows_apart(product, tile))
        form = f"in register tiles of {tile.rows} × {tile.columns}"
        if is_deep(product, tile):
            _tell(product, f"{form}, in parts", "packing pays, and panels are long")
            contract_in_parts(product, tile)
        else:
            _tell(product, form, "packing pays")
            contract_in_tiles(product, tile)
    return True


def _tile(product: Product) -> RegisterTile | None:
    """Of small matrices only where no loop over them is one of vectors."""
    job = product.work.job
    tile = register_tile(product.hero, job.target, job.strict)
    widened = _widened(product.work, product.hero)
    if tile is None and _loops(widened) is contract_plainly:
        least = _LEAST_WORK_OF_ROWS if rows_are_contiguous(widened) else _LEAST_WORK_OF_SCALARS
        tile = register_tile(product.hero, job.target, job.strict, least)
    return tile


def _tell(product: Product, form: str, why: str) -> None:
    m, n, k = product.shape.sizes
    decided(product.hero.name, form, f"{m} × {n} sums of {k} products: {why}")


def _pays_in_tiles(product: Product, tile: RegisterTile) -> bool:
    """Whether the right matrix lies in panels, or to pack it takes no longer than to read it where
    it lies: it does for so few rows that share what is read."""
    rows = product.shape.sizes[0]
    if right_lies_in_panels(product, tile):
        return True
    if rows < LEAST_ROWS_TO_PACK_FOR:
        return False
    widened = _widened(product.work, product.hero)
    if rows > (_MOST_ROWS_IN_PLACE if _is_plain(widened) else ROWS_TOGETHER):
        return True
    shared = _loops(widened) is contract_in_columns and shares_columns(widened)
    return tile.group > 1 or not shared


def _pays_in_lines(product: Product) -> bool:
    """Whether it is better to read few rows or columns where they lie than to pack the others: all
    along the depth, and as wide as their sums or converted to that."""
    widened = _widened(product.work, product.hero)
    is_few = product.left_type.bytes == widened.left_type.bytes and _are_few(widened)
    return is_few and _is_read(widened) and _loops(widened) is contract_in_lanes


def _are_few(product: Product) -> bool:
    m, n, k = product.shape.sizes
    return shares_lines(product) and pays_in_lines(min(m, n), k, k / product.vector_elements)


def _is_plain(product: Product) -> bool:
    """Whether both matrices are floats that are read as they lie in memory: what is computed of an
    element is computed anew for all that need it."""
    return product.type.is_float and all(isinstance(e, Load) for e in _elements(product))


def _is_read(product: Product) -> bool:
    """Whether both matrices are read from memory, and but converted."""
    return all(isinstance(_unconverted(e), Load) for e in _elements(product))


def _elements(product: Product) -> tuple[Expr, Expr]:
    """An element of each matrix."""
    with product.looked_at() as (batch, row, depth, column):
        return product.lhs(batch, row, depth), product.rhs(batch, depth, column)


def _unconverted(value: Expr) -> Expr:
    while isinstance(value, Apply) and value.operator == "convert":
        (value,) = value.arguments
    return value


def _loops(product: Product) -> Callable[[Product], None]:
    """The best form without packing."""
    shape = product.shape
    if product.vector_elements == 1:
        return contract_plainly
    if shape.batch and shape.batch[-1] >= _LEAST_COLUMNS and batch_is_contiguous(product):
        window = window_tile(product)
        if window:
            return partial(contract_in_windows, tile=window)
        return contract_batch_in_parts if is_deep_in_batch(product) else contract_in_batch
    many_columns = bool(shape.columns) and shape.columns[-1] >= _LEAST_COLUMNS
    if many_columns and columns_are_contiguous(product):
        return contract_in_columns
    if _pays_in_lanes(product):
        return contract_in_lanes
    return contract_along_rows if _pays_along_rows(product) else contract_plainly


def _pays_along_rows(product: Product) -> bool:
    """Whether one column is added up for blocks of rows: compilers make vectors of rows that lie
    side by side too, but of one at a time, which waits for each of its additions."""
    _, n, k = product.shape.sizes
    is_long = n == 1 and k >= _LEAST_DEPTH_ALONG_ROWS
    return is_long and rows_are_contiguous(product) and product.shape.rows[-1] >= _LEAST_COLUMNS


def _pays_in_lanes(product: Product) -> bool:
    """Whether accumulators along the depth do: of integers compilers make as good ones, but for
    sums of few columns of words."""
    depth, kind = product.shape.depth, product.type
    if not depth or depth[-1] < _LEAST_DEPTH_FOR_LANES:
        return False
    if kind.is_float or kind.is_complex:
        return not product.work.job.strict and depth_is_contiguous(product)
    m, n, _ = product.shape.sizes
    is_wide = product.hero.operands[0].array_shape.element_type.bytes == kind.bytes
    return is_wide and m > n > 1 and _are_few(product) and depth_is_contiguous(product)
