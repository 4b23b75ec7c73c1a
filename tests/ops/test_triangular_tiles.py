"""triangular-solve in register tiles: all sides and forms, and sizes that no tile divides."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ccodegen.loop.ir import CallC, For, LoopKind
from ccodegen.loop.rebuild import statements
from tests.three_ways import check, plain_target

Array = np.ndarray[Any, Any]
FORMS = list(itertools.product([True, False], [True, False], ["NO_TRANSPOSE", "TRANSPOSE"]))
SIZES = [(36, 8), (41, 3), (37, 21)]  # tiles have 6 rows here


def program(kind: str, a: Array, b: Array, form: tuple[bool, bool, str], unit: bool) -> str:
    left, lower, transpose = form
    sizes = [f"{kind}[{','.join(map(str, x.shape))}]" for x in (a, b)]
    flags = f"left_side={left}, lower={lower}, unit_diagonal={unit}".lower()
    return f"""ENTRY e {{ a = {sizes[0]} parameter(0)  b = {sizes[1]} parameter(1)
  ROOT r = {sizes[1]} triangular-solve(a, b), {flags}, transpose_a={transpose} }}"""


def triangle(size: int, lower: bool, dtype: Any, unit: bool) -> Array:
    """Well conditioned; what is not to be read is NaN."""
    a = np.random.default_rng(size).standard_normal((2, size, size)) / size
    a += 2 * np.eye(size)
    unread = np.tri(size, k=-1, dtype=bool)
    a[:, unread.T if lower else unread] = np.nan
    if unit:
        a[:, range(size), range(size)] = np.nan
    return a.astype(dtype)


def in_tiles(built: Any) -> bool:
    found = statements(tuple(s for k in built.program.kernels for s in k.body))
    return any(isinstance(s, CallC) for s in found)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_all_forms(kind: str, form: tuple[bool, bool, str]) -> None:
    dtype = np.float32 if kind == "f32" else np.float64
    for (n, columns), unit in zip(SIZES, itertools.cycle([False, True]), strict=False):
        a = triangle(n, form[1], dtype, unit)
        shape = (2, n, columns) if form[0] else (2, columns, n)
        b = np.random.default_rng(1).standard_normal(shape).astype(dtype)
        assert in_tiles(check(program(kind, a, b, form, unit), a, b))


def test_small_systems_and_strict_mode_keep_plain_loops() -> None:
    for n, columns, strict in [(35, 64, False), (64, 1, False), (40, 40, True)]:
        a = triangle(n, True, np.float32, False)
        b = np.ones((2, n, columns), np.float32)
        built = check(program("f32", a, b, FORMS[0], False), a, b, strict=strict)
        assert not in_tiles(built)


@pytest.mark.parametrize("columns", [21, 40, 64])
@pytest.mark.parametrize("left", [True, False])
def test_threads_share_columns(left: bool, columns: int) -> None:
    target = plain_target()
    a = triangle(41, True, np.float32, False)
    b = np.random.default_rng(1).standard_normal((2, 41, columns) if left else (2, columns, 41))
    b = b.astype(np.float32)
    text = program("f32", a, b, (left, True, "NO_TRANSPOSE"), False)
    machine = replace(target.machine, threads=3)
    built = check(text, a, b, target=replace(target, machine=machine))
    loops = [s for k in built.program.kernels for s in statements(k.body) if isinstance(s, For)]
    assert any(loop.kind is LoopKind.APART for loop in loops)
