"""Small integers in passing are floats: the same bits, and only where nothing else needs them."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.round_in_floats import round_in_floats
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, module, same_bits

CONTEXT = PassContext(target=load("x86-64"))
EDGES = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, -0.4, 0.5, 1.5, -128.5, 127.5, 1e9, -7e4, 3e4]


def quantised(narrow: str, source: str = "f32", to: str = "f32", rounding: str = "") -> Module:
    rounding = rounding or "round-nearest-even(x)"
    return module(
        f"x = {source}[14] parameter(0)  r = {source}[14] {rounding}\n"
        f"q = {narrow}[14] convert(r)  ROOT c = {to}[14] convert(q)"
    )


def converts(program: Module) -> int:
    changed = round_in_floats(program, CONTEXT)
    return sum(i.op == "convert" for i in changed.entry.instructions)


def same_at_edges(program: Module) -> bool:
    changed = round_in_floats(program, CONTEXT)
    (shape,) = (p.array_shape for p in program.entry.parameters)
    with np.errstate(over="ignore"):
        values = np.array(EDGES).astype(shape.element_type.dtype)
    before, after = (np.asarray(ccodegen.evaluate(m, values)) for m in (program, changed))
    return before.tobytes() == after.tobytes() and same_bits(program, changed)


@pytest.mark.parametrize("to", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("source", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("narrow", ["s8", "u8", "s4", "s16", "u16"])
def test_types(narrow: str, source: str, to: str) -> None:
    program = quantised(narrow, source, to)
    fits = not (narrow in ("s16", "u16") and source in ("f16", "bf16"))  # have not all limits
    assert converts(program) == (source != to if fits else 2)
    assert same_at_edges(program)


@pytest.mark.parametrize("rounding", ["floor(x)", "ceil(x)", "round-nearest-afz(x)"])
def test_what_rounds(rounding: str) -> None:
    program = quantised("s8", rounding=rounding)
    assert converts(program) == 0
    assert same_at_edges(program)


def test_rounded_and_limited() -> None:
    program = module(
        "x = f32[14] parameter(0)  f = f32[14] floor(x)  l = f32[] constant(-7)\n"
        "h = f32[] constant(7)  r = f32[14] clamp(l, f, h)\n"
        "q = s8[14] convert(r)  ROOT c = f32[14] convert(q)"
    )
    assert converts(program) == 0
    assert same_at_edges(program)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(quantised("s8", rounding="negate(x)"), id="not rounded"),
        pytest.param(quantised("s32"), id="as wide as floats"),
        pytest.param(
            module(
                "x = f32[14] parameter(0)  r = f32[14] floor(x)  q = s8[14] convert(r)\n"
                "c = f32[14] convert(q)  ROOT t = (f32[14], s8[14]) tuple(c, q)"
            ),
            id="needed as integers",
        ),
    ],
)
def test_what_stays(program: Module) -> None:
    assert converts(program) == 2


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT[1:])
def test_nothing_without_vectors(context: PassContext) -> None:
    program = quantised("s8")
    assert round_in_floats(program, context) is program
