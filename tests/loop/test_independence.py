"""Independent loops: what must be found, and by trial that what is found is true."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import TypeAlias

import pytest

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.independence import apart, independent
from ccodegen.loop.ir import INDEX, Buffer, CallC, Const, Expr, For, Space
from ccodegen.support.element_type import ElementType

F32 = ElementType.F32


Place: TypeAlias = tuple[Sequence[int], int]
"""A sum: coefficients of the loops' variables, and a constant."""


def nest(extents: Sequence[int], *indices: Place) -> For:
    """Loops of these extents around stores at these sums."""
    (loop,) = nests((extents, *indices))
    return loop


def nests(*each: tuple[Sequence[int], *tuple[Place, ...]]) -> list[For]:
    b = Builder()
    y = Buffer("y", F32, (10**6,))
    for extents, *indices in each:
        with b.loops(extents, "i") as at:
            for coefficients, constant in indices:
                place: Expr = index(constant)
                for var, coefficient in zip(at, coefficients, strict=True):
                    place = apply("add", place, apply("multiply", var, Const(INDEX, coefficient)))
                b.store(y, (place,), const(F32, 0.0))
    return [loop for loop in b.statements if isinstance(loop, For)]


def places(extents: Sequence[int], indices: Sequence[tuple[Sequence[int], int]]) -> list[set[int]]:
    """What each turn of the outermost loop writes."""
    return [
        {
            sum(c * i for c, i in zip(coefficients, (turn, *inner), strict=True)) + constant
            for inner in itertools.product(*map(range, extents[1:]))
            for coefficients, constant in indices
        }
        for turn in range(extents[0])
    ]


def are_apart(turns: Sequence[set[int]]) -> bool:
    return sum(map(len, turns)) == len(set().union(*turns))


@pytest.mark.parametrize(
    ("extents", "coefficients"),
    [
        ((8, 4), (4, 1)),
        ((8, 4), (-4, 1)),
        ((8, 32, 4), (4, 32, 1)),  # columns in blocks of 4
        ((8, 5, 4, 3), (4, 96, 1, 32)),
        ((1, 7), (0, 0)),
    ],
)
def test_is_found(extents: Sequence[int], coefficients: Sequence[int]) -> None:
    assert independent(nest(extents, (coefficients, 3))) or extents[0] == 1


@pytest.mark.parametrize(
    ("extents", "coefficients"),
    [
        ((8, 5), (4, 1)),
        ((9, 32, 4), (4, 32, 1)),  # the ninth block is the first of the next row
        ((8, 32, 4), (4, 31, 1)),
        ((2, 2), (0, 1)),
    ],
)
def test_is_not_claimed(extents: Sequence[int], coefficients: Sequence[int]) -> None:
    assert not independent(nest(extents, (coefficients, 0)))


def test_planes_are_apart() -> None:
    planes = [((20, 4, 1), plane * 100) for plane in range(5)]
    assert independent(nest((5, 5, 4), *planes))
    assert not independent(nest((5, 5, 4), ((20, 4, 1), 0), ((20, 4, 1), 90)))
    assert not independent(nest((5, 5, 4), ((20, 4, 1), 0), ((20, 4, 1), 80)))


def test_is_true_of_random_nests() -> None:
    found = 0
    for seed in range(3000):
        rng = random.Random(seed)
        extents = [rng.randint(1, 5) for _ in range(rng.randint(2, 4))]
        steps = rng.choices([0, 1, 2, 3, 4, 6, 8, 12, 24, 25, 48, -4, -12], k=len(extents))
        others = [rng.choice([step, step, 24 * rng.randint(0, 2)]) for step in steps]
        far = rng.choice([0, 24, 25, 48])
        indices = [(steps, rng.randint(0, 6)), (others, far + rng.randint(0, 6))]
        indices = indices[: rng.randint(1, 2)]
        if independent(nest(extents, *indices)):
            found += 1
            assert are_apart(places(extents, indices)), (extents, indices)
    assert found > 100


def random_nest(rng: random.Random) -> tuple[list[int], Place]:
    extents = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
    steps = rng.choices([0, 1, 2, 3, 4, 6, 8, 12, 24, 25, 48, -4, -12], k=len(extents))
    return extents, (steps, rng.randint(0, 60))


