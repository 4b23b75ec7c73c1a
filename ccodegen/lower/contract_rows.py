"""Contractions of few rows or few columns whose matrices both lie along the depth in memory.

Some rows are multiplied with some columns at a time, vectors along the depth: each element is read
once or twice, and nothing is packed. Sums of floats are not in strict mode's order.
"""

from __future__ import annotations

from ccodegen.loop.builder import index
from ccodegen.loop.cost import FAR
from ccodegen.loop.ir import Buffer, CallC, LoopKind
from ccodegen.lower.contract_panels import Packer, Panel
from ccodegen.lower.product import Product
from ccodegen.ops.register_tile import RegisterTile
from ccodegen.support.element_type import ElementType

# More rows and columns than that are worth packing for.
_FEW = 8
_LEAST_VECTORS = 2
_LEAST_SUMS = 4  # fewer would wait for each other


def row_tile(product: Product) -> RegisterTile | None:
    """How many rows and columns are multiplied at a time; None where another form is better."""
    machine = product.work.job.target.machine
    m, n, k = product.shape.sizes
    lanes = machine.vector_elements(product.left_type.bytes)
    if lanes == 1 or k < _LEAST_VECTORS * lanes or not 0 < min(m, n) <= _FEW:
        return None
    wide_integers = product.left_type is ElementType.U32
    if wide_integers or (product.type.is_float and product.work.job.strict):
        return None
    # Several lines at a time come slower from memory than one after the other.
    if min(m, n) == 1 and product.type.is_float and m * n * k * product.type.bytes > FAR:
        return None
    sizes = _sizes(min(m, n), max(m, n), machine.vector_registers)
    if sizes[0] * sizes[1] < _LEAST_SUMS:
        return None
    tile = RegisterTile(*(sizes if m <= n else sizes[::-1]), product.left_type, product.right_type)
    builder, packer = product.work.builder, Packer(product, tile)
    with builder.block(), builder.loops(product.shape.batch, "b") as batch:
        lines = packer.left_lines(batch), packer.right_lines(batch)
    return None if None in lines else tile


def _sizes(few: int, many: int, registers: int) -> tuple[int, int]:
    """Lines of the side with few and of the other: sums, lines and corrections fit registers."""
    narrow = -(-few // -(-few // 4))
    if narrow == 1:
        wide = 8 if registers >= 32 else 4
    else:
        wide = 4 if registers >= 32 or narrow == 2 else 2
    return narrow, min(wide, many)


def contract_in_rows(product: Product, tile: RegisterTile) -> None:
    """The nest; `tile` is the product's row_tile."""
    builder = product.work.builder
    m, n, _ = product.shape.sizes
    packer = Packer(product, tile)
    counts = -(-m // tile.rows), -(-n // tile.columns)
    with builder.loops(product.shape.batch, "b", LoopKind.PARALLEL) as batch:
        left, right = packer.left_lines(batch), packer.right_lines(batch)
        assert left is not None and right is not None
        outer, inner = (("jt", counts[1]), ("it", counts[0]))[:: 1 if m <= n else -1]
        with (
            builder.loop(outer[1], outer[0], LoopKind.PARALLEL) as first,
            builder.loop(inner[1], inner[0]) as second,
        ):
            it, jt = (second, first) if m <= n else (first, second)
            sums = _sums(product, tile, left(it), right(jt))
            packer.finish((batch, it, jt), (sums, left(it), right(jt)))


def _sums(product: Product, tile: RegisterTile, left: Panel, right: Panel) -> Buffer:
    builder = product.work.builder
    sums = builder.local(tile.sums, (tile.rows * tile.columns,), "sums")
    name, depth = tile.function("rows"), index(product.shape.sizes[2])
    if tile.left.is_float:
        name += f"x{product.work.job.target.machine.vector_elements(tile.left.bytes)}"
    scalars = (left.offset, index(left.row_step), right.offset, index(right.row_step), depth)
    buffers = (sums, left.buffer, right.buffer)
    builder.emit(CallC(name, f"{name}.h", buffers, builder.simplify(scalars)))
    return sums
