"""What is read on a condition, next to loops over few elements."""

from __future__ import annotations

import ccodegen

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }"


def sums(of: str) -> str:
    """The C of sums over the rows of an f32[14,13]."""
    return ccodegen.compile(f"""HloModule m {ADD} ENTRY e {{ x = f32[14,13] parameter(0)
      z = f32[] constant(0)  {of}
      ROOT r = f32[14] reduce(y, z), dimensions={{1}}, to_apply=add }}""").as_text("c")


def test_what_is_read_in_any_case_is_not_guarded() -> None:
    text = sums("""zb = f32[14,13] broadcast(z), dimensions={}
      p = pred[14,13] compare(x, zb), direction=GT
      n = f32[14,13] negate(x)  y = f32[14,13] select(p, x, n)""")
    assert "CCG_GUARDED" not in text


def test_what_is_read_on_a_condition_is() -> None:
    text = sums("""w = f32[14,6] parameter(1)  y = f32[14,13] pad(w, z), padding=0_0x1_1_1""")
    assert "CCG_GUARDED" in text


def test_what_may_be_read_in_any_case_is_not_guarded() -> None:
    text = sums("""p = pred[14,13] parameter(1)  w = f32[14,13] parameter(2)
      y = f32[14,13] select(p, x, w)""")
    assert "CCG_GUARDED" not in text