ROW, PLANE = 16, 16 * 16
INSIDE = ((14, 14, 3), ((PLANE, ROW, 1), PLANE + ROW))
EDGES = [
    ((PLANE,), ((1,), 0)),
    ((PLANE,), ((1,), 15 * PLANE)),
    ((14, ROW), ((PLANE, 1), PLANE)),
    ((14, ROW), ((PLANE, 1), PLANE + 15 * ROW)),
]


@pytest.mark.parametrize("edge", EDGES)
def test_edges_are_apart_from_what_is_inside(edge: tuple[Sequence[int], Place]) -> None:
    assert apart(*nests(edge, INSIDE))
    assert apart(*nests(INSIDE, edge))


def test_an_edge_too_wide_is_not_apart() -> None:
    assert not apart(*nests(((14, ROW + 1), ((PLANE, 1), PLANE)), INSIDE))


def test_loops_said_to_be_apart_are() -> None:
    found = 0
    for seed in range(5000):
        rng = random.Random(seed)
        one, other = random_nest(rng), random_nest(rng)
        if apart(*nests(one, other)):
            found += 1
            touched = (set().union(*places(extents, [place])) for extents, place in (one, other))
            assert set.isdisjoint(*touched), (one, other)
    assert found > 1000


def test_what_is_read_counts_and_so_do_calls_and_names() -> None:
    b = Builder()
    x, y = Buffer("x", F32, (64,)), Buffer("y", F32, (64,))
    with b.loop(8) as i:
        b.store(y, (i,), b.load(x, (i,)))
    with b.loop(8) as i:
        b.store(y, (apply("add", i, index(8)),), b.load(y, (i,)))
    with b.loop(8):
        b.emit(CallC("f", "f.h", (y,), ()))
    copy, further, call = (loop for loop in b.statements if isinstance(loop, For))
    assert not apart(copy, further)
    assert not apart(copy, call) and not apart(call, copy)
    assert not apart(copy, copy)


