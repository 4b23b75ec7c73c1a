"""Expressions: precedence, folded indices, and the same meaning as in the interpreter's table."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from ccodegen.emit.expression import ExpressionPrinter
from ccodegen.emit.spelling import read_template
from ccodegen.loop.builder import apply, const, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, Load, Space, Var
from ccodegen.support.element_type import ElementType

F32, S32, PRED = ElementType.F32, ElementType.S32, ElementType.PRED
A, B, C = (Var(name, F32) for name in "abc")
PRODUCT = apply("multiply", A, B)
ROW, COLUMN = Var("i"), Var("j")
X = Buffer("x", F32, (4, 12), Space.ARGUMENT)
LESS = apply("compare-lt", A, B, type=PRED)
ZERO_LESS = apply("compare-lt", const(F32, 0.0), C, type=PRED)


def text(expr: Expr) -> str:
    return ExpressionPrinter(lambda thing: thing.name, set()).text(expr)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (apply("add", apply("add", A, B), C), "a + b + c"),
        (apply("add", A, apply("add", B, C)), "a + (b + c)"),
        (apply("subtract", A, apply("subtract", B, C)), "a - (b - c)"),
        (apply("multiply", apply("add", A, B), C), "(a + b) * c"),
        (apply("add", apply("multiply", A, B), C), "a * b + c"),
        (apply("fma", A, apply("add", A, B), PRODUCT), "ccg_fma_f32(a, a + b, a * b)"),
        (apply("divide", A, apply("multiply", B, C)), "a / (b * c)"),
        (apply("negate", apply("negate", A)), "-(-a)"),
        (apply("negate", const(F32, -1.0)), "-(-1.0f)"),
        (apply("subtract", A, const(F32, -1.0)), "a - -1.0f"),
        (apply("select", LESS, A, apply("add", B, C)), "a < b ? a : b + c"),
        (apply("select", LESS, apply("select", LESS, A, B), C), "a < b ? (a < b ? a : b) : c"),
        (apply("and", LESS, ZERO_LESS), "a < b && 0.0f < c"),
        (apply("or", apply("and", LESS, LESS), LESS), "(a < b && a < b) || a < b"),
        (apply("not", LESS), "!(a < b)"),
        (apply("maximum", apply("add", A, B), C), "ccg_maximum_f32(a + b, c)"),
        (apply("convert", apply("add", A, B), type=ElementType.F64), "(double)(a + b)"),
        (apply("add", *(Var(n, S32) for n in "mn")), "(int32_t)((uint32_t)m + (uint32_t)n)"),
    ],
)
def test_parentheses(expr: Expr, expected: str) -> None:
    assert text(expr) == expected


def test_floats_that_c_lacks_are_rounded_where_they_are() -> None:
    h, half = Var("h", ElementType.F16), const(ElementType.F16, -0.5)
    total = apply("add", apply("multiply", h, half), apply("convert", A, type=ElementType.F16))
    product = "ccg_nearest_f16(ccg_f32_from_f16(h) * (-0.5f))"
    assert text(total) == f"ccg_f16_from_f32({product} + ccg_nearest_f16(a))"
    either = apply("select", LESS, apply("negate", h), h)
    assert text(apply("convert", either, type=F32)).startswith("ccg_f32_from_f16(a < b ?")


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ((ROW, COLUMN), "x[i * 12 + j]"),
        ((index(2), COLUMN), "x[j + 24]"),
        ((index(0), index(0)), "x[0]"),
        ((apply("add", ROW, index(1)), apply("subtract", COLUMN, index(3))), "x[i * 12 + j + 9]"),
        ((ROW, apply("remainder", COLUMN, index(5), type=INDEX)), "x[i * 12 + j % 5]"),
        ((ROW, apply("divide", apply("add", ROW, COLUMN), index(2))), "x[i * 12 + (i + j) / 2]"),
    ],
)
def test_indices_are_flat_and_folded(indices: Sequence[Expr], expected: str) -> None:
    assert text(Load(X, tuple(indices))) == expected


def test_scalar_variable_has_no_index() -> None:
    assert text(Load(Buffer("total", F32, ()))) == "total"
    assert text(Load(Buffer("y", F32, (), Space.ARENA))) == "y[0]"


def test_headers_are_collected() -> None:
    headers: set[str] = set()
    ExpressionPrinter(lambda thing: thing.name, headers).text(apply("exponential", A))
    assert headers == {"ccg_math_f32.h"}


@pytest.mark.parametrize(
    ("template", "arguments", "strength"),
    [
        ("ccg_f({0}, {1})", 2, 15),
        ("(uint8_t)({0} & {1})", 2, 14),
        ("0u - {0}", 1, 12),
        ("ccg_f({0}) < ccg_f({1})", 2, 10),
        ("{0} != 0", 1, 9),
    ],
)
def test_strength_is_that_of_the_weakest_operator(
    template: str, arguments: int, strength: int
) -> None:
    found, binds = read_template(template, arguments)
    assert found == strength
    assert len(binds) == len(re.findall(r"\{\d\}", template))


def test_arrays_are_guarded_and_scalar_variables_are_not() -> None:
    printer = ExpressionPrinter(lambda thing: thing.name, set(), guarded=True)
    assert printer.text(Load(X, (ROW, COLUMN))) == "CCG_GUARDED(float, x[i * 12 + j])"
    assert printer.text(Load(Buffer("s", F32, (), Space.LOCAL))) == "s"
