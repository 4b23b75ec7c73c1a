"""Which form of contraction a dot or convolution takes."""

from __future__ import annotations

from ccodegen.hlo.ir import Instruction
from ccodegen.lower.contract_loops import (
    batch_is_contiguous,
    columns_are_contiguous,
    contract_in_batch,
    contract_in_columns,
    contract_in_lanes,
    contract_plainly,
    depth_is_contiguous,
)
from ccodegen.lower.contract_tiles import contract_in_tiles
from ccodegen.lower.job import Work
from ccodegen.lower.product import Product
from ccodegen.ops.contraction import accumulator_type
from ccodegen.ops.register_tile import register_tile

HEROES = ("dot", "convolution")

_LEAST_DEPTH_FOR_LANES = 8
_LEAST_COLUMNS = 4


def contract_plan(work: Work, hero: Instruction) -> None:
    """Tiles where packing pays; else vectors along what lies side by side in memory."""
    tile = register_tile(hero, work.job.target)
    if tile is not None:
        contract_in_tiles(Product(work, hero, tile.left, tile.right), tile)
        return
    accumulator = accumulator_type(hero)
    product = Product(work, hero, accumulator, accumulator)
    shape = product.shape
    if work.job.target.machine.vector_elements(product.type.bytes) == 1:
        contract_plainly(product)
        return
    if shape.batch and shape.batch[-1] >= _LEAST_COLUMNS and batch_is_contiguous(product):
        contract_in_batch(product)
        return
    many_columns = bool(shape.columns) and shape.columns[-1] >= _LEAST_COLUMNS
    if many_columns and columns_are_contiguous(product):
        contract_in_columns(product)
    elif not work.job.strict and _pays_in_lanes(product):
        contract_in_lanes(product)
    else:
        contract_plainly(product)


def _pays_in_lanes(product: Product) -> bool:
    depth = product.shape.depth
    if not depth or depth[-1] < _LEAST_DEPTH_FOR_LANES or not product.type.is_float:
        return False
    return depth_is_contiguous(product)