def ragged(width: int, row: int, block: int = 8, is_named: bool = False) -> For:
    """Stores to five rows that are so far apart, of which each turn has a block of columns; the
    blocks are in two halves, and the last one is not full. `is_named`: how many columns it has."""
    b = Builder()
    y = Buffer("y", F32, (10**6,))
    with b.loop(-(-width // block), "block") as number:
        first = apply("multiply", number, index(block))
        with b.loop(2, "half") as half, b.loop(5, "row") as at:
            start = apply("add", first, apply("multiply", half, index(block // 2)))
            count = _least(width, start, block // 2)
            with b.loop(b.let(count, "count") if is_named else count, "j") as j:
                place = apply("add", apply("multiply", at, index(row)), apply("add", start, j))
                b.store(y, (place,), const(F32, 0.0))
    (loop,) = b.statements
    assert isinstance(loop, For)
    return loop


def _least(total: int, first: Expr, size: int) -> Expr:
    return apply("minimum", index(size), apply("subtract", index(total), first))


def test_last_block_may_end_before_the_others() -> None:
    assert independent(ragged(30, 30))
    assert independent(ragged(32, 32))
    assert not independent(ragged(30, 29))
    assert independent(ragged(30, 30, is_named=True))
    assert not independent(ragged(30, 29, is_named=True))
    tried = [(width, row) for width in range(9, 40) for row in range(width - 5, width + 5)]
    claimed = [(width, row) for width, row in tried if independent(ragged(width, row))]
    assert all(row >= width for width, row in claimed)
    assert len(claimed) > 100


def padded(rows: int, tile: int, groups: int) -> For:
    """Each turn has some groups of rows, writes those there are of each into memory of its own for
    one group, and zeros for the others from the end on."""
    b = Builder()
    panel = Buffer("panel", F32, (10**6,))
    total = -(-rows // tile)
    with b.loop(-(-total // groups), "chunk") as chunk:
        before = apply("multiply", chunk, index(groups))
        with b.loop(_least(total, before, groups), "group") as group:
            first = apply("multiply", apply("add", before, group), index(tile))
            own = _least(rows, first, tile)
            start = apply("multiply", chunk, index(tile))
            with b.loop(own, "row") as row:
                b.store(panel, (apply("add", start, row),), const(F32, 1.0))
            with b.loop(apply("subtract", index(tile), own), "rest") as rest:
                end = apply("add", start, index(tile - 1))
                b.store(panel, (apply("subtract", end, rest),), const(F32, 0.0))
    (loop,) = b.statements
    assert isinstance(loop, For)
    return loop


@pytest.mark.parametrize(("rows", "tile", "groups"), [(4096, 14, 37), (30, 4, 3), (32, 4, 3)])
def test_what_is_left_over_in_the_last_group(rows: int, tile: int, groups: int) -> None:
    assert independent(padded(rows, tile, groups))


def parted(columns: int, part: int) -> For:
    """Each turn stores the whole parts of up to 16 columns, then what is left over."""
    b = Builder()
    y = Buffer("y", F32, (10**6,))
    with b.loop(-(-columns // 16), "block") as block:
        first = apply("multiply", block, index(16))
        count = _least(columns, first, 16)
        whole = apply("multiply", apply("divide", count, index(part)), index(part))
        with b.loop(whole, "i") as i:
            b.store(y, (apply("add", first, i),), const(F32, 1.0))
        with b.loop(apply("remainder", count, index(part)), "j") as j:
            b.store(y, (apply("add", first, apply("add", whole, j)),), const(F32, 2.0))
    (loop,) = b.statements
    assert isinstance(loop, For)
    return loop


@pytest.mark.parametrize("columns", [100, 96, 33])
def test_whole_parts_and_what_they_leave(columns: int) -> None:
    assert independent(parted(columns, 16))
    assert independent(parted(columns, 5))


def test_what_is_left_over_of_what_is_not_known() -> None:
    """Beginning at a row that the loops around the groups choose."""
    b = Builder()
    panel = Buffer("panel", F32, (10**6,))
    with b.loop(9, "outer") as outer, b.loop(10, "group") as group:
        start = apply("multiply", group, index(4))
        own = _least(40, apply("add", apply("multiply", outer, index(40)), start), 4)
        with b.loop(apply("subtract", index(4), own), "rest") as rest:
            end = apply("add", start, index(3))
            b.store(panel, (apply("subtract", end, rest),), const(F32, 0.0))
    (around,) = b.statements
    assert isinstance(around, For)
    (loop,) = around.body
    assert isinstance(loop, For)
    assert not independent(loop)


def packing(part: int) -> For:
    """Each turn packs a panel into a part of one buffer, which a tile of 4 x 8 sums reads."""
    b = Builder()
    x, panels = Buffer("x", F32, (4096,)), Buffer("panels", F32, (4096,), Space.ARENA)
    with b.loop(8, "chunk") as chunk:
        first = apply("multiply", chunk, index(part))
        with b.loop(16 * 8, "k") as k:
            b.store(panels, (apply("add", first, k),), b.load(x, (k,)))
        sums = b.local(F32, (32,), "sums")
        scalars = (index(0), index(16), index(1), first, index(16))
        b.emit(CallC("ccg_tile_f32_4x8", "ccg_tile_f32_4x8.h", (sums, x, panels), scalars))
    (loop,) = b.statements
    assert isinstance(loop, For)
    return loop


def test_calls_of_tiles_read_their_panels_only() -> None:
    assert independent(packing(128), calls=True)
    assert not independent(packing(120), calls=True)
    assert not independent(packing(128))


def scanning(step: int) -> For:
    """Each turn scans a line of 32 elements."""
    b = Builder()
    x, y = Buffer("x", F32, (4096,)), Buffer("y", F32, (4096,), Space.ARENA)
    with b.loop(8, "line") as line:
        offset = apply("multiply", line, index(step))
        scalars = (offset, index(32), Const(F32, 0.0))
        b.emit(CallC("ccg_scan_add_f32_8", "ccg_scan_add_f32_8.h", (y, x), scalars))
    (loop,) = b.statements
    assert isinstance(loop, For)
    return loop


def test_calls_of_scans_write_their_lines_only() -> None:
    assert independent(scanning(32), calls=True)
    assert not independent(scanning(31), calls=True)
    assert not independent(scanning(1), calls=True)
