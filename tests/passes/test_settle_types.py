"""settle_types: as text."""

from __future__ import annotations

from ccodegen.passes.settle_types import settle_types
from tests.passes.checking import STRICT, module


def test_converts_stand_around_the_op() -> None:
    text = """
    ENTRY e {
      a = bf16[2] parameter(0)
      b = f32[2] parameter(1)
      ROOT y = bf16[2] add(a, b)
    }"""
    assert settle_types(module(text), STRICT).to_text() == (
        "HloModule m\n\n"
        "ENTRY %e (a: bf16[2], b: f32[2]) -> bf16[2] {\n"
        "  %a = bf16[2] parameter(0)\n"
        "  %b = f32[2] parameter(1)\n"
        "  %a.1 = f32[2] convert(%a)\n"
        "  %y = f32[2] add(%a.1, %b)\n"
        "  ROOT %y.1 = bf16[2] convert(%y)\n"
        "}\n"
    )
