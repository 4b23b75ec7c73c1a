"""Arms of choices get names: slow ones that read what is read in any case, and gathers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, compare, const, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, Kernel, LoopKind, Space
from ccodegen.loop.name_arms import name_arms
from ccodegen.loop.text import to_text
from ccodegen.loop.verify_kernel import verify_kernel
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import assert_same_effect

F32 = ElementType.F32
X, Y, Z = (Buffer(name, F32, (32,), Space.ARGUMENT) for name in "xyz")
AT = Buffer("at", ElementType.S32, (32,), Space.ARGUMENT)


def named(
    arm: str, kind: LoopKind = LoopKind.VECTOR, turns: int = 32, masked_bytes: int = 4
) -> list[str]:
    """The statements in a loop over y[i] = x[i] > 0 ? (an arm) : 1."""
    b = Builder()
    with b.loop(turns, "i", kind) as i:
        x = b.load(X, (i,))
        at = apply("maximum", apply("convert", b.load(AT, (i,)), type=INDEX), index(0))
        arms: dict[str, Expr] = {
            "slow": apply("exponential", x),
            "quick": apply("negate", x),
            "reads more": apply("exponential", b.load(Z, (i,))),
            "gathers": b.load(Z, (apply("minimum", at, index(7)),)),
            "gathers beyond": b.load(Z, (at,)),
            "gathers and reads beyond": apply(
                "add",
                b.load(Z, (apply("minimum", at, index(7)),)),
                b.load(Z, (apply("add", i, index(1)),)),
            ),
            "reads": b.load(Z, (i,)),
            "reads backwards": b.load(Z, (apply("subtract", index(31), i),)),
            "divides": apply(
                "exponential",
                apply("convert", apply("divide", index(8), i), type=F32),
            ),
            "chooses": apply(
                "select", compare("lt", x, const(F32, 9.0)), apply("log", x), const(F32, 2.0)
            ),
        }
        b.store(Y, (i,), apply("select", compare("gt", x, const(F32, 0.0)), arms[arm], x))
    kernel = Kernel("k", (X, Y, Z, AT), name_arms(b.statements, b.fresh, masked_bytes))
    verify_kernel(kernel)
    return [line.strip() for line in to_text(kernel).splitlines()[2:-2]]


def test_a_slow_arm() -> None:
    assert named("slow") == [
        "let choice: f32 = exponential(x[i])",
        "y[i] = select(x[i] > 0.0:f32, choice, x[i])",
    ]


def test_an_arm_at_an_index_from_memory() -> None:
    assert named("gathers") == [
        "let choice: f32 = z[minimum(maximum(convert:index(at[i]), 0), 7)]",
        "y[i] = select(x[i] > 0.0:f32, choice, x[i])",
    ]


def test_an_arm_that_is_not_read_side_by_side() -> None:
    assert named("reads backwards") == [
        "let choice: f32 = z[31 - i]",
        "y[i] = select(x[i] > 0.0:f32, choice, x[i])",
    ]


@pytest.mark.parametrize(("turns", "masked_bytes"), [(16, 4), (32, 0), (32, 8)])
def test_an_arm_that_no_vectors_are_read_of(turns: int, masked_bytes: int) -> None:
    assert named("reads", turns=turns, masked_bytes=masked_bytes) == [
        "let choice: f32 = z[i]",
        "y[i] = select(x[i] > 0.0:f32, choice, x[i])",
    ]


@pytest.mark.parametrize("moves", [False, True])
def test_an_arm_that_is_read_before(moves: bool) -> None:
    """Unless it is another element now."""
    beyond = Buffer("v", F32, (7,))
    b = Builder()
    with b.loop(8, "i", LoopKind.VECTOR) as i:
        v = b.load(beyond, (apply("convert", b.load(AT, (i,)), type=INDEX),))
        positive = b.let(compare("gt", v, const(F32, 0.0)), "positive")
        if moves:
            b.store(AT, (i,), const(AT.type, 5))
        b.store(Y, (i,), apply("select", positive, v, apply("exponential", v)))
    kernel = Kernel("k", (AT, Y, beyond), name_arms(b.statements, b.fresh))
    last = to_text(kernel).splitlines()[-3].strip()
    element = "v[convert:index(at[i])]"
    unchanged = f"y[i] = select(positive, {element}, exponential({element}))"
    assert last == (unchanged if moves else "y[i] = select(positive, choice, choice_1)")


def test_an_arm_that_is_inside_as_loops_end_there() -> None:
    b = Builder()
    rows = Buffer("v", F32, (320,), Space.ARGUMENT)
    with b.loop(4, "turn") as turn:
        first = apply("multiply", turn, index(6))
        left = apply("subtract", index(20), first)
        with b.loop(apply("minimum", left, index(6)), "row") as row:
            start = apply("multiply", apply("add", first, row), index(16))
            with b.loop(16, "i", LoopKind.VECTOR) as i:
                v = b.load(rows, (apply("add", start, i),))
                positive = compare("gt", b.load(X, (i,)), const(F32, 0.0))
                b.store(Y, (i,), apply("select", positive, v, const(F32, 1.0)))
    kernel = Kernel("k", (X, Y, rows), name_arms(b.statements, b.fresh))
    assert "select(x[i] > 0.0:f32, choice, 1.0:f32)" in to_text(kernel)


def test_an_arm_of_an_arm() -> None:
    assert named("chooses") == [
        "let choice_1: f32 = log(x[i])",
        "let choice: f32 = select(x[i] < 9.0:f32, choice_1, 2.0:f32)",
        "y[i] = select(x[i] > 0.0:f32, choice, x[i])",
    ]


def test_arms_that_are_complex_numbers() -> None:
    c64 = ElementType.C64
    inside, beyond = (Buffer(n, c64, (size,), Space.ARGUMENT) for n, size in (("u", 8), ("v", 7)))
    out = Buffer("w", c64, (8,), Space.ARGUMENT)
    b = Builder()
    with b.loop(8, "i", LoopKind.VECTOR) as i:
        arms = b.load(inside, (i,)), b.load(beyond, (i,))
        positive = compare("gt", b.load(X, (i,)), const(F32, 0.0))
        b.store(out, (i,), apply("select", positive, *arms))
    kernel = Kernel("k", (X, inside, beyond, out), name_arms(b.statements, b.fresh))
    assert [line.strip() for line in to_text(kernel).splitlines()[2:-2]] == [
        "let choice: c64 = u[i]",
        "w[i] = select(x[i] > 0.0:f32, choice, v[i])",
    ]


def asked(second: str) -> list[str]:
    """The statements in a loop over p[i] = x[i] > 0 and (a second condition)."""
    p, beyond = Buffer("p", ElementType.PRED, (8,), Space.ARGUMENT), Buffer("v", F32, (7,))
    b = Builder()
    with b.loop(8, "i", LoopKind.VECTOR) as i:
        x, one = b.load(X, (i,)), const(F32, 1.0)
        conditions: dict[str, Expr] = {
            "plain": compare("lt", x, one),
            "computed": compare("lt", apply("negate", x), one),
            "read": compare("lt", b.load(Z, (i,)), one),
            "read beyond": compare("lt", b.load(beyond, (i,)), one),
            "divides": compare("lt", apply("convert", apply("divide", index(8), i), type=F32), x),
            "chosen": compare("lt", apply("select", compare("lt", x, one), x, one), x),
        }
        first = compare("gt", x, const(F32, 0.0))
        b.store(p, (i,), apply("and", first, conditions[second]))
    kernel = Kernel("k", (X, Z, beyond, p), name_arms(b.statements, b.fresh))
    return [line.strip() for line in to_text(kernel).splitlines()[2:-2]]


def test_second_conditions() -> None:
    both = "p[i] = x[i] > 0.0:f32 and is"
    assert asked("computed") == ["let is: pred = negate(x[i]) < 1.0:f32", both]
    assert asked("read") == ["let is: pred = z[i] < 1.0:f32", both]
    assert asked("chosen") == [
        "let choice: f32 = select(x[i] < 1.0:f32, x[i], 1.0:f32)",
        "let is: pred = choice < x[i]",
        both,
    ]
    assert len(asked("plain")) == len(asked("read beyond")) == len(asked("divides")) == 1


@settings(max_examples=80, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    builder = Builder()
    body = name_arms(kernel.body, lambda hint: builder.fresh(f"new_{hint}"))
    assert_same_effect(kernel, body)


def test_what_stays() -> None:
    beyond = ("gathers beyond", "gathers and reads beyond")
    for arm in ("quick", "reads", "reads more", "divides", *beyond):
        assert len(named(arm)) == 1, arm
    assert len(named("slow", LoopKind.SERIAL)) == 1
