"""Extrema of f16 and bf16 are found in f32; sums round each time."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.extrema_in_f32 import extrema_in_f32
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
    rewrites(program(operator, t), widened(operator, t), extrema_in_f32, context)


@pytest.mark.parametrize(
    ("operator", "t"), [("add", "bf16"), ("maximum", "f32"), ("minimum", "s16")]
)
def test_what_stays(operator: str, t: str) -> None:
    leaves_alone(program(operator, t), extrema_in_f32, PC)


def test_not_where_something_runs_before() -> None:
    waits = program("maximum", "f16").replace("to_apply=f", "to_apply=f, control-predecessors={z}")
    leaves_alone(waits, extrema_in_f32, PC)


def test_not_without_vectors() -> None:
    leaves_alone(program("maximum", "f16"), extrema_in_f32, PassContext(target=load("cortex-m4")))
