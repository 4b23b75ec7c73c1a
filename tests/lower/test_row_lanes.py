"""Reduces of rows in lanes, alone and several in one pass."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.loop.ir import MOST_UNROLLED, For, Let, LoopKind, Stmt
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import expressions, statements
from ccodegen.target import load
from tests.three_ways import check, with_vectors

IN_VECTORS = (LoopKind.VECTOR, LoopKind.LANES)
NEUTRAL = {"add": "0", "maximum": "-inf", "multiply": "1", "minimum": "inf"}


def program(t: str, dimensions: str, kept: str, reduced: str, *operators: str) -> str:
    combiners = (
        f"{o} {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  ROOT c = {t}[] {o}(a, b) }}\n"
        for o in operators
    )
    reduces = (
        f"i{o} = {t}[] constant({NEUTRAL[o] if t[0] == 'f' else 0})"
        f"  r{o} = {t}[{kept}] reduce(x, i{o}), dimensions={{{reduced}}}, to_apply={o}\n"
        for o in operators
    )
    results = ", ".join(f"r{o}" for o in operators)
    shape = ", ".join(f"{t}[{kept}]" for _ in operators)
    return (
        f"HloModule m\n{''.join(combiners)}ENTRY e {{ x = {t}[{dimensions}] parameter(0)\n"
        f"{''.join(reduces)}ROOT r = ({shape}) tuple({results}) }}"
    )


@pytest.mark.parametrize("t", ["f32", "f64", "s32"])
@pytest.mark.parametrize(
    ("dimensions", "kept", "reduced"),
    [("5003", "", "0"), ("3,4096", "3", "1"), ("2,3,2,4099", "2,2", "1,3")],
)
@pytest.mark.parametrize(
    "operators", [("add",), ("maximum",), ("add", "maximum"), ("add", "multiply", "minimum")]
)
def test_lanes_of_a_row_make_the_whole(
    operators: tuple[str, ...],
    dimensions: str,
    kept: str,
    reduced: str,
    t: str,
) -> None:
    shape = tuple(map(int, dimensions.split(",")))
    x = np.random.default_rng(1).uniform(0.5, 1.5, shape)
    x = x.astype(np.float64 if t == "f64" else np.float32) if t != "s32" else (x * 9).astype("i4")
    check(program(t, dimensions, kept, reduced, *operators), x)


def test_a_row_longer_than_caches() -> None:
    x = np.random.default_rng(2).uniform(-1, 1, (1 << 22) + 7).astype(np.float32)
    x[-1] = 3
    text = program("f32", str(x.size), "", "0", "add", "maximum")
    total, most = ccodegen.compile(text)(x)
    assert abs(float(total) - x.sum(dtype=np.float64)) < 0.05
    assert most == 3


@pytest.mark.parametrize("t", ["f32", "f64"])
@pytest.mark.parametrize("columns", [40, 512])
def test_extrema_have_lanes_that_gcc_does_not_unroll(columns: int, t: str) -> None:
    """It makes no vectors of them, once they are straight code."""
    x = np.random.default_rng(3).standard_normal((4, columns)).astype(t.replace("f", "float"))
    text = program(t, f"4,{columns}", "4", "1", "maximum")
    (kernel,) = check(text, x, target=load("x86-64")).program.kernels
    loops = [s for s in statements(kernel.body) if isinstance(s, For)]
    takers = [loop for loop in loops if any(takes_a_value(s) for s in loop.body)]
    assert takers
    assert all(s.kind is LoopKind.LANES or s.extent > MOST_UNROLLED for s in takers)


@pytest.mark.parametrize("operators", [("add",), ("multiply",), ("add", "maximum")])
@pytest.mark.parametrize("t", ["f32", "f64", "s32"])
@pytest.mark.parametrize("columns", [65, 100, 127])
def test_the_end_of_a_row_has_whole_lanes(columns: int, t: str, operators: tuple[str, ...]) -> None:
    """What is stored for some lanes is waited for when all are read."""
    x = np.random.default_rng(4).integers(-2, 3, (4, columns))
    x = x.astype(np.int32 if t == "s32" else t.replace("f", "float"))
    if t != "s32":
        x[1], x[2, -33], x[3, -34] = -0.0, np.inf, np.nan  # elements that the last turn reads again
    target = with_vectors(load("host"), 64)
    built = check(program(t, f"4,{columns}", "4", "1", *operators), x, target=target)
    (kernel,) = built.program.kernels
    loops = [s for s in statements(kernel.body) if isinstance(s, For) and s.kind in IN_VECTORS]
    takers = [s for s in loops if any(x.buffer.name == "x" for x in loads(*expressions((s,))))]
    assert takers
    assert len({loop.extent for loop in takers}) == 1


@pytest.mark.parametrize("vector_bytes", [32, 64])
@pytest.mark.parametrize(("columns", "are_lanes"), [(33, True), (63, True), (130, False)])
def test_sums_of_short_rows_have_lanes_that_gcc_does_not_unroll(
    columns: int, are_lanes: bool, vector_bytes: int
) -> None:
    """It would make a vector of single elements where the last turn has fewer."""
    x = np.random.default_rng(3).standard_normal((4, columns)).astype(np.float32)
    text = program("f32", f"4,{columns}", "4", "1", "add", "multiply")
    target = with_vectors(load("host"), vector_bytes)
    (kernel,) = check(text, x, target=target).program.kernels
    loops = [s for s in statements(kernel.body) if isinstance(s, For) and s.kind in IN_VECTORS]
    takers = [s for s in loops if any(x.buffer.name == "x" for x in loads(*expressions((s,))))]
    assert {loop.kind is LoopKind.LANES for loop in takers} == {are_lanes}


@pytest.mark.parametrize("operators", [("add",), ("maximum",), ("add", "multiply")])
@pytest.mark.parametrize(("around", "columns"), [(1, 8), (3, 8), (6, 9), (9, 16), (7, 5), (8, 3)])
def test_short_ends_of_rows_have_lanes_by_turns(
    around: int, columns: int, operators: tuple[str, ...]
) -> None:
    x = np.random.default_rng(5).uniform(0.5, 1.5, (3, around, 2, columns)).astype(np.float32)
    text = program("f32", f"3,{around},2,{columns}", "3,2", "1,3", *operators)
    check(text, x, target=load("host"))
    check(text, x, target=load("x86-64"))


def takes_a_value(statement: Stmt) -> bool:
    return isinstance(statement, Let) and statement.var.name.startswith("value")
