"""Simplified expressions have the same value everywhere, and the form that C readers expect."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import INDEX, Expr, Var
from ccodegen.loop.ranges import interval
from ccodegen.loop.simplify import simplify, simplify_index
from ccodegen.support.element_type import ElementType
from tests.loop.expressions import (
    EXTENTS,
    compare,
    conditions,
    i,
    index_expressions,
    j,
    k,
    spell,
    value,
)

TURNS = [
    dict(zip(EXTENTS, numbers, strict=True))
    for numbers in itertools.product(*map(range, EXTENTS.values()))
]


def times(a: Expr, factor: int) -> Expr:
    return apply("multiply", a, index(factor))


def plus(*terms: Expr) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = apply("add", total, term)
    return total


def minus(a: Expr, b: Expr) -> Expr:
    return apply("subtract", a, b)


@settings(max_examples=300, deadline=None)
@given(index_expressions())
def test_index_keeps_its_value_and_its_bounds(expr: Expr) -> None:
    simple = simplify_index(expr, EXTENTS)
    reach = interval(simple, EXTENTS)
    for turn in TURNS:
        number = value(expr, turn)
        assert value(simple, turn) == number, spell(simple)
        assert reach.low <= number <= reach.high


@settings(max_examples=200, deadline=None)
@given(conditions(index_expressions()))
def test_condition_keeps_its_value(expr: Expr) -> None:
    simple = simplify(expr, EXTENTS)
    for turn in TURNS:
        assert value(simple, turn) == value(expr, turn), spell(simple)


@settings(max_examples=100, deadline=None)
@given(index_expressions())
def test_simplifying_twice_changes_nothing_of_value(expr: Expr) -> None:
    once = simplify_index(expr, EXTENTS)
    twice = simplify_index(once, EXTENTS)
    assert all(value(once, turn) == value(twice, turn) for turn in TURNS)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (plus(j, times(i, 12), index(0)), "i * 12 + j"),
        (plus(times(i, 4), times(i, -3), index(-2), index(1)), "i - 1"),
        (minus(index(3), i), "3 - i"),
        (minus(index(-3), i), "-3 - i"),
        (minus(index(0), i), "negate(i)"),
        (plus(times(j, 1), times(k, 3), i), "k * 3 + i + j"),
        (apply("divide", plus(times(i, 12), times(j, 4), index(3)), index(4)), "i * 3 + j"),
        (apply("remainder", plus(times(i, 12), times(j, 4), index(3)), index(4)), "3"),
        (apply("divide", plus(times(i, 6), j), index(4)), "(i * 6 + j) / 4"),
        (apply("divide", plus(times(i, 12), times(j, 4), index(2)), index(24)), "i / 2"),
        (apply("divide", plus(times(i, 6), times(k, 10)), index(30)), "(k * 5 + i * 3) / 15"),
        (apply("remainder", plus(times(i, 12), j), index(24)), "i % 2 * 12 + j"),
        (apply("divide", apply("divide", k, index(2)), index(2)), "k / 4"),
        (apply("divide", minus(i, index(1)), index(2)), "(i + 1) / 2 - 1"),
        (apply("minimum", i, index(3)), "i"),
        (apply("minimum", index(2), i), "minimum(i, 2)"),
        (apply("clamp", index(0), minus(i, index(1)), index(9)), "maximum(i - 1, 0)"),
        (apply("select", compare("lt", i, index(4)), j, k), "j"),
        (apply("select", compare("lt", i, index(2)), apply("minimum", i, index(1)), i), "i"),
        (compare("le", plus(times(i, 4), index(3)), index(9)), "i < 2"),
        (compare("gt", index(3), i), "i < 3"),
        (compare("ge", minus(plus(i, k), index(1)), index(0)), "i + k >= 1"),
        (compare("lt", minus(i, j), index(-1)), "i + 1 < j"),
        (compare("eq", times(i, 4), plus(times(j, 2), index(1))), "False"),
    ],
)
def test_form(expr: Expr, expected: str) -> None:
    assert spell(simplify(expr, EXTENTS)) == expected


def test_quotient_and_remainder_join_again() -> None:
    wide = plus(times(i, 10), k)
    joined = plus(
        times(apply("divide", wide, index(4)), 4), apply("remainder", wide, index(4))
    )
    assert spell(simplify(joined, EXTENTS)) == "i * 10 + k"


def test_second_condition_may_rely_on_the_first() -> None:
    both = apply("and", compare("ge", i, index(2)), compare("ge", plus(i, j), index(2)))
    assert spell(simplify(both, EXTENTS)) == "i >= 2"


def test_a_remainder_is_what_a_condition_says_of_it() -> None:
    rest = apply("remainder", i, index(2))
    row = plus(times(apply("divide", i, index(2)), 6), times(rest, 6))
    chosen = apply("select", compare("lt", rest, index(1)), row, minus(row, index(5)))
    assert spell(simplify(chosen, EXTENTS)) == "select(i % 2 < 1, i / 2 * 6, i / 2 * 6 + 1)"


def test_bits_read_back_are_the_value() -> None:
    x = Var("x", ElementType.F32)
    bits = apply("bitcast-convert", x, type=ElementType.U32)
    back = apply("bitcast-convert", bits, type=ElementType.F32)
    other = apply("bitcast-convert", bits, type=ElementType.S32)
    assert simplify(back, EXTENTS) is x
    assert spell(simplify(other, EXTENTS)) == spell(other)


def test_unknown_variable_is_kept() -> None:
    n = Var("n", INDEX)
    kept = apply("divide", plus(times(i, 4), n), index(4))
    assert spell(simplify(kept, EXTENTS)) == "(i * 4 + n) / 4"
