"""Reduces over the last dimensions as those over one: the same numbers, in the same order."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.flatten_rows import flatten_rows
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites

PC, STRICT = (PassContext(target=load("x86-64"), strict=strict) for strict in (False, True))
ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"


def program(body: str, sizes: str = "5,8,9", dimensions: str = "1,2", kept: str = "5") -> str:
    """`body` makes v of x."""
    return (
        f"{ADD}ENTRY e {{ x = f32[{sizes}] parameter(0)  z = f32[] parameter(1)\n{body}\n"
        f"ROOT r = f32[{kept}] reduce(v, z), dimensions={{{dimensions}}}, to_apply=add }}"
    )


PLAIN = "v = f32[5,8,9] negate(x)"


@pytest.mark.parametrize("context", [PC, STRICT])
def test_one_dimension(context: PassContext) -> None:
    flat = PLAIN + "  w = f32[5,72] reshape(v)"
    after = program(flat, dimensions="1").replace("reduce(v", "reduce(w")
    rewrites(program(PLAIN), after, flatten_rows, context)


def test_what_runs_before_still_does() -> None:
    flat = PLAIN + "  w = f32[5,72] reshape(v)"
    before, after = (
        text.replace("to_apply=add", "to_apply=add, control-predecessors={x}")
        for text in (program(PLAIN), program(flat, dimensions="1").replace("reduce(v", "reduce(w"))
    )
    rewrites(before, after, flatten_rows, PC)


def test_leading_dimensions_stay() -> None:
    body = "s = f32[7] constant({1,2,3,4,5,6,7})  b = f32[6,7,8,9] broadcast(s), dimensions={1}\n"
    before = program(body + "v = f32[6,7,8,9] add(x, b)", "6,7,8,9", "0,2,3", "7")
    flat = body + "v = f32[6,7,8,9] add(x, b)  w = f32[6,7,72] reshape(v)"
    after = program(flat, "6,7,8,9", "0,2", "7").replace("reduce(v", "reduce(w")
    rewrites(before, after, flatten_rows, PC)


@pytest.mark.parametrize(
    "stays",
    [
        program(PLAIN, dimensions="2", kept="5,8"),
        program("v = f32[5,7,9] negate(x)", "5,7,9"),
        program("v = f32[5,8,256] negate(x)", "5,8,256"),
        program("v = f32[5,9,8] transpose(x), dimensions={0,2,1}"),
        program("s = f32[9] iota(), iota_dimension=0  v = f32[5,8,9] broadcast(s), dimensions={2}"),
    ],
    ids=["one", "short", "long", "transposed", "a row of rows"],
)
def test_what_stays(stays: str) -> None:
    leaves_alone(stays, flatten_rows, PC)


def test_not_without_vectors() -> None:
    leaves_alone(program(PLAIN), flatten_rows, PassContext(target=load("cortex-m4")))
