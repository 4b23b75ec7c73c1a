"""Which form of contraction a dot or convolution takes."""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.hlo.ir import Instruction
from ccodegen.lower.contract_loops import (
    ROWS_TOGETHER,
    batch_is_contiguous,
    columns_are_contiguous,
    contract_in_batch,
    contract_in_columns,
    contract_in_lanes,
    contract_plainly,
    depth_is_contiguous,
    shares_columns,
)
from ccodegen.lower.contract_tiles import contract_in_tiles, right_lies_in_panels
from ccodegen.lower.job import Work
from ccodegen.lower.product import Product
from ccodegen.ops.contraction import accumulator_type
from ccodegen.ops.register_tile import RegisterTile, register_tile

HEROES = ("dot", "convolution")

_LEAST_DEPTH_FOR_LANES = 8
_LEAST_COLUMNS = 4


def contract_plan(work: Work, hero: Instruction) -> None:
    """Tiles where packing pays; else vectors along what lies side by side in memory."""
    accumulator = accumulator_type(hero)
    product = Product(work, hero, accumulator, accumulator)
    tile = register_tile(hero, work.job.target)
    if tile is not None:
        tiled = Product(work, hero, tile.left, tile.right)
        if not _share_enough(product, tile) or right_lies_in_panels(tiled, tile):
            contract_in_tiles(tiled, tile)
            return
    _loops(product)(product)


def _share_enough(product: Product, tile: RegisterTile) -> bool:
    """Whether the rows are so few that all share what is read of the right matrix where it lies:
    to pack it takes longer then."""
    if product.shape.sizes[0] > ROWS_TOGETHER or tile.group > 1:
        return False
    return _loops(product) is contract_in_columns and shares_columns(product)


def _loops(product: Product) -> Callable[[Product], None]:
    """The best form without packing."""
    shape, work = product.shape, product.work
    if work.job.target.machine.vector_elements(product.type.bytes) == 1:
        return contract_plainly
    if shape.batch and shape.batch[-1] >= _LEAST_COLUMNS and batch_is_contiguous(product):
        return contract_in_batch
    many_columns = bool(shape.columns) and shape.columns[-1] >= _LEAST_COLUMNS
    if many_columns and columns_are_contiguous(product):
        return contract_in_columns
    if not work.job.strict and _pays_in_lanes(product):
        return contract_in_lanes
    return contract_plainly


def _pays_in_lanes(product: Product) -> bool:
    depth = product.shape.depth
    if not depth or depth[-1] < _LEAST_DEPTH_FOR_LANES or not product.type.is_float:
        return False
    return depth_is_contiguous(product)
