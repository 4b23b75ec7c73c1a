"""Simplified kernels do the same, and the forms that disappear do disappear."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.interpret import run_kernel
from ccodegen.loop.ir import Buffer, Expr, If, Kernel, Let, Space, Stmt, Store, Var
from ccodegen.loop.rebuild import Body
from ccodegen.loop.simplify_body import simplify_body
from ccodegen.loop.text import to_text
from ccodegen.loop.verify import verify_kernel
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels

F32, PRED = ElementType.F32, ElementType.PRED
X = Buffer("x", F32, (4,), Space.ARGUMENT)


def result(kernel: Kernel) -> bytes:
    """The bits of `out`, given x and n that are always the same."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6) - 11
    n = np.array([3, -1, 7, 0, 2, 5], np.int32)
    out = np.zeros((4, 6), np.float32)
    run_kernel(kernel, [x, n, out])
    return out.tobytes()


def assert_same_effect(kernel: Kernel, body: Body) -> None:
    """Of the kernel and of one with another body."""
    changed = Kernel(kernel.name, kernel.buffers, body)
    verify_kernel(changed)
    assert result(changed) == result(kernel), to_text(changed)


@settings(max_examples=150, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    verify_kernel(kernel)
    assert_same_effect(kernel, simplify_body(kernel.body))


@settings(max_examples=50, deadline=None)
@given(kernels())
def test_simple_bodies_are_handed_back(kernel: Kernel) -> None:
    body = kernel.body
    for _ in range(4):
        body = simplify_body(body)
    assert to_text(Kernel("k", kernel.buffers, simplify_body(body))) == to_text(
        Kernel("k", kernel.buffers, body)
    )


def lines(*body: Stmt) -> list[str]:
    """The simplified statements as text."""
    return to_text(Kernel("k", (X,), simplify_body(body))).splitlines()[1:-1]


def less(a: Expr, b: Expr) -> Expr:
    return apply("compare-lt", a, b, type=PRED)


def test_single_turns_trivial_names_and_decided_branches() -> None:
    b = Builder()
    with b.loop(1) as i, b.when(less(i, apply("add", i, index(2)))):
        name = Var("name")
        b.emit(Let(name, i))
        b.store(X, (name,), const(F32, 0.0))
    assert lines(*b.statements) == ["  x[0] = 0.0:f32"]


def test_empty_statements_go() -> None:
    b = Builder()
    with b.loop(4) as i, b.when(less(i, index(2))):
        b.note("nothing here")
    with b.loop(0) as i:
        b.store(X, (i,), const(F32, 0.0))
    assert lines(*b.statements) == []


def test_empty_then_turns_the_condition() -> None:
    i = Var("i")
    store = Store(X, (i,), const(F32, 0.0))
    b = Builder()
    with b.loop(4) as i:
        b.emit(If(less(i, index(2)), (), (store,)))
    assert lines(*b.statements)[1] == "    if i >= 2 {"


def test_constants_fold_to_the_bit() -> None:
    third = apply("divide", const(F32, 1.0), const(F32, 3.0))
    total = apply("add", third, const(F32, 0.5))
    assert lines(Store(X, (index(0),), total)) == ["  x[0] = 0.8333333730697632:f32"]


def test_what_is_simple_stays_the_same_object() -> None:
    b = Builder()
    with b.loop(4) as i:
        b.store(X, (i,), apply("add", b.load(X, (i,)), const(F32, 1.0)))
    body = b.statements
    assert simplify_body(body) is body


def test_a_maximum_with_the_least_value() -> None:
    b = Builder()
    best = b.variable(const(F32, 1.0), "best")
    with b.loop(3):
        lowest = const(F32, -np.inf)
        b.store(best, (), apply("maximum", lowest, b.load(best)))
    assert len(simplify_body(b.statements)) == 2
