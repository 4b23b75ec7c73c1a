"""Kernels of narrow rows take several at a time, and make the same bits."""

from __future__ import annotations

import pytest

from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.fuse import fuse
from ccodegen.passes.join_narrow_rows import join_narrow_rows
from ccodegen.target import load
from tests.passes.checking import module, same_bits
from tests.three_ways import check

VECTORS = PassContext(target=load("x86-64"))


def program(sizes: str, t: str, op: str = "multiply", row: str = "parameter(1)") -> Module:
    width = sizes.split(",")[-1]
    last = sizes.count(",")
    return module(f"""
      x = {t}[{sizes}] parameter(0)  v = {t}[{width}] {row}
      w = {t}[{width}] negate(v)  b = {t}[{sizes}] broadcast(w), dimensions={{{last}}}
      two = {t}[] constant(2)  t = {t}[{sizes}] broadcast(two), dimensions={{}}
      a = {t}[{sizes}] add(x, t)  ROOT r = {t}[{sizes}] {op}(a, b)""")


def kernels(of: Module) -> list[tuple[int, ...]]:
    return [i.array_shape.dimensions for i in of.entry.instructions if i.op == "fusion"]


@pytest.mark.parametrize(
    ("sizes", "t", "op", "joined"),
    [
        ("1000,7", "f16", "multiply", (20, 350)),
        ("10,20,5,7", "bf16", "multiply", (20, 350)),
        ("96,3", "f16", "multiply", (1, 288)),
        ("500,33", "f16", "multiply", (50, 330)),
        ("101,7", "s8", "multiply", (1, 707)),  # of a prime number all rows
    ],
)
def test_rows_are_joined(sizes: str, t: str, op: str, joined: tuple[int, ...]) -> None:
    for row in ("parameter(1)", f"constant({{{', '.join(['2'] * int(sizes.split(',')[-1]))}}})"):
        old = fuse(program(sizes, t, op, row), VECTORS)
        new = join_narrow_rows(old, VECTORS)
        assert joined in kernels(new) and new.entry.root.op == "reshape"
        assert same_bits(old, new)


@pytest.mark.parametrize("t", ["f16", "bf16", "s8", "pred"])
@pytest.mark.parametrize("sizes", ["40,7", "101,7", "6,5,4,3,2,6"])
@pytest.mark.parametrize("strict", [False, True])
def test_three_ways(sizes: str, t: str, strict: bool) -> None:
    width, last = sizes.split(",")[-1], sizes.count(",")
    op = "and" if t == "pred" else "subtract"
    text = f"""ENTRY e {{ x = {t}[{sizes}] parameter(0)  v = {t}[{width}] parameter(1)
      b = {t}[{sizes}] broadcast(v), dimensions={{{last}}}
      s = {t}[{sizes}] {op}(x, b)  ROOT r = f32[{sizes}] convert(s) }}"""
    check(text, strict=strict)


@pytest.mark.parametrize(
    "old",
    [
        program("1000,7", "f32"),  # compilers make vectors of such
        program("1000,4", "bf16"),
        program("1000,7", "f16", "power"),  # loops pack such rows
        program("1000,64", "f16"),
        program("5,7", "f16"),
        program("2003,7", "f16"),
        program("0,7", "f16"),
        program("1000,1", "f16"),
    ],
)
def test_what_stays(old: Module) -> None:
    fused = fuse(old, VECTORS)
    assert join_narrow_rows(fused, VECTORS) is fused


@pytest.mark.parametrize(
    "text",
    [
        "v = f16[100] parameter(1)  b = f16[100,7] broadcast(v), dimensions={0}",
        "v = f16[] parameter(1)  b = f16[100,7] broadcast(v), dimensions={}",
        "v = f16[7] parameter(1)  b = f16[100,7] iota(), iota_dimension=0",
    ],
)
def test_rows_that_differ_stay(text: str) -> None:
    fused = fuse(
        module(f"x = f16[100,7] parameter(0) {text}  a = f16[100,7] add(x, b)\n"
               "ROOT r = f16[100,7] multiply(a, x)"),
        VECTORS,
    )
    assert join_narrow_rows(fused, VECTORS) is fused


def test_not_without_vectors() -> None:
    fused = fuse(program("1000,7", "f16"), VECTORS)
    assert join_narrow_rows(fused, PassContext(target=load("cortex-m4"))) is fused
