"""Contractions whose batch lies side by side in memory, by window tiles: depthwise convolutions.

Neighbouring places in a row of the result read much the same elements, under a window that moves by
one tap or few. Some of them are summed at a time, in registers, so that each element of a row of
the window is loaded once for all of them. Each sum takes its products in strict mode's order.
"""

from __future__ import annotations

import itertools

from ccodegen.loop.builder import index
from ccodegen.loop.ir import Apply, Buffer, CallC, Expr, Index, Load, LoopKind
from ccodegen.loop.spelling import HALVES
from ccodegen.loop.widen_halves import LEAST_HALVES
from ccodegen.lower.chunks import remaining
from ccodegen.lower.contract_panels import ending_inside
from ccodegen.lower.product import Product
from ccodegen.lower.strides import position_of, steps_along
from ccodegen.ops.index import minus, plus, times
from ccodegen.ops.register_tile import evenly
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

_FLOATS = (ElementType.F32, ElementType.F64)
_MOST_PLACES = _MOST_TAPS = _MOST_STRIDE = 8


@immutable
class _Axis:
    """Of a window: its extent, and how far apart its elements are in both operands."""

    size: int
    lhs_step: int
    rhs_step: int


_NO_AXIS = _Axis(1, 0, 0)


@immutable
class WindowTile:
    """`places` of `lanes` sums each, under `rows` of a window of `taps`, which moves by `stride`
    taps from place to place. `kind`: the type of both operands. Steps: from row to row and from tap
    to tap in the left one, from tap to tap in the right one, whose rows follow each other."""

    kind: ElementType
    places: int
    lanes: int
    taps: int
    stride: int
    rows: int
    row_step: int
    lhs_step: int
    rhs_step: int

    @property
    def function(self) -> str:
        """The C function that computes a tile."""
        return f"ccg_window_{self.kind.text}_{self.places}x{self.lanes}_{self.taps}s{self.stride}"


def window_tile(product: Product) -> WindowTile | None:
    """The tile of a product whose batch is contiguous; None where it has no such window."""
    shape = product.shape
    lanes = product.vector_elements
    if product.type not in _FLOATS or not 1 < lanes <= shape.batch[-1]:
        return None
    found = _window(product) if shape.rows and 0 not in shape.sizes else None
    if found is None:
        return None
    kind, place_step, axes = found
    for rows, taps in itertools.pairwise((_NO_AXIS, *axes, _NO_AXIS)):
        tile = _tile(product, kind, place_step, rows, taps)
        if tile and rows.size * taps.size == shape.sizes[2]:
            return tile
    return None


def _tile(
    product: Product, kind: ElementType, place_step: int, rows: _Axis, taps: _Axis
) -> WindowTile | None:
    """With a window of these axes; None where it does not move by taps, or has too many."""
    width, machine = product.shape.rows[-1], product.work.job.target.machine
    lhs_step, rhs_step = taps.lhs_step, taps.rhs_step
    if taps.size == 1:
        lhs_step, rhs_step = place_step, rows.rhs_step
    stride = place_step // lhs_step if lhs_step and width > 1 else 1
    moves_by_taps = width == 1 or stride * lhs_step == place_step
    rows_follow = rows.size == 1 or rows.rhs_step == taps.size * rhs_step
    most = min(_MOST_PLACES, machine.vector_registers - taps.size - 1)
    few = taps.size <= _MOST_TAPS and 0 < stride <= _MOST_STRIDE and most > 0
    if not (few and moves_by_taps and rows_follow):
        return None
    lanes, vectors = product.vector_elements, 1
    # Two become one of bf16. Instructions make one of f16 of each, but of no fewer elements.
    fills_one = kind is ElementType.F16 and lanes >= LEAST_HALVES
    if kind in HALVES and not fills_one and product.shape.batch[-1] % (2 * lanes) == 0:
        vectors = 2
    sizes = evenly(width, most), vectors * lanes, taps.size, stride, rows.size
    return WindowTile(kind, *sizes, rows.lhs_step, lhs_step, rhs_step)


