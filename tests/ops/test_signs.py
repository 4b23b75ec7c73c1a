"""What is known of signs, and the exponentials that are the cheaper for it."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.text import parse
from ccodegen.ops.signs import is_never_positive
from tests.three_ways import check

MAX = "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }\n"
X = "x = f32[3,5] parameter(0)  y = f32[3,5] parameter(1)  low = f32[] constant(-inf)"
ROWS = "m = f32[3] reduce(x, low), dimensions={1}, to_apply=max"
COLUMNS = "m = f32[5] reduce(x, low), dimensions={0}, to_apply=max"
OVER_ROWS = "b = f32[3,5] broadcast(m), dimensions={0}"
OVER_COLUMNS = "b = f32[3,5] broadcast(m), dimensions={1}"
NEVER = {
    "minus a square": "s = f32[3,5] multiply(x, x)  ROOT r = f32[3,5] negate(s)",
    "minus half a square": (
        "s = f32[3,5] multiply(x, x)  h = f32[] constant(-0.5)"
        "  b = f32[3,5] broadcast(h), dimensions={}  ROOT r = f32[3,5] multiply(b, s)"
    ),
    "below the row's maximum": f"{ROWS}  {OVER_ROWS}  ROOT r = f32[3,5] subtract(x, b)",
    "below the column's": f"{COLUMNS}  {OVER_COLUMNS}  ROOT r = f32[3,5] subtract(x, b)",
    "below what is above it": (
        f"{ROWS}  z = f32[3] parameter(2)  n = f32[3] maximum(z, m)"
        "  b = f32[3,5] broadcast(n), dimensions={0}  ROOT r = f32[3,5] subtract(x, b)"
    ),
    "a sum": (
        "a = f32[3,5] abs(x)  n = f32[3,5] negate(a)  f = f32[3,5] exponential(y)"
        "  g = f32[3,5] negate(f)  ROOT r = f32[3,5] add(n, g)"
    ),
}
MAYBE = {
    "a product": "s = f32[3,5] multiply(x, y)  ROOT r = f32[3,5] negate(s)",
    "a square": "ROOT r = f32[3,5] multiply(x, x)",
    "above the maximum": f"{ROWS}  {OVER_ROWS}  ROOT r = f32[3,5] subtract(b, x)",
    "another's maximum": f"{ROWS}  {OVER_ROWS}  ROOT r = f32[3,5] subtract(y, b)",
    "another row's maximum": (
        "q = f32[4,4] parameter(2)  m = f32[4] reduce(q, low), dimensions={1}, to_apply=max"
        "  b = f32[4,4] broadcast(m), dimensions={1}  ROOT r = f32[4,4] subtract(q, b)"
    ),
    "a difference of squares": (
        "s = f32[3,5] multiply(x, x)  t = f32[3,5] multiply(y, y)"
        "  n = f32[3,5] negate(s)  ROOT r = f32[3,5] add(n, t)"
    ),
}
KNOWN = [*((text, True) for text in NEVER.values()), *((text, False) for text in MAYBE.values())]


@pytest.mark.parametrize(("text", "known"), KNOWN, ids=[*NEVER, *MAYBE])
def test_what_is_never_positive(text: str, known: bool) -> None:
    root = parse(f"HloModule m\n{MAX}ENTRY e {{ {X}  {text} }}").entry.root
    assert is_never_positive(root) == known


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NEVER)
def test_exponentials_of_what_is_never_positive(name: str, strict: bool) -> None:
    text = NEVER[name].replace("ROOT ", "")
    x = np.linspace(-130, 80, 15, dtype=np.float32).reshape(3, 5)
    x[0, 1], x[1, 2], x[2, 4] = np.nan, -np.inf, np.inf
    arguments = [x, -x, np.float32([-1, 300, np.nan])]
    count = 3 if "parameter(2)" in text else 2
    body = f"{MAX}ENTRY e {{ {X}  {text}  ROOT e = f32[3,5] exponential(r) }}"
    check(body, *arguments[:count], strict=strict)
