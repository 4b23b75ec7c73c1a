"""What a compiler's time is worth for kernels."""

from __future__ import annotations

import pytest

from ccodegen.emit.effort import Effort, effort, is_quick
from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.ir import (
    INDEX,
    Apply,
    Buffer,
    Const,
    For,
    If,
    Kernel,
    Let,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.support.element_type import ElementType

F32, PRED, S32 = ElementType.F32, ElementType.PRED, ElementType.S32
X, Y = (Buffer(name, F32, (4096,), Space.ARGUMENT) for name in "xy")
PLACES = Buffer("places", INDEX, (4096,), Space.ARGUMENT)
TURN = Var("i", INDEX)
ELEMENT = Load(X, (TURN,))
LOCAL = Buffer("sum", F32, ())
POSITIVE = Apply("greater", (ELEMENT, Const(F32, 0.0)), PRED)


def kernel(*last: Stmt, lets: int = 300, turns: int | Var = 4096) -> Kernel:
    value = apply("add", apply("multiply", ELEMENT, ELEMENT), ELEMENT)
    body = [Let(Var(f"t{n}", F32), value) for n in range(lets)]
    loop = For(TURN, turns, (*body, Store(Y, (TURN,), ELEMENT), *last))
    return Kernel("k", (X, Y), (loop,))


LARGEST = Let(Var("larger", F32), Apply("maximum", (ELEMENT, Const(F32, 0.0)), F32))
PLACE = Let(Var("place", INDEX), Load(PLACES, (TURN,)))


@pytest.mark.parametrize(
    "worth_some",
    [
        kernel(),
        kernel(LARGEST, lets=20),
        kernel(If(POSITIVE, (PLACE, Store(Y, (PLACE.var,), ELEMENT))), lets=20),
        kernel(PLACE, Store(Y, (apply("add", PLACE.var, index(1)),), ELEMENT), LARGEST, lets=20),
    ],
    ids=["long", "maximum", "scatter under a condition", "scatter"],
)
def test_straight_code_and_code_that_scatters_is_worth_some(worth_some: Kernel) -> None:
    assert effort(worth_some) is Effort.SOME


@pytest.mark.parametrize(
    "other",
    [
        kernel(lets=10),
        kernel(turns=Var("n", INDEX)),
        kernel(If(POSITIVE, (Store(Y, (index(0),), ELEMENT),))),
        kernel(Store(LOCAL, (), ELEMENT)),
        kernel(Let(Var("root", F32), Apply("sqrt", (ELEMENT,), F32))),
        kernel(Let(Var("larger", F32), Apply("select", (POSITIVE, ELEMENT, ELEMENT), F32))),
    ],
    ids=["short", "as long as data says", "branch", "variable", "root", "choice"],
)
def test_other_code_is_worth_most(other: Kernel) -> None:
    assert effort(other) is Effort.MOST


@pytest.mark.parametrize(
    ("conditions", "kind", "worth"),
    [
        (6, LoopKind.VECTOR, Effort.MASKS),
        (6, LoopKind.LANES, Effort.MOST),
        (3, LoopKind.VECTOR, Effort.MOST),
        (6, LoopKind.SERIAL, Effort.MOST),
    ],
)
def test_loops_over_lanes_that_combine_conditions(
    conditions: int, kind: LoopKind, worth: Effort
) -> None:
    limits = [compare("lt", ELEMENT, const(F32, n)) for n in range(conditions)]
    both = [apply("and", POSITIVE, limit) for limit in limits]
    lets = tuple(Let(Var(f"c{n}", PRED), value) for n, value in enumerate(both))
    loop = For(TURN, 4096, (*lets, Store(Y, (TURN,), ELEMENT)), kind)
    assert effort(Kernel("k", (X, Y), (loop,))) is worth


def test_a_loop_over_lanes_that_asks_for_what_is_chosen() -> None:
    logarithm = Let(Var("l", F32), apply("log", ELEMENT))
    doubled = Let(Var("d", F32), apply("add", logarithm.var, logarithm.var))
    asked = Let(Var("c", PRED), compare("lt", doubled.var, const(F32, 0.0)))
    store = Store(Y, (TURN,), doubled.var)
    loops = [
        For(TURN, 4096, body, LoopKind.VECTOR)
        for body in ((logarithm, doubled, asked, store), (logarithm, doubled, store))
    ]
    efforts = [effort(Kernel("k", (X, Y), (loop,))) for loop in loops]
    assert efforts == [Effort.MASKS, Effort.MOST]


@pytest.mark.parametrize("kind", [LoopKind.VECTOR, LoopKind.LANES])
def test_a_loop_over_lanes_that_asks_for_an_integer_made_of_a_float(kind: LoopKind) -> None:
    whole = Let(Var("n", S32), apply("convert", ELEMENT, type=S32))
    asked = Let(Var("c", PRED), compare("lt", whole.var, const(S32, 0)))
    loop = For(TURN, 4096, (whole, asked, Store(Y, (TURN,), ELEMENT)), kind)
    assert effort(Kernel("k", (X, Y), (loop,))) is Effort.MASKS


def test_a_loop_over_lanes_that_computes_with_a_word_made_of_a_float() -> None:
    limits = (const(F32, -8.0), const(F32, 7.0))
    word = Let(Var("n", S32), apply("saturate", ELEMENT, *limits, type=S32))
    again = Store(Y, (TURN,), apply("convert", word.var, type=F32))
    loop = For(TURN, 4096, (word, again), LoopKind.VECTOR)
    assert effort(Kernel("k", (X, Y), (loop,))) is Effort.MASKS


def test_little_work_is_worth_little() -> None:
    assert effort(kernel(turns=2)) is Effort.LITTLE


@pytest.mark.parametrize(
    ("operator", "element", "quick"),
    [("negate", F32, True), ("tanh", F32, False), ("negate", ElementType.C64, False)],
)
def test_little_work_may_take_long(operator: str, element: ElementType, quick: bool) -> None:
    x, y = (Buffer(name, element, (1000,), Space.ARGUMENT) for name in "xy")
    store = Store(y, (TURN,), Apply(operator, (Load(x, (TURN,)),), element))
    made = Kernel("k", (x, y), (For(TURN, 1000, (store,)),))
    assert effort(made) is Effort.LITTLE
    assert is_quick(made) == quick
