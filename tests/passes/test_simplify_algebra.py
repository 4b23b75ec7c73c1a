"""Each algebraic rule: what it makes of an expression, and what it must leave alone."""

from __future__ import annotations

import pytest

from ccodegen.passes.simplify_algebra import simplify_algebra
from tests.passes.checking import DEFAULT, STRICT, leaves_alone, rewrites

F = "x = f32[5] parameter(0)\n y = f32[5] parameter(1)\n"
S = "x = s32[5] parameter(0)\n y = s32[5] parameter(1)\n"
P = "x = pred[5] parameter(0)\n y = pred[5] parameter(1)\n"
X = F + "ROOT r = f32[5] copy(x)"


def splat(element_type: str, value: str, name: str = "k") -> str:
    scalar = f"{name}0 = {element_type}[] constant({value})"
    return f"{scalar}\n {name} = {element_type}[5] broadcast({name}0), dimensions={{}}\n "


CASES = {
    "x + -0 → x": (F + splat("f32", "-0") + "ROOT r = f32[5] add(k, x)", X),
    "x - 0 → x": (F + splat("f32", "0") + "ROOT r = f32[5] subtract(x, k)", X),
    "x + -y → x - y": (
        F + "n = f32[5] negate(y)\n ROOT r = f32[5] add(n, x)",
        F + "ROOT r = f32[5] subtract(x, y)",
    ),
    "x * 1 → x": (F + splat("f32", "1") + "ROOT r = f32[5] multiply(x, k)", X),
    "integer x * 0 → 0": (
        S + splat("s32", "0") + "ROOT r = s32[5] multiply(x, k)",
        S + splat("s32", "0") + "ROOT r = s32[5] copy(k)",
    ),
    "integer x - x → 0": (
        S + "ROOT r = s32[5] subtract(x, x)",
        S + splat("s32", "0") + "ROOT r = s32[5] copy(k)",
    ),
    "x / 4 → x * 0.25": (
        F + splat("f32", "4") + "ROOT r = f32[5] divide(x, k)",
        F + splat("f32", "0.25") + "ROOT r = f32[5] multiply(x, k)",
    ),
    "--x → x": (
        F + "n = f32[5] negate(x)\n ROOT r = f32[5] negate(n)",
        X,
    ),
    "max(x, -inf) → x": (
        F + splat("f32", "-inf") + "ROOT r = f32[5] maximum(k, x)",
        X,
    ),
    "integer x^2 → x * x": (
        S + splat("s32", "2") + "ROOT r = s32[5] power(x, k)",
        S + "ROOT r = s32[5] multiply(x, x)",
    ),
    "floor(floor(x)) → floor(x)": (
        F + "n = f32[5] floor(x)\n ROOT r = f32[5] floor(n)",
        F + "ROOT r = f32[5] floor(x)",
    ),
    "not(a == b) → a != b": (
        F + "c = pred[5] compare(x, y), direction=EQ\n ROOT r = pred[5] not(c)",
        F + "ROOT r = pred[5] compare(x, y), direction=NE",
    ),
    "integer not(a < b) → a >= b": (
        S + "c = pred[5] compare(x, y), direction=LT\n ROOT r = pred[5] not(c)",
        S + "ROOT r = pred[5] compare(x, y), direction=GE",
    ),
    "x & 0 → 0": (
        S + splat("s32", "0") + "ROOT r = s32[5] and(x, k)",
        S + splat("s32", "0") + "ROOT r = s32[5] copy(k)",
    ),
    "x ^ ones → not x": (
        S + splat("s32", "-1") + "ROOT r = s32[5] xor(x, k)",
        S + "ROOT r = s32[5] not(x)",
    ),
    "min(max(x, 0), 9) < 0 → false": (
        S + splat("s32", "0", "z") + splat("s32", "9", "n")
        + "m = s32[5] maximum(z, x)\n c = s32[5] minimum(m, n)\n"
        "ROOT r = pred[5] compare(c, z), direction=LT",
        S + splat("pred", "false", "f") + "ROOT r = pred[5] copy(f)",
    ),
    "clamp(1, x, 9) != 0 → true": (
        S + splat("s32", "1", "o") + splat("s32", "9", "n") + splat("s32", "0", "z")
        + "c = s32[5] clamp(o, x, n)\n ROOT r = pred[5] compare(c, z), direction=NE",
        S + splat("pred", "true", "t") + "ROOT r = pred[5] copy(t)",
    ),
    "iota < its size → true": (
        "i = s32[5] iota(), iota_dimension=0\n" + splat("s32", "5")
        + "ROOT r = pred[5] compare(i, k), direction=LT",
        splat("pred", "true", "t") + "ROOT r = pred[5] copy(t)",
    ),
    "select(p, true, false) → p": (
        P + splat("pred", "true", "t") + splat("pred", "false", "f")
        + "ROOT r = pred[5] select(x, t, f)",
        P + "ROOT r = pred[5] copy(x)",
    ),
    "x != false → x": (
        P + splat("pred", "false") + "ROOT r = pred[5] compare(x, k), direction=NE",
        P + "ROOT r = pred[5] copy(x)",
    ),
    "f16 → f32 → s32": (
        "x = f16[5] parameter(0)\n c = f32[5] convert(x)\n ROOT r = s32[5] convert(c)",
        "x = f16[5] parameter(0)\n ROOT r = s32[5] convert(x)",
    ),
    "bf16 → f32 → bf16": (
        "x = bf16[5] parameter(0)\n c = f32[5] convert(x)\n ROOT r = bf16[5] convert(c)",
        "x = bf16[5] parameter(0)\n ROOT r = bf16[5] copy(x)",
    ),
    "get-tuple-element(tuple)": (
        F + "t = (f32[5], f32[5]) tuple(x, y)\n ROOT r = f32[5] get-tuple-element(t), index=1",
        F + "ROOT r = f32[5] copy(y)",
    ),
    "complex(real(z), imag(z)) → z": (
        "z = c64[5] parameter(0)\n a = f32[5] real(z)\n b = f32[5] imag(z)\n"
        "ROOT r = c64[5] complex(a, b)",
        "z = c64[5] parameter(0)\n ROOT r = c64[5] copy(z)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rewrites(name: str) -> None:
    before, after = CASES[name]
    # A text cannot name a parameter as its root under a second name; a copy stands for that.
    rewrites(_with_copy(before), _with_copy(after), simplify_algebra)


def _with_copy(text: str) -> str:
    """The text whose root is a copy of what was the root, unless it is one."""
    head, root = text.rsplit("ROOT r = ", 1)
    shape, rest = root.split(" ", 1)
    if rest.startswith("copy("):
        return text
    return f"{head}q = {shape} {rest}\n ROOT r = {shape} copy(q)"


KEPT = {
    "x + 0 is 0 for -0": F + splat("f32", "0") + "ROOT r = f32[5] add(x, k)",
    "x * 0 is NaN for inf": F + splat("f32", "0") + "ROOT r = f32[5] multiply(x, k)",
    "x - x is NaN for inf": F + "ROOT r = f32[5] subtract(x, x)",
    "x / 3 rounds twice": F + splat("f32", "3") + "ROOT r = f32[5] divide(x, k)",
    "not(a < b) is true for NaN": (
        F + "c = pred[5] compare(x, y), direction=LT\n ROOT r = pred[5] not(c)"
    ),
    "x == x is false for NaN": F + "ROOT r = pred[5] compare(x, x), direction=EQ",
    "s8 → f32 → u8 saturates": (
        "x = s8[5] parameter(0)\n c = f32[5] convert(x)\n ROOT r = u8[5] convert(c)"
    ),
    "f32 → f16 → f32 rounds": (
        "x = f32[5] parameter(0)\n c = f16[5] convert(x)\n ROOT r = f32[5] convert(c)"
    ),
    "an operand of another precision": (
        "x = f16[] parameter(0)\n y = f32[] constant(inf)\n ROOT r = f32[] minimum(x, y)"
    ),
    "x * (1+0i) is NaN for inf": (
        "x = c64[5] parameter(0)\n" + splat("c64", "(1, 0)") + "ROOT r = c64[5] multiply(x, k)"
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_leaves_alone(name: str) -> None:
    leaves_alone(KEPT[name], simplify_algebra)


def test_float_powers_change_only_in_default_mode() -> None:
    text = F + splat("f32", "2") + "ROOT r = f32[5] power(x, k)"
    leaves_alone(text, simplify_algebra, STRICT)
    after = F + "ROOT r = f32[5] multiply(x, x)"
    rewrites(text, after, simplify_algebra, DEFAULT, exact=False)
