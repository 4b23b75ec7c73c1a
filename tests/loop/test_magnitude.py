"""Bounds of absolute values."""

from __future__ import annotations

import math

import pytest

from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import Buffer, Expr, Let, Load, Store, Var
from ccodegen.loop.magnitude import Magnitudes
from ccodegen.support.element_type import ElementType

F32, S8, S32, PRED = ElementType.F32, ElementType.S8, ElementType.S32, ElementType.PRED
X, Y, IS = Var("x", F32), Var("y", F32), Var("is", PRED)


def number(value: float) -> Expr:
    return const(F32, value)


def floor(x: Expr) -> Expr:
    return apply("floor", x)


@pytest.mark.parametrize(
    ("expr", "bound"),
    [
        (X, math.inf),
        (number(-3.5), 3.5),
        (number(math.nan), 0.0),
        (apply("negate", apply("sine", X)), 1.0),
        (apply("add", apply("tanh", X), number(-2.0)), 3.0),
        (apply("multiply", apply("cosine", X), number(-6.0)), 6.0),
        (apply("multiply", number(0.0), X), math.inf),
        (apply("divide", number(1.0), X), math.inf),
        (apply("select", IS, number(2.0), apply("sine", X), type=F32), 2.0),
        (apply("select", IS, number(2.0), X, type=F32), math.inf),
        (apply("clamp", number(-4.0), X, number(1.0)), 4.0),
        (apply("convert", Var("i", S8), type=F32), 256.0),
        (apply("convert", Var("i", S32), type=F32), math.inf),
        (apply("subtract", X, floor(X)), 1.0),
        (apply("subtract", X, floor(apply("add", X, number(0.5)))), 1.5),
        (apply("subtract", X, floor(apply("add", X, number(3.0)))), math.inf),
        (apply("subtract", X, floor(apply("add", X, X))), math.inf),
        (apply("subtract", X, floor(Y)), math.inf),
        (apply("subtract", floor(X), X), math.inf),
    ],
)
def test_bounds(expr: Expr, bound: float) -> None:
    assert Magnitudes(()).bound(expr) == bound


def test_names_stand_for_what_they_are_given() -> None:
    size, whole, rest = (Var(name, F32) for name in ("size", "whole", "rest"))
    body = (
        Let(size, apply("abs", X)),
        Let(whole, floor(size)),
        Let(rest, apply("subtract", size, whole)),
    )
    assert Magnitudes(body).bound(apply("multiply", rest, number(3.0))) == 3.0
    assert Magnitudes(body[:2]).bound(rest) == math.inf


def test_what_is_stored_meanwhile_is_another_number() -> None:
    y = Buffer("y", F32, ())
    whole, element = Var("whole", F32), Load(y)
    rest = apply("subtract", element, whole)
    named = Let(whole, floor(element))
    assert Magnitudes((named,)).bound(rest) == 1.0
    assert Magnitudes((named, Store(y, (), X))).bound(rest) == math.inf
