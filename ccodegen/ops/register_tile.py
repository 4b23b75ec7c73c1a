"""Which contractions are computed in register tiles, and how large a tile is.

A tile is rows × columns of sums that stay in vector registers over the whole depth; both matrices
are read from panels as high or as wide as a tile. What decides is here, as the layout of weights
and the loop nest must agree on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccodegen.hlo.ir import Instruction
from ccodegen.ops.contraction import accumulator_type, contraction
from ccodegen.support.element_type import ElementType
from ccodegen.target.model import Target

# Below this many multiplications packing costs more than it saves.
_LEAST_WORK = 1 << 13
_PRICE_OF_HALF_WIDTH = 1.1
_LEAST_ROWS, _LEAST_COLUMNS, _LEAST_DEPTH = 3, 4, 4


@dataclass(frozen=True)
class RegisterTile:
    """Sizes in elements."""

    rows: int
    columns: int


def register_tile(hero: Instruction, target: Target) -> RegisterTile | None:
    """The tile of a dot or convolution; None where loops without packing are better."""
    m, n, k = contraction(hero).sizes
    element_type = accumulator_type(hero)
    if element_type not in (ElementType.F32, ElementType.F64) or m * n * k < _LEAST_WORK:
        return None
    if target.machine.vector_elements(element_type.bytes) == 1:
        return None
    if m < _LEAST_ROWS or n < _LEAST_COLUMNS or k < _LEAST_DEPTH:
        return None
    rows, columns = target.tile_size(element_type.bytes)
    return RegisterTile(_evenly(m, rows), _narrowed(n, columns))


def _narrowed(total: int, columns: int) -> int:
    """The width, or half of it where that wastes so many columns less that it pays although each
    element of the left matrix is read for half as many products."""
    half = columns // 2
    padded, half_padded = -(-total // columns) * columns, -(-total // half) * half
    return half if half_padded * _PRICE_OF_HALF_WIDTH < padded else columns


def _evenly(total: int, most: int) -> int:
    """A height of at most `most` that wastes the fewest rows, the greatest of those."""
    heights = range(max(1, most // 2), min(most, total) + 1)
    return min(heights, key=lambda h: (-(-total // h) * h - total, -h), default=total)
