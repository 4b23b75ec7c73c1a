"""Reshapes end without division: directly, or after the loops are split as asked."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccodegen.loop.affine import count
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, Var
from ccodegen.loop.linear import delinearize, linearize, split_request
from ccodegen.loop.ranges import KnownRanges
from tests.loop.expressions import spell, value

Dimensions = tuple[int, ...]


def reshape(to: Dimensions, source: Dimensions) -> tuple[list[Expr], dict[Var, int]]:
    """Indices of the source for loops over `to`, splitting loops until nothing is asked for."""
    loops = {Var(f"i{n}"): extent for n, extent in enumerate(to)}
    position = dict(zip(loops, loops, strict=True))
    outputs: list[Expr] = list(position)
    while True:
        indices = list(delinearize(linearize(outputs, to), source, loops))
        request = next((r for r in (split_request(e, loops) for e in indices) if r), None)
        if request is None:
            return indices, loops
        var, inner = request
        outer = Var(var.name + "o")
        within = Var(var.name + "i")
        extent = loops.pop(var)
        loops[outer], loops[within] = extent // inner, inner
        whole = apply("add", apply("multiply", outer, index(inner)), within)
        outputs = [_replaced(e, var, whole) for e in outputs]


def _replaced(expr: Expr, var: Var, whole: Expr) -> Expr:
    if expr == var:
        return whole
    if isinstance(expr, Var) or not hasattr(expr, "arguments"):
        return expr
    return apply(expr.operator, *(_replaced(a, var, whole) for a in expr.arguments))


@pytest.mark.parametrize(
    ("to", "source", "expected"),
    [
        ((60,), (5, 3, 4), ["i0o", "i0io", "i0ii"]),
        ((5, 12), (5, 3, 4), ["i0", "i1o", "i1i"]),
        ((5, 3, 4), (60,), ["i0 * 12 + i1 * 4 + i2"]),
        ((5, 3, 4), (15, 4), ["i0 * 3 + i1", "i2"]),
        ((2, 6), (4, 3), ["i0 * 2 + i1o", "i1i"]),
        ((4, 3), (2, 6), ["i0o", "i0i * 3 + i1"]),
        ((1, 6, 1), (6,), ["i1"]),
        ((6,), (1, 2, 1, 3), ["0", "i0o", "0", "i0i"]),
    ],
)
def test_no_division_is_left(to: Dimensions, source: Dimensions, expected: list[str]) -> None:
    indices, _ = reshape(to, source)
    assert [spell(e) for e in indices] == expected


@pytest.mark.parametrize(("columns", "expected"), [(100, "panel * 16 + c"), (99, None)])
def test_a_loop_ends_where_the_columns_do(columns: int, expected: str | None) -> None:
    """The last panel of 16 has only four of 100 columns."""
    panel, column, ranges = Var("panel"), Var("c"), KnownRanges({})
    first = apply("multiply", panel, index(16))
    count(panel, 7, ranges)
    left = apply("subtract", index(100), first)
    count(column, apply("minimum", left, index(16)), ranges)
    row, place = delinearize(apply("add", first, column), (3, columns), ranges)
    assert (spell(row) == "0") == (expected is not None)
    assert expected in (None, spell(place))


def test_sizes_without_common_factor_divide() -> None:
    indices, loops = reshape((3, 2), (2, 3))
    assert [spell(e) for e in indices] == ["(i0 * 2 + i1) / 3", "(i0 * 2 + i1) % 3"]
    assert len(loops) == 2


def factorings(size: int) -> list[Dimensions]:
    return [
        dims
        for rank in (1, 2, 3)
        for dims in itertools.product([1, 2, 3, 4, 6, 8, 12, 24], repeat=rank)
        if math.prod(dims) == size
    ]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(factorings(24)), st.sampled_from(factorings(24)))
def test_reshape_visits_elements_in_order(to: Dimensions, source: Dimensions) -> None:
    indices, loops = reshape(to, source)
    seen = []
    for turn in itertools.product(*map(range, loops.values())):
        values = dict(zip(loops, turn, strict=True))
        numbers = [value(e, values) for e in indices]
        assert all(0 <= n < d for n, d in zip(numbers, source, strict=True))
        seen.append(value(linearize([index(n) for n in numbers], source), {}))
    assert sorted(seen) == list(range(24))


@given(st.sampled_from(factorings(24)))
def test_there_and_back(dimensions: Dimensions) -> None:
    loops = {Var(f"i{n}"): extent for n, extent in enumerate(dimensions)}
    back = delinearize(linearize(list(loops), dimensions), dimensions, loops)
    expected = [index(0) if e == 1 else v for v, e in loops.items()]
    assert list(back) == expected
