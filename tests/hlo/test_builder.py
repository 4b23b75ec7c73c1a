"""The builder: shapes are inferred, mistakes are told."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.builder import Builder, module
from ccodegen.hlo.text import parse, to_text
from ccodegen.hlo.verify import verify
from ccodegen.support.errors import InputError


def test_builds_what_the_text_says() -> None:
    inner = Builder("sum")
    inner.op("add", inner.parameter("f32[]"), inner.parameter("f32[]"), shape="f32[]", name="s")
    b = Builder("main")
    x = b.parameter("f32[2,3]", "x")
    zero = b.constant(0, "f32[]", name="zero")
    root = b.op("reduce", x, zero, dimensions=(1,), to_apply=inner.build(), name="r")
    assert str(root.shape) == "f32[2]"
    built = module(b.build())
    verify(built)
    text = """\
HloModule main

%sum (p0: f32[], p1: f32[]) -> f32[] {
  %p0 = f32[] parameter(0)
  %p1 = f32[] parameter(1)
  ROOT %s = f32[] add(%p0, %p1)
}

ENTRY %main (x: f32[2,3]) -> f32[2] {
  %x = f32[2,3] parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[2] reduce(%x, %zero), dimensions={1}, to_apply=%sum
}
"""
    assert to_text(built) == text == to_text(parse(text))


def test_constants() -> None:
    b = Builder("c")
    assert str(b.constant(np.zeros((2, 3), np.int8)).shape) == "s8[2,3]"
    filled = b.constant(1.5, "bf16[4]")
    assert filled.attributes.literal.array.tolist() == [1.5] * 4  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="needs a Literal"):
        b.constant(1, "(f32[])")


def test_dead_instructions_are_side_roots() -> None:
    b = Builder("d")
    x = b.parameter("f32[]")
    dead = b.op("negate", x, shape="f32[]")
    root = b.op("abs", x, shape="f32[]")
    assert b.build(root).side_roots == (dead,)


@pytest.mark.parametrize(
    ("opcode", "attributes", "message"),
    [
        ("negat", {}, "unknown opcode"),
        ("add", {}, "add takes 2 operands, not 1"),
        ("negate", {"axis": 1}, "negate has no attribute 'axis'"),
        ("reduce-precision", {"exponent_bits": 5}, "needs the attribute 'mantissa_bits'"),
        ("custom-call", {"custom_call_target": "f"}, "does not follow from its operands"),
    ],
)
def test_mistakes(opcode: str, attributes: dict[str, object], message: str) -> None:
    b = Builder("m")
    x = b.parameter("f32[2]")
    with pytest.raises(InputError, match=message):
        b.op(opcode, x, **attributes)


def test_empty_computation() -> None:
    with pytest.raises(InputError, match="no instructions"):
        Builder("e").build()
