"""Loops cut where they round to f16: the same bits, and only what may be computed in any case."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import Buffer, CallC, Expr, For, Load, LoopKind, Space, Store, Var
from ccodegen.loop.rebuild import statements
from ccodegen.loop.round_lines import round_lines
from ccodegen.support.element_type import ElementType
from tests.loop.test_widen_halves import TARGET, calls, mapped
from tests.runtime_c.test_half import patterns
from tests.three_ways import check

F16, F32 = ElementType.F16, ElementType.F32
CHAIN = """ENTRY e {{ x = f16[{0}] parameter(0)  y = f16[{0}] parameter(1)
  a = f16[{0}] add(x, y)  b = f16[{0}] multiply(a, x)  c = f16[{0}] subtract(b, y)
  p = pred[{0}] compare(c, a), direction=LT  s = f16[{0}] select(p, b, c)
  n = f16[{0}] negate(s)  ROOT r = f16[{0}] multiply(n, a) }}"""


def chain(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        a = x + y
        b = a * x
        c = b - y
        return -np.where(c < a, b, c) * a


SHAPES = ["1", "7", "8", "17", "255", "256", "1000", "7,30", "0,9", "3,5,2,1,2,9"]


@pytest.mark.parametrize("shape", SHAPES)
def test_sizes(shape: str) -> None:
    check(CHAIN.format(shape), target=TARGET, strict=True)
    sizes, random = tuple(map(int, shape.split(","))), np.random.default_rng(1)
    x, y = (random.standard_normal(sizes).astype(np.float16) for _ in range(2))
    result = ccodegen.compile(CHAIN.format(shape))(x, y)
    np.testing.assert_array_equal(np.asarray(result), chain(x, y))


@pytest.mark.parametrize("strict", [False, True])
def test_special_values(strict: bool) -> None:
    x = patterns(F16).view(np.float16)
    y = np.roll(x, 77)
    result = ccodegen.compile(CHAIN.format(x.size), strict=strict)(x, y)
    np.testing.assert_array_equal(np.asarray(result), chain(x, y))


@pytest.mark.parametrize(
    ("operators", "count"),
    [
        ("ROOT r = f16$ add(x, y)", 0),
        ("a = f16$ add(x, y)  ROOT r = f16$ multiply(a, a)", 1),
        ("a = f16$ maximum(x, y)  ROOT r = f16$ multiply(a, a)", 0),
        ("a = f16$ add(x, y)  b = f16$ negate(a)  ROOT r = f16$ multiply(b, a)", 1),
        ("a = f16$ add(x, y)  b = f16$ tanh(a)  c = f16$ exponential(b)"
         " ROOT r = (f16$, f16$) tuple(b, c)", 2),
        ("a = f16$ add(x, y)  b = f16$ multiply(a, x)  c = f16$ select(p, a, b)"
         " ROOT r = f16$ subtract(c, b)", 2),
        ("a = f16$ add(x, y)  ROOT r = f32$ convert(a)", 1),
        ("a = f16$ add(x, y)  f = f32$ convert(a)  e = f32$ exponential(f)  b = f16$ convert(e)"
         " g = f32$ convert(b)  ROOT r = f32$ add(g, e)", 2),
        ("i = s32$ convert(x)  a = f16$ convert(i)  ROOT r = f16$ add(a, y)", 1),
        ("i = f64$ convert(x)  e = f64$ multiply(i, i)  a = f16$ convert(e)"
         " ROOT r = f16$ add(a, y)", 0),
        ("z = f16[] constant(0)  n = f16[] constant(-0)  s = f16$ broadcast(z), dimensions={}"
         " t = f16$ broadcast(n), dimensions={}  a = f16$ add(x, s)  b = f16$ add(x, t)"
         " c = f16$ divide(y, a)  d = f16$ divide(y, b)  ROOT r = f16$ add(c, d)", 3),
    ],
)  # fmt: skip
def test_what_is_rounded_to_compute_with_it(operators: str, count: int) -> None:
    built = check(mapped(operators, "333"), target=TARGET, strict=True)
    assert calls(built, "ccg_round_f16") == count


def test_reduced_values() -> None:
    text = """m { a = f16[] parameter(0)  b = f16[] parameter(1)  ROOT s = f16[] add(a, b) }
    ENTRY e { x = f16[30,100] parameter(0)  c = f16[100] parameter(1)  z = f16[] constant(0)
      b = f16[30,100] broadcast(c), dimensions={1}  d = f16[30,100] subtract(x, b)
      q = f16[30,100] multiply(d, d)  ROOT r = f16[30] reduce(q, z), dimensions={1}, to_apply=m }"""
    assert calls(check(text, target=TARGET), "ccg_round_f16") >= 2


def test_what_is_read_on_a_condition_or_behind_its_store_stays() -> None:
    i, (x, y) = Var("i"), [Buffer(name, F32, (100,), Space.LOCAL) for name in "xy"]
    half = apply("convert", Load(x, (i,)), type=F16)
    other = apply("convert", Load(y, (i,)), type=F16)
    inside = apply("compare-lt", i, index(50), type=ElementType.PRED)
    chosen = apply("select", inside, apply("add", half, half), const(F16, 0))

    def rounded(*body: Store) -> int:
        """How many lines are rounded."""
        cut = round_lines(For(i, 100, body, LoopKind.VECTOR), 100, names())
        return sum(isinstance(s, CallC) for s in statements(cut))

    def wide(value: Expr) -> Expr:
        return apply("convert", value, type=F32)

    assert rounded(Store(y, (i,), wide(half))) == 1
    assert rounded(Store(x, (i,), wide(half))) == 1
    assert rounded(Store(y, (i,), wide(chosen))) == 0
    assert rounded(Store(y, (i,), wide(half)), Store(x, (i,), wide(other))) == 0


def test_a_run_of_an_array_is_rounded_where_it_lies() -> None:
    (x, y, z), i = [Buffer(name, F32, (100,), Space.LOCAL) for name in "xyz"], Var("i")

    def rounded(place: Expr, of: Buffer = x) -> list[str]:
        half = apply("convert", Load(of, (place,)), type=F16)
        total = apply("add", apply("convert", half, type=F32), Load(y, (i,)))
        cut = round_lines(For(i, 50, (Store(z, (i,), total),), LoopKind.VECTOR), 64, names())
        return [s.function for s in statements(cut) if isinstance(s, CallC)]

    twice = apply("multiply", i, index(2))
    assert rounded(apply("add", i, index(7))) == ["ccg_rounded_f16"]
    assert rounded(i) == ["ccg_rounded_f16"]
    assert rounded(twice) == ["ccg_round_f16"]


def names() -> Callable[[str], str]:
    count = itertools.count()
    return lambda hint: f"{hint}_{next(count)}"
