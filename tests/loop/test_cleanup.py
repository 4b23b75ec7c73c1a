"""Hoisting, sharing and removing keep what a kernel does, and do what they say."""

from __future__ import annotations

from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.cost import Cost, cost
from ccodegen.loop.cse import share_common
from ccodegen.loop.dead import remove_dead
from ccodegen.loop.hoist import hoist
from ccodegen.loop.ir import INDEX, Buffer, CallC, Expr, Kernel, Space, Stmt, Var
from ccodegen.loop.starts import name_starts
from ccodegen.loop.text import to_text
from ccodegen.ops.index import clamped
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import assert_same_effect

F32 = ElementType.F32
X = Buffer("x", F32, (4, 8), Space.ARGUMENT)
Y = Buffer("y", F32, (4, 8), Space.ARGUMENT)


def lines(*body: Stmt) -> list[str]:
    return [line.strip() for line in to_text(Kernel("k", (X, Y), body)).splitlines()[1:-1]]


@settings(max_examples=80, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    body = remove_dead(hoist(kernel.body))
    body = share_common(body, lambda hint: f"shared_{hint}")
    assert_same_effect(kernel, body)


def test_hoist_goes_out_of_all_loops_that_do_not_matter() -> None:
    b = Builder()
    with b.loop(4) as i, b.loop(8, "j") as j:
        t = b.let(apply("tanh", b.load(X, (i, index(0)))))
        u = b.let(apply("tanh", b.load(Y, (i, index(0)))), "u")
        b.store(Y, (i, j), apply("add", t, u))
    assert lines(*hoist(b.statements)) == [
        "for i < 4 {",
        "let t: f32 = tanh(x[i, 0])",
        "for j < 8 {",
        "let u: f32 = tanh(y[i, 0])",
        "y[i, j] = t + u",
        "}",
        "}",
    ]


def test_a_start_index_is_named_before_the_loop_that_does_not_change_it() -> None:
    s = Buffer("s", ElementType.S32, (4,), Space.ARGUMENT)
    b = Builder()
    with b.loop(4) as i, b.loop(8, "j") as j:
        row = clamped(b.load(s, (i,)), 3)
        b.store(Y, (i, j), b.load(X, (row, j)))
    assert lines(*name_starts(b.statements, b.fresh)) == [
        "for i < 4 {",
        "let start: index = convert:index(clamp(0:s32, s[i], 3:s32))",
        "for j < 8 {",
        "y[i, j] = x[start, j]",
        "}",
        "}",
    ]


def test_a_start_index_stays_where_a_turn_may_not_compute_it_or_changes_it() -> None:
    s = Buffer("s", ElementType.S32, (4,), Space.ARGUMENT)
    b = Builder()
    count = b.let(apply("convert", b.load(s, (index(0),)), type=INDEX), "count")
    with b.loop(count) as i:
        b.store(Y, (index(0), i), b.load(X, (clamped(b.load(s, (index(1),)), 3), i)))
    with b.loop(4) as i:
        b.store(Y, (i, i), b.load(X, (clamped(b.load(s, (index(2),)), 3), i)))
        b.store(s, (i,), const(ElementType.S32, 1))
    assert name_starts(b.statements, b.fresh) == b.statements


def test_slow_operators_are_shared_but_not_from_arms() -> None:
    b = Builder()
    number = iter(range(9))
    i = index(0)
    t = b.let(apply("add", b.load(X, (i, i)), b.load(X, (i, i))))
    slow: Expr = apply("tanh", apply("log", t))
    rare = apply("tan", t)
    positive = apply("compare-lt", const(F32, 0.0), t, type=ElementType.PRED)
    b.store(X, (i, i), apply("add", slow, apply("select", positive, rare, t)))
    b.store(Y, (i, i), apply("add", slow, apply("select", positive, rare, t)))
    shared = share_common(b.statements, lambda hint: f"{hint}{next(number)}")
    assert lines(*shared) == [
        "let t: f32 = x[0, 0] + x[0, 0]",
        "let log0: f32 = log(t)",
        "let tanh1: f32 = tanh(log0)",
        "x[0, 0] = tanh1 + select(0.0:f32 < t, tan(t), t)",
        "y[0, 0] = tanh1 + select(0.0:f32 < t, tan(t), t)",
    ]


def test_zeros_of_both_signs_are_not_shared() -> None:
    b = Builder()
    place = (index(0), index(0))
    b.store(X, place, apply("atan2", const(F32, 0.0), const(F32, -1.0)))
    b.store(Y, place, apply("atan2", const(F32, -0.0), const(F32, -1.0)))
    assert share_common(b.statements, lambda hint: hint) == b.statements


def test_dead_code_goes() -> None:
    b = Builder()
    with b.loop(4) as i:
        t = b.let(apply("tanh", b.load(X, (i, i))))
        local = b.local(F32, (8,), "local")
        with b.loop(8, "j") as j:
            b.store(local, (j,), apply("add", t, b.load(X, (i, j))))
    assert remove_dead(b.statements) == ()
    b.store(X, (index(0), index(0)), const(F32, 0.0))
    assert lines(*remove_dead(b.statements)) == ["x[0, 0] = 0.0:f32"]


def test_what_a_later_turn_loads_stays() -> None:
    b = Builder()
    total = b.variable(const(F32, 0.0), "total")
    with b.loop(4) as i:
        b.store(X, (i, i), b.load(total))
        b.store(total, (), b.load(Y, (i, i)))
    body = b.statements
    assert remove_dead(body) is body


def test_cost_of_loops() -> None:
    b = Builder()
    with b.loops((4, 8)) as (i, j):
        value = apply("add", b.load(X, (i, j)), const(F32, 1.0))
        b.store(Y, (i, j), apply("tanh", value))
    body = b.statements
    assert cost(body) == Cost(32, 32, 128, 128)
    assert cost(Kernel("k", (X, Y), (*body, *body))) == cost(body).times(2)


def test_cost_of_loops_whose_number_of_turns_has_a_limit() -> None:
    b = Builder()
    with b.loop(4) as i:
        rest = b.let(apply("minimum", apply("subtract", index(30), i), index(8)), "rest")
        with b.loop(apply("minimum", rest, index(9)), "j") as j:
            b.store(Y, (i, j), const(F32, 1.0))
    assert cost(b.statements) == Cost(bytes_written=128)


def test_cost_of_a_branch_is_the_greater_one() -> None:
    b = Builder()
    with b.when(apply("compare-lt", Var("i"), index(2), type=ElementType.PRED)):
        b.store(Y, (index(0), index(0)), const(F32, 1.0))
    with b.otherwise():
        b.store(Y, (index(0), index(0)), b.load(X, (index(0), index(0))))
    assert cost(b.statements) == Cost(1, 0, 4, 4)


def test_cost_of_tiles_is_that_of_their_products() -> None:
    sums, depth = Buffer("sums", F32, (2, 8), Space.LOCAL), 4
    steps = tuple(map(index, (0, 8, 1, 0, depth)))
    tile = CallC("ccg_tile_f32_2x8", "ccg_tile_f32_2x8.h", (sums, X, Y), steps)
    assert cost((tile,)).operations == 2 * 8 * depth
    steps = tuple(map(index, (0, 8, 1, 0, 8, 2)))
    window = CallC("ccg_window_f32_2x8_3s1", "ccg_window_f32_2x8_3s1.h", (sums, X, Y), steps)
    assert cost((window,)).operations == 2 * 8 * 3 * 2
