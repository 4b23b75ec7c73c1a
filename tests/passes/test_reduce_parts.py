"""Reduces over what is put together of single elements are done for one after the other."""

from __future__ import annotations

import pytest

from ccodegen.passes.reduce_parts import reduce_parts
from tests.passes.checking import DEFAULT, STRICT, leaves_alone, rewrites

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
X = "x = f32[4,1] parameter(0)\n y = f32[4,1] parameter(1)\n"
P = "p = f32[4,2] concatenate(x, y), dimensions={1}\n z = f32[] constant(0)\n"
SUM = f"{ADD}ENTRY e {{ {X}{P} ROOT r = f32[4] reduce(p, z), dimensions={{1}}, to_apply=add }}"
PARTS = "v = f32[4] reshape(x)\n w = f32[4] reshape(y)\n"


def test_with_the_init_value_if_strict() -> None:
    after = (
        f"{X} z = f32[] constant(0)\n b = f32[4] broadcast(z), dimensions={{}}\n {PARTS}"
        "s = f32[4] add(b, v)\n ROOT r = f32[4] add(s, w)"
    )
    rewrites(SUM, after, reduce_parts, STRICT)


def test_from_the_first_if_not() -> None:
    rewrites(SUM, f"{X}{PARTS} ROOT r = f32[4] add(v, w)", reduce_parts, DEFAULT, exact=False)


@pytest.mark.parametrize(
    "other",
    [
        SUM.replace("4,2]", "4,3]").replace("f32[4,1] parameter(1)", "f32[4,2] parameter(1)"),
        f"{ADD}ENTRY e {{ {X}{P} r = f32[4] reduce(p, z), dimensions={{1}}, to_apply=add\n"
        "n = f32[4,2] negate(p)\n ROOT t = (f32[4], f32[4,2]) tuple(r, n) }",
        f"{ADD}ENTRY e {{ {X}{P} ROOT r = f32[2] reduce(p, z), dimensions={{0}}, to_apply=add }}",
    ],
    ids=["longer parts", "read by others", "another dimension"],
)
def test_what_stays(other: str) -> None:
    leaves_alone(other, reduce_parts)
