"""Loops are cut where conditions on their index change: the same effect, and nobody asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.cut_loops import cut_loops
from ccodegen.loop.interpret import run_kernel
from ccodegen.loop.ir import Buffer, Expr, For, Kernel, LoopKind, Space, Stmt
from ccodegen.loop.rebuild import rebuild
from ccodegen.loop.simplify_body import simplify_body
from ccodegen.loop.text import to_text
from ccodegen.loop.verify import verify_kernel
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import result

F32, PRED = ElementType.F32, ElementType.PRED
X = Buffer("x", F32, (9,), Space.ARGUMENT)
Y = Buffer("y", F32, (9,), Space.ARGUMENT)


class Numbers:
    """Fresh names for kernels that were built elsewhere."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, hint: str) -> str:
        self._count += 1
        return f"{hint}_cut{self._count}"


@settings(max_examples=150, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    whole = Kernel(kernel.name, kernel.buffers, rebuild(kernel.body, lambda e: e, in_order))
    cut = Kernel("cut", kernel.buffers, cut_loops(simplify_body(whole.body), Numbers()))
    verify_kernel(cut)
    assert result(cut) == result(whole), to_text(cut)


def in_order(statement: Stmt) -> Stmt:
    """Random loops are called independent where they are not."""
    return replace(statement, kind=LoopKind.SERIAL) if isinstance(statement, For) else statement


def lines(builder: Builder, buffers: tuple[Buffer, ...] = (X, Y), vector: int = 1) -> list[str]:
    body = cut_loops(simplify_body(builder.statements), builder.fresh, vector)
    kernel = Kernel("k", buffers, body)
    verify_kernel(kernel)
    return [line.strip() for line in to_text(kernel).splitlines()[1:-1]]


def chosen(condition: Expr, a: Expr, b: Expr) -> Expr:
    return apply("select", condition, a, b)


def test_a_piece_for_each_range() -> None:
    b = Builder()
    with b.loop(9) as i:
        last = apply("compare-ge", i, index(8), type=PRED)
        following = b.load(X, (apply("add", i, index(1)),))
        b.store(Y, (i,), chosen(last, b.load(X, (index(0),)), following))
    assert lines(b) == [
        "for i < 8 {",
        "y[i] = x[i + 1]",
        "}",
        "y[8] = x[0]",
    ]


def test_what_is_bound_in_a_piece_has_names_of_its_own() -> None:
    b = Builder()
    with b.loop(6, "i") as i:
        value = b.let(b.load(X, (i,)), "value")
        with b.when(apply("compare-lt", i, index(2), type=PRED)):
            total = b.variable(value, "total")
            b.store(Y, (i,), b.load(total))
        with b.otherwise():
            b.store(Y, (i,), apply("add", value, value))
    assert lines(b) == [
        "for i < 2 {",
        "let value: f32 = x[i]",
        "local total: f32[]",
        "total[] = value",
        "y[i] = total[]",
        "}",
        "for i_1 < 4 {",
        "let value_1: f32 = x[i_1 + 2]",
        "y[i_1 + 2] = value_1 + value_1",
        "}",
    ]


def test_a_window_asks_at_the_borders_alone() -> None:
    """Both loops have their say: at the border of the outer one the inner one is cut."""
    b = Builder()
    with b.loop(4) as i, b.loop(3, "w") as w:
        place = apply("subtract", apply("add", apply("multiply", i, index(2)), w), index(1))
        inside = apply("compare-ge", place, index(0), type=PRED)
        padding = const(F32, 0.0)
        b.store(Y, (w,), chosen(inside, b.load(X, (place,)), padding))
    assert lines(b) == [
        "y[0] = 0.0:f32",
        "for w_1 < 2 {",
        "y[w_1 + 1] = x[w_1]",
        "}",
        "for i_1 < 3 {",
        "for w_2 < 3 {",
        "y[w_2] = x[i_1 * 2 + w_2 + 1]",
        "}",
        "}",
    ]


def test_a_long_piece_begins_where_a_vector_begins() -> None:
    x, y = (Buffer(name, F32, (3 * 200,), Space.ARGUMENT) for name in "xy")
    b = Builder()
    with b.loop(3) as row, b.loop(200, "j") as j:
        place = apply("add", apply("multiply", row, index(200)), j)
        first = apply("compare-eq", j, index(0), type=PRED)
        b.store(y, (place,), chosen(first, const(F32, 0.0), b.load(x, (place,))))
    assert lines(b, (x, y), vector=32) == [
        "for i < 3 {",
        "y[i * 200] = 0.0:f32",
        "for j_1 < 7 {",
        "y[i * 200 + j_1 + 1] = x[i * 200 + j_1 + 1]",
        "}",
        "for j_2 < 192 {",
        "y[i * 200 + j_2 + 8] = x[i * 200 + j_2 + 8]",
        "}",
        "}",
    ]


def test_a_loop_stays_whole_where_its_pieces_would_be_much_code() -> None:
    b = Builder()
    with b.loop(9) as i:
        for n in range(1, 9):
            before = apply("compare-lt", i, index(n), type=PRED)
            value: Expr = b.load(X, (i,))
            for _ in range(50):
                value = apply("multiply", value, const(F32, float(n)))
            b.store(Y, (i,), chosen(before, value, b.load(X, (i,))))
    assert sum(line.startswith("y[i] = select") for line in lines(b)) == 8


@pytest.mark.parametrize(("first", "last"), [(40, 0), (0, 40), (40, 40), (12, 40)])
def test_where_all_pieces_would_be_much_code_the_edges_ask(first: int, last: int) -> None:
    """A sum of what lies up to so many places before and behind, around the ends."""
    size = 300
    x, y = (Buffer(name, F32, (size,), Space.ARGUMENT) for name in "xy")
    b = Builder()
    with b.loop(size, kind=LoopKind.VECTOR) as i:
        total: Expr = b.load(x, (i,))
        for shift in (*range(-first, 0), *range(1, last + 1)):
            place = apply("add", i, index(shift))
            at_end = apply("compare-ge", place, index(size), type=PRED)
            if shift < 0:
                at_end = apply("compare-lt", place, index(0), type=PRED)
            around = apply("subtract", place, index(size if shift > 0 else -size))
            value = chosen(at_end, b.load(x, (around,)), b.load(x, (place,)))
            total = apply("add", total, apply("multiply", value, const(F32, 1.5)))
        b.store(y, (i,), total)
    whole = Kernel("whole", (x, y), simplify_body(b.statements))
    cut = Kernel("cut", (x, y), cut_loops(whole.body, b.fresh))
    verify_kernel(cut)
    stores = [line for line in to_text(cut).splitlines() if "y[" in line]
    assert ["select" in line for line in stores] in ([True, False], [False, True])
    given = np.arange(size, dtype=np.float32)
    results = [np.zeros(size, np.float32) for _ in range(2)]
    for kernel, out in zip((whole, cut), results, strict=True):
        run_kernel(kernel, [given, out])
    assert results[0].tobytes() == results[1].tobytes()
