"""Names of halves: the same bits, without conversions in between."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest

from ccodegen.emit.expression import ExpressionPrinter
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Apply, Buffer, Expr, Let, Load, Store, Var
from ccodegen.loop.name_halves import name_halves
from ccodegen.loop.operators import evaluate
from ccodegen.loop.parts import applied, operands
from ccodegen.loop.rebuild import statements
from ccodegen.support.element_type import ElementType
from tests.runtime_c.test_half import patterns
from tests.three_ways import Array, check


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


@pytest.mark.parametrize("operator", ["maximum", "minimum", "negate", "abs", "clamp"])
@pytest.mark.parametrize("half", [ElementType.F16, ElementType.BF16])
def test_what_keeps_the_order_comes_before_rounding(half: ElementType, operator: str) -> None:
    """Of all sums of a half and small ones of either sign, beside zeros and what is near."""
    x, y, z = Buffer("x", half, ()), Buffer("y", half, ()), Buffer("z", half, ())
    total = apply("add", Load(x, ()), Load(y, ()))
    values = {"negate": [total], "abs": [total], "clamp": [Load(z, ()), total, total]}
    value = apply(operator, *values.get(operator, [total, Load(z, ())]))
    (store,) = name_halves((Store(x, (), value),))
    assert isinstance(store, Store) and isinstance(store.value, Apply)
    assert store.value.operator == "convert"
    all_of_it = patterns(half).view(half.dtype)
    for addend, other in product((1e-7, -1e-7, 0.125), (0.0, -0.0, 0.125, -3.0, np.nan)):
        given = {"x": all_of_it, "y": half.dtype.type(addend), "z": half.dtype.type(other)}
        results = [value_of(e, given).view(np.uint16) for e in (value, store.value)]
        is_nan = [np.isnan(r.view(half.dtype)) for r in results]
        np.testing.assert_array_equal(*is_nan)
        np.testing.assert_array_equal(*(r[~is_nan[0]] for r in results))


def value_of(expr: Expr, given: Mapping[str, Array]) -> Array:
    """By NumPy, operator by operator."""
    if isinstance(expr, Load):
        return np.asarray(np.broadcast_to(given[expr.buffer.name], given["x"].shape))
    assert isinstance(expr, Apply)
    values = [value_of(argument, given) for argument in expr.arguments]
    if expr.operator == "unrounded":
        a, b = (value_of(v, given).astype(np.float32) for v in operands(expr.arguments[0]))
        with np.errstate(invalid="ignore"):
            return np.asarray(a + b)
    return evaluate(expr.operator, values, expr.type)
