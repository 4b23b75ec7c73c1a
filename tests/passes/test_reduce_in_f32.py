"""Reduces of f16 and bf16 are made in f32: extrema in both modes, sums in the default one."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.reduce_in_f32 import reduce_in_f32
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites

PC, STRICT = (PassContext(target=load("x86-64"), strict=strict) for strict in (False, True))


def program(operator: str, t: str) -> str:
    return (
        f"f {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  ROOT c = {t}[] {operator}(a, b) }}\n"
        f"ENTRY e {{ x = {t}[5,7] parameter(0)  z = {t}[] parameter(1)\n"
        f"ROOT r = {t}[5] reduce(x, z), dimensions={{1}}, to_apply=f }}"
    )


def widened(operator: str, t: str) -> str:
    name = f"{operator}_f32"
    return (
        f"{name} {{ a = f32[] parameter(0)  b = f32[] parameter(1)\n"
        f"ROOT c = f32[] {operator}(a, b) }}\n"
        f"ENTRY e {{ x = {t}[5,7] parameter(0)  z = {t}[] parameter(1)\n"
        "wx = f32[5,7] convert(x)  wz = f32[] convert(z)\n"
        f"s = f32[5] reduce(wx, wz), dimensions={{1}}, to_apply={name}\n"
        f"ROOT r = {t}[5] convert(s) }}"
    )


@pytest.mark.parametrize("t", ["bf16", "f16"])
@pytest.mark.parametrize("operator", ["maximum", "minimum"])
@pytest.mark.parametrize("context", [PC, STRICT])
def test_extrema(operator: str, t: str, context: PassContext) -> None:
    rewrites(program(operator, t), widened(operator, t), reduce_in_f32, context)


@pytest.mark.parametrize("operator", ["add", "multiply"])
def test_sums_where_order_is_free(operator: str) -> None:
    before = program(operator, "bf16")
    rewrites(before, widened(operator, "bf16"), reduce_in_f32, PC, exact=False)
    leaves_alone(before, reduce_in_f32, STRICT)


@pytest.mark.parametrize("t", ["f32", "s16"])
def test_what_stays(t: str) -> None:
    leaves_alone(program("add", t), reduce_in_f32, PC)
    leaves_alone(program("subtract", "bf16"), reduce_in_f32, PC)


def test_not_without_vectors() -> None:
    leaves_alone(program("maximum", "f16"), reduce_in_f32, PassContext(target=load("cortex-m4")))
