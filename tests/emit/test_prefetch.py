"""Which loops ask memory for what they read some turns later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ccodegen
from ccodegen.emit.prefetch import prefetches
from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.builder import Builder, apply, compare, index
from ccodegen.loop.ir import Buffer, Expr, For, LoopKind, Space, Var
from ccodegen.support.element_type import ElementType

F32 = ElementType.F32
FAR = Buffer("x", F32, (1 << 21,), Space.ARGUMENT)
WRITTEN = replace(FAR)
NEAR = Buffer("x", F32, (1 << 20,), Space.ARGUMENT)


def reader(buffer: Buffer, step: int = 64, keeper: Buffer | None = None) -> For:
    """for r < 32: for l < 64: sums[l] = x[r * step + l + 3]"""
    builder = Builder()
    sums = keeper or Buffer("sums", F32, (64,))
    with builder.loop(32, "r") as r, builder.loop(64, "l", LoopKind.VECTOR) as lane:
        start = apply("add", apply("multiply", r, index(step)), lane)
        place: Expr = apply("add", start, index(3))
        builder.store(sums, (lane,), builder.load(buffer, (place,)))
    (loop,) = builder.statements
    assert isinstance(loop, For)
    return loop


def test_what_is_read_some_pages_ahead() -> None:
    (found,) = prefetches(reader(FAR), (), (), {})
    assert found.buffer is FAR
    assert affine(found.first) == Affine({Var("r"): 64}, 3 + 4096)
    assert found.count == 64
    assert not found.slowly


def test_who_compares_what_it_reads_asks_slowly() -> None:
    builder, best = Builder(), Buffer("best", F32, (64,))
    with builder.loop(32, "r") as r, builder.loop(64, "l", LoopKind.VECTOR) as lane:
        value = builder.load(FAR, (Affine({r: 64, lane: 1}).expr,))
        old = builder.load(best, (lane,))
        better = apply("select", compare("gt", old, value), old, value)
        kept = apply("select", compare("eq", old, old), better, old)
        builder.store(best, (lane,), kept)
    (loop,) = builder.statements
    assert isinstance(loop, For)
    (found,) = prefetches(loop, (), (), {})
    assert found.slowly


@pytest.mark.parametrize(
    "loop",
    [
        reader(NEAR),
        reader(WRITTEN),
        reader(FAR, step=-64),
        reader(FAR, step=4096),
        reader(FAR, keeper=Buffer("y", F32, (64,), Space.ARGUMENT)),
    ],
)
def test_what_asks_for_nothing(loop: For) -> None:
    assert not list(prefetches(loop, (), (WRITTEN,), {}))


@pytest.mark.parametrize(
    ("row", "ahead"),
    [(32 * 64, 4096), (32 * 64 + 63, 4096), (4096, 4096), (4000, 8000), (20000, 20000)],
)
def test_rows_of_which_a_part_is_read_are_gone_ahead_whole(row: int, ahead: int) -> None:
    """x[i, 3 : 3 + 2048] of rows that are so long"""
    builder = Builder()
    with builder.loop(16, "i") as i, builder.loop(32, "r") as r:
        sums = Buffer("sums", F32, (64,))
        with builder.loop(64, "l", LoopKind.VECTOR) as lane:
            place = Affine({i: row, r: 64, lane: 1}, 3).expr
            builder.store(sums, (lane,), builder.load(FAR, (place,)))
    (around,) = builder.statements
    assert isinstance(around, For)
    (loop,) = around.body
    assert isinstance(loop, For)
    (found,) = prefetches(loop, (around,), (), {})
    assert affine(found.first) == Affine({around.var: row, loop.var: 64}, 3 + ahead)


def slow_rows() -> tuple[For, For]:
    """for row < 128: for r < 128: for l < 64: y[row, r, l] = exp(x[row, r, l]); the outer two"""
    builder = Builder()
    lanes = builder.loop(64, "l", LoopKind.LANES)
    with builder.loop(128, "row") as a, builder.loop(128, "r") as b, lanes as c:
        place = (Affine({a: 8192, b: 64, c: 1}).expr,)
        builder.store(WRITTEN, place, apply("exponential", builder.load(NEAR, place)))
    (around,) = builder.statements
    assert isinstance(around, For)
    (loop,) = around.body
    assert isinstance(loop, For)
    return around, loop


@pytest.mark.parametrize("is_read_before", [False, True])
def test_slow_loops_ask_for_what_is_near_or_for_the_next_row(is_read_before: bool) -> None:
    around, loop = slow_rows()
    read = {NEAR: (around,)} if is_read_before else {}
    (found,) = prefetches(loop, (around,), (WRITTEN,), read)
    assert found.buffer is NEAR
    ahead = 8192 if is_read_before else 256
    assert affine(found.first) == Affine({around.var: 8192, loop.var: 64}, ahead)
    assert (found.count, found.slowly) == (64, True)


def test_what_is_the_same_in_each_turn_is_not_asked_for() -> None:
    _, loop = slow_rows()
    repeated = For(Var("again"), 100, (loop,))
    assert not list(prefetches(loop, (repeated,), (WRITTEN,), {}))


def test_rows_from_memory() -> None:
    """The last rows ask for what lies behind the end."""
    text = (
        "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)"
        "  ROOT c = f32[] add(a, b) }\n"
        "ENTRY e { x = f32[1051,2003] parameter(0)  zero = f32[] constant(0)"
        "  ROOT r = f32[1051] reduce(x, zero), dimensions={1}, to_apply=add }"
    )
    compiled = ccodegen.compile(text)
    assert "CCG_PREFETCH(" in compiled.as_text("c")
    x = np.random.default_rng(1).standard_normal((1051, 2003)).astype(np.float32)
    np.testing.assert_allclose(compiled(x), x.sum(axis=1), atol=1e-3)