def _window(product: Product) -> tuple[ElementType, int, list[_Axis]] | None:
    """The type of the operands, how far apart in the left one neighbouring places in a row of the
    result are, and the window's axes; None where operands are computed or read in other than
    constant steps, or of halves that no instruction converts."""
    builder = product.work.builder
    with product.looked_at() as (batch, row, depth, column):
        along, places = (batch[-1], row[-1], *depth), (*batch, *row, *column)
        lhs = steps_along(builder, _in_memory(product.lhs(batch, row, depth)), along, places)
        rhs = steps_along(builder, _in_memory(product.rhs(batch, depth, column)), along, places)
    if lhs is None or rhs is None or lhs[1][0] != 1 or rhs[1][0] != 1:
        return None
    kind = lhs[0].type
    is_f16 = kind is ElementType.F16
    if rhs[0].type is not kind or (is_f16 and not product.work.job.target.machine.converts_f16):
        return None
    steps = zip(product.shape.depth, lhs[1][2:], rhs[1][2:], strict=True)
    return kind, lhs[1][1], [_Axis(*axis) for axis in steps if axis[0] != 1]


def _in_memory(element: Expr) -> Expr:
    """As it lies there, if it is a half that is converted to be summed."""
    match element:
        case Apply("convert", (half,)) if half.type in HALVES and element.type is ElementType.F32:
            return half
    return element


def contract_in_windows(product: Product, tile: WindowTile) -> None:
    """For each row of the result its places in each block of the batch; the last block ends with
    the batch, and keeps what others have stored."""
    shape, builder = product.shape, product.work.builder
    *outer, count = shape.batch
    whole, rest = divmod(count, tile.lanes)
    with (
        builder.loops(outer, "b", LoopKind.PARALLEL) as before,
        builder.loops(shape.rows[:-1], "row", LoopKind.PARALLEL) as row,
        builder.loops(shape.columns, "col", LoopKind.PARALLEL) as column,
    ):
        with builder.loop(whole, "block", LoopKind.PARALLEL) as block:
            _row(product, tile, (before, row, column), (times(block, tile.lanes), tile.lanes))
        if rest:
            _row(product, tile, (before, row, column), (index(count - rest), rest))


def _row(
    product: Product, tile: WindowTile, outer: tuple[Index, Index, Index], lanes: tuple[Expr, int]
) -> None:
    """Some places of a row at a time, of which the last ones end with it. `lanes`: the first that
    are to be stored, and how many."""
    work, builder, width = product.work, product.work.builder, product.shape.rows[-1]
    (before, above, column), (lane, count) = outer, lanes
    old_lanes = tile.lanes - count
    with builder.loop(-(-width // tile.places), "place", LoopKind.PARALLEL) as number:
        first, start = times(number, tile.places), minus(lane, old_lanes)
        place, old_places = ending_inside(number, width, tile.places)
        sums = _sums(product, tile, ((*before, start), (*above, place), column))
        with (
            builder.loop(remaining(work, width, first, tile.places), "i") as i,
            builder.loop(count, "j", LoopKind.VECTOR) as j,
        ):
            at = plus(times(plus(old_places, i), tile.lanes), plus(j, old_lanes))
            batch, row = (*before, plus(lane, j)), (*above, plus(first, i))
            product.finish(batch, row, column, Load(sums, builder.simplify((at,))))


def _sums(product: Product, tile: WindowTile, first: tuple[Index, Index, Index]) -> Buffer:
    """The sums of a tile that begins at a batch, row and column."""
    shape, builder = product.shape, product.work.builder
    batch, row, column = first
    zeros = tuple(index(0) for _ in shape.depth)
    lhs = _in_memory(product.lhs(batch, row, zeros))
    rhs = _in_memory(product.rhs(batch, zeros, column))
    assert isinstance(lhs, Load) and isinstance(rhs, Load)
    sums = builder.local(product.type, (tile.places * tile.lanes,), "sums")
    name = tile.function
    scalars = (
        position_of(lhs),
        index(tile.row_step),
        index(tile.lhs_step),
        position_of(rhs),
        index(tile.rhs_step),
        index(tile.rows),
    )
    buffers = (sums, lhs.buffer, rhs.buffer)
    builder.emit(CallC(name, f"{name}.h", buffers, builder.simplify(scalars)))
    return sums
