"""Variables that get one value become names; others stay."""

from __future__ import annotations

from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import Buffer, Kernel, Space
from ccodegen.loop.name_values import name_values
from ccodegen.loop.text import to_text
from ccodegen.loop.verify import verify_kernel
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import assert_same_effect

F32, PRED = ElementType.F32, ElementType.PRED
X = Buffer("x", F32, (9,), Space.ARGUMENT)
Y = Buffer("y", F32, (9,), Space.ARGUMENT)


@settings(max_examples=80, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    assert_same_effect(kernel, name_values(kernel.body))


def lines(builder: Builder) -> list[str]:
    kernel = Kernel("k", (X, Y), name_values(builder.statements))
    verify_kernel(kernel)
    return [line.strip() for line in to_text(kernel).splitlines()[1:-1]]


def test_one_value() -> None:
    b = Builder()
    with b.loop(9) as i:
        t = b.variable(b.load(X, (i,)), "t")
        b.store(Y, (i,), apply("add", b.load(t), b.load(t)))
    assert lines(b) == ["for i < 9 {", "let t: f32 = x[i]", "y[i] = t + t", "}"]


def test_a_value_that_comes_from_a_branch() -> None:
    b = Builder()
    t = b.local(F32, (), "t")
    with b.loop(9) as i:
        with b.when(apply("compare-lt", i, index(3), type=PRED)):
            b.store(t, (), const(F32, 1.0))
        b.store(Y, (i,), const(F32, 2.0))
    assert "local t: f32[]" in lines(b)


def test_two_values() -> None:
    b = Builder()
    t = b.variable(const(F32, 1.0), "t")
    b.store(Y, (index(0),), b.load(t))
    b.store(t, (), const(F32, 2.0))
    b.store(Y, (index(1),), b.load(t))
    assert "local t: f32[]" in lines(b)
