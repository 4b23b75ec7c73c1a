"""Reduces of f16 and bf16 in f32: extrema, and sums of many."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ccodegen
from ccodegen.passes.context import PassContext
from ccodegen.passes.reduce_in_f32 import reduce_in_f32
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites

PC, STRICT = (PassContext(target=load("x86-64"), strict=strict) for strict in (False, True))


def program(operator: str, t: str, columns: int = 7) -> str:
    return (
        f"f {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  ROOT c = {t}[] {operator}(a, b) }}\n"
        f"ENTRY e {{ x = {t}[5,{columns}] parameter(0)  z = {t}[] parameter(1)\n"
        f"ROOT r = {t}[5] reduce(x, z), dimensions={{1}}, to_apply=f }}"
    )


def widened(operator: str, t: str, columns: int = 7) -> str:
    name = f"{operator}_f32"
    return (
        f"{name} {{ a = f32[] parameter(0)  b = f32[] parameter(1)\n"
        f"ROOT c = f32[] {operator}(a, b) }}\n"
        f"ENTRY e {{ x = {t}[5,{columns}] parameter(0)  z = {t}[] parameter(1)\n"
        f"wx = f32[5,{columns}] convert(x)  wz = f32[] convert(z)\n"
        f"s = f32[5] reduce(wx, wz), dimensions={{1}}, to_apply={name}\n"
        f"ROOT r = {t}[5] convert(s) }}"
    )


@pytest.mark.parametrize("t", ["bf16", "f16"])
@pytest.mark.parametrize("operator", ["maximum", "minimum"])
@pytest.mark.parametrize("context", [PC, STRICT])
def test_extrema(operator: str, t: str, context: PassContext) -> None:
    rewrites(program(operator, t), widened(operator, t), reduce_in_f32, context)


@pytest.mark.parametrize("t", ["bf16", "f16"])
@pytest.mark.parametrize("operator", ["add", "multiply"])
def test_sums_of_many(operator: str, t: str) -> None:
    rewrites(program(operator, t, 33), widened(operator, t, 33), reduce_in_f32, PC)
    leaves_alone(program(operator, t, 32), reduce_in_f32, PC)
    leaves_alone(program(operator, t, 33), reduce_in_f32, STRICT)


def test_long_sums_do_not_come_to_a_halt() -> None:
    ones = np.ones((5, 4000), ml_dtypes.bfloat16)
    total = ccodegen.compile(f"HloModule m\n{program('add', 'bf16', 4000)}")(ones, ones[0, 0])
    assert set(np.asarray(total, np.float32)) == {4000}


@pytest.mark.parametrize(
    ("operator", "t"), [("add", "bf16"), ("maximum", "f32"), ("minimum", "s16")]
)
def test_what_stays(operator: str, t: str) -> None:
    leaves_alone(program(operator, t), reduce_in_f32, PC)


def test_not_where_something_runs_before() -> None:
    waits = program("maximum", "f16").replace("to_apply=f", "to_apply=f, control-predecessors={z}")
    leaves_alone(waits, reduce_in_f32, PC)


def test_not_without_vectors() -> None:
    leaves_alone(program("maximum", "f16"), reduce_in_f32, PassContext(target=load("cortex-m4")))
