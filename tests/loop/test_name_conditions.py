"""Conditions on single elements are computed before a vector loop, where they may be read."""

from __future__ import annotations

from hypothesis import given, settings

from ccodegen.loop.builder import Builder, apply, const, index
from ccodegen.loop.ir import INDEX, Buffer, Expr, For, Kernel, Let, LoopKind
from ccodegen.loop.name_conditions import name_conditions
from ccodegen.support.element_type import ElementType
from tests.loop.kernels import kernels
from tests.loop.test_simplify_body import assert_same_effect

F32, PRED = ElementType.F32, ElementType.PRED
X, P = Buffer("x", F32, (8,)), Buffer("p", PRED, (2,))


def _loop(b: Builder, place: int | None, kind: LoopKind, written: bool = False) -> None:
    with b.loop(8, "i", kind) as i:
        at: Expr = i if place is None else index(place)
        chosen = apply("select", b.load(P, (at,)), b.load(X, (i,)), const(F32, 1.0))
        inside = apply("compare-lt", i, index(5), type=PRED)
        b.store(X, (i,), apply("select", inside, chosen, const(F32, 2.0)))
        if written:
            b.store(P, (index(0),), const(PRED, False))


def _named(place: int | None, kind: LoopKind = LoopKind.VECTOR, written: bool = False) -> bool:
    b = Builder()
    _loop(b, place, kind, written)
    body = name_conditions(b.statements, b.fresh)
    assert isinstance(body[-1], For) and body[-1].var.type is INDEX
    return isinstance(body[0], Let)


def test_only_elements_that_are_there_and_stay_the_same() -> None:
    assert _named(0) and _named(1)
    assert not _named(2)
    assert not _named(None)
    assert not _named(0, written=True)
    assert not _named(0, LoopKind.SERIAL)


@settings(max_examples=80, deadline=None)
@given(kernels())
def test_same_effect(kernel: Kernel) -> None:
    builder = Builder()
    body = name_conditions(kernel.body, lambda hint: builder.fresh(f"new_{hint}"))
    assert_same_effect(kernel, body)
