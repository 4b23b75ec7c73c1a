"""Conditions of vector loops are made of "and" and "or"."""

from __future__ import annotations

from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, compare, const
from ccodegen.loop.ir import Buffer, Expr, Kernel, LoopKind, Space
from ccodegen.loop.mask_choices import mask_choices
from ccodegen.loop.text import to_text
from ccodegen.loop.verify_kernel import verify_kernel
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import assert_same_effect

F32, PRED, U8 = ElementType.F32, ElementType.PRED, ElementType.U8
X, Z, Y = (Buffer(name, F32, (8,), Space.ARGUMENT) for name in "xzy")
P = Buffer("p", PRED, (8,), Space.ARGUMENT)


def masked(value: str, kind: LoopKind = LoopKind.VECTOR) -> list[str]:
    """The statements in a loop that stores such a value."""
    b = Builder()
    with b.loop(8, "i", kind) as i:
        x, z, one = b.load(X, (i,)), b.load(Z, (i,)), const(F32, 1.0)
        positive, small = compare("gt", x, const(F32, 0.0)), compare("lt", z, one)

        def chosen(condition: Expr, chosen: Expr, other: Expr) -> Expr:
            return apply("select", condition, chosen, other)

        choice = chosen(positive, small, compare("eq", x, z))
        limited = chosen(small, x, one)
        if value == "condition":
            b.store(P, (i,), choice)
        elif value == "choice":
            b.store(Y, (i,), chosen(choice, x, z))
        elif value == "named":
            b.store(Y, (i,), chosen(b.let(choice, "is"), x, z))
        elif value == "compared":
            b.store(P, (i,), compare("lt", limited, const(F32, 3.0)))
        elif value.startswith("named, ") or value == "named and compared":
            name = b.let(limited, "v")
            if value == "named, overwritten and compared":
                b.store(X, (i,), one)
            b.store(P, (i,), compare("ne", name, name))
        elif value == "computed and compared":
            b.store(P, (i,), compare("lt", chosen(small, apply("negate", x), one), z))
        elif value == "converted":
            b.store(Y, (i,), apply("convert", small, type=F32))
            b.store(Y, (i,), apply("convert", b.load(P, (i,)), type=F32))
            b.store(P, (i,), apply("convert", apply("convert", small, type=U8), type=PRED))
    kernel = Kernel("k", (X, Z, Y, P), mask_choices(b.statements))
    verify_kernel(kernel)
    return [line.strip() for line in to_text(kernel).splitlines()[2:-2]]


def test_a_choice_between_conditions() -> None:
    condition = "x[i] > 0.0:f32 and z[i] < 1.0:f32 or not(x[i] > 0.0:f32) and x[i] == z[i]"
    assert masked("choice") == [f"y[i] = select({condition}, x[i], z[i])"]
    assert masked("named") == [f"let is: pred = {condition}", "y[i] = select(is, x[i], z[i])"]


def test_one_that_is_stored_or_in_no_vector_stays() -> None:
    choice = "select(x[i] > 0.0:f32, z[i] < 1.0:f32, x[i] == z[i])"
    assert masked("condition") == [f"p[i] = {choice}"]
    assert masked("choice", LoopKind.SERIAL) == [f"y[i] = select({choice}, x[i], z[i])"]


def test_arms_are_compared_where_one_is_a_constant() -> None:
    assert masked("compared") == [
        "p[i] = z[i] < 1.0:f32 and x[i] < 3.0:f32 or not(z[i] < 1.0:f32)",
    ]
    assert masked("named and compared") == [
        "let v: f32 = select(z[i] < 1.0:f32, x[i], 1.0:f32)",
        "p[i] = z[i] < 1.0:f32 and x[i] != x[i]",
    ]
    assert masked("named, overwritten and compared")[-1] == "p[i] = v != v"
    assert masked("computed and compared") == [
        "p[i] = select(z[i] < 1.0:f32, negate(x[i]), 1.0:f32) < z[i]",
    ]


def test_a_condition_chooses_its_number() -> None:
    assert masked("converted") == [
        "y[i] = select(z[i] < 1.0:f32, 1.0:f32, 0.0:f32)",
        "y[i] = convert:f32(p[i])",
        "p[i] = convert:pred(convert:u8(z[i] < 1.0:f32))",
    ]
    assert masked("converted", LoopKind.SERIAL)[0] == "y[i] = convert:f32(z[i] < 1.0:f32)"


@settings(max_examples=100, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    assert_same_effect(kernel, mask_choices(kernel.body))
