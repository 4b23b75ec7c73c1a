"""Names of halves: the same bits, without conversions in between."""

from __future__ import annotations

import pytest

from ccodegen.emit.expression import ExpressionPrinter
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Buffer, Let, Store, Var
from ccodegen.loop.name_halves import name_halves
from ccodegen.loop.parts import applied
from ccodegen.loop.rebuild import statements
from ccodegen.support.element_type import ElementType
from tests.three_ways import check


def named(text: str, strict: bool = False) -> set[ElementType]:
    """The types of what kernels name, once the program is right."""
    built = check(text, strict=strict)
    found = (s for kernel in built.program.kernels for s in statements(kernel.body))
    return {s.value.type for s in found if isinstance(s, Let)}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_what_is_computed_and_computed_with(half: str, strict: bool) -> None:
    text = f"""ENTRY e {{ x = {half}[7] parameter(0)
      a = {half}[7] add(x, x)  b = {half}[7] multiply(a, a)
      ROOT t = ({half}[7], {half}[7]) tuple(a, b) }}"""
    assert named(text, strict) == {ElementType.F32}


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_bits_that_are_only_moved_stay(half: str) -> None:
    text = f"""ENTRY e {{ x = {half}[7] parameter(0)  p = pred[7] parameter(1)
      a = {half}[7] add(x, x)  b = {half}[7] select(p, a, x)  c = {half}[7] select(p, x, a)
      ROOT t = ({half}[7], {half}[7]) tuple(b, c) }}"""
    assert ElementType.F32 not in named(text)


@pytest.mark.parametrize("half", [ElementType.F16, ElementType.BF16])
def test_choices_between_numbers_are_choices_between_f32s(half: ElementType) -> None:
    """Each is printed once, however deep it lies in others."""
    x, chooses = Var("x", half), Var("p", ElementType.PRED)
    value = apply("multiply", x, x)
    for _ in range(40):
        choice = apply("select", chooses, value, apply("add", x, x))
        value = apply("multiply", choice, x)
    (store,) = name_halves((Store(Buffer("y", half, ()), (), value),))
    assert isinstance(store, Store)
    selects = [part for part in applied(store.value) if part.operator == "select"]
    assert len(selects) == 40 and {part.type for part in selects} == {ElementType.F32}
    text = ExpressionPrinter(lambda named: named.name, set()).text(store.value)
    assert text.count("?") == 40
