"""Transposes of what is reduced become the reduce's dimensions; elements and their order stay."""

from __future__ import annotations

import pytest

from ccodegen.passes.absorb_reduced import absorb_reduced
from tests.passes import checking

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }"
X = "x = f32[2,3,4] parameter(0)\n z = f32[] constant(0)\n"


def rewrites(before: str, after: str) -> None:
    checking.rewrites(_program(before), _program(after), absorb_reduced)


def _program(entry: str) -> str:
    return f"{ADD}\nENTRY e {{ {entry} }}"


def test_of_the_operand() -> None:
    rewrites(
        X + "t = f32[3,4,2] transpose(x), dimensions={1,2,0}\n"
        "ROOT r = f32[3,4] reduce(t, z), dimensions={2}, to_apply=add",
        X + "ROOT r = f32[3,4] reduce(x, z), dimensions={0}, to_apply=add",
    )


def test_results_come_in_the_old_order() -> None:
    rewrites(
        X + "t = f32[4,3,2] transpose(x), dimensions={2,1,0}\n"
        "ROOT r = f32[4,3] reduce(t, z), dimensions={2}, to_apply=add",
        X + "s = f32[3,4] reduce(x, z), dimensions={0}, to_apply=add\n"
        "ROOT r = f32[4,3] transpose(s), dimensions={1,0}",
    )


def test_of_what_is_made_of_transposes() -> None:
    x = "x = f32[2,3] parameter(0)\n y = f32[2,3] parameter(1)\n z = f32[] constant(0)\n"
    x += "b = f32[2] parameter(2)\n one = f32[] constant(1)\n"
    rewrites(
        x + "t = f32[3,2] transpose(x), dimensions={1,0}\n"
        "u = f32[3,2] transpose(y), dimensions={1,0}\n"
        "bb = f32[3,2] broadcast(b), dimensions={1}\n"
        "i = f32[3,2] iota(), iota_dimension=0\n"
        "m = f32[3,2] multiply(t, u)\n a = f32[3,2] add(m, bb)\n s = f32[3,2] subtract(a, i)\n"
        "c = f32[3,2] clamp(z, s, one)\n"
        "ROOT r = f32[3] reduce(c, z), dimensions={1}, to_apply=add",
        x + "bb = f32[2,3] broadcast(b), dimensions={0}\n"
        "i = f32[2,3] iota(), iota_dimension=1\n"
        "m = f32[2,3] multiply(x, y)\n a = f32[2,3] add(m, bb)\n s = f32[2,3] subtract(a, i)\n"
        "c = f32[2,3] clamp(z, s, one)\n"
        "ROOT r = f32[3] reduce(c, z), dimensions={0}, to_apply=add",
    )


def test_of_what_small_parts_are_read_of_besides() -> None:
    x = "x = f32[9,8] parameter(0)\n z = f32[] constant(0)\n"
    t = "t = f32[8,9] transpose(x), dimensions={1,0}\n"
    part = "s = f32[8,1] slice(t), slice={[0:8], [8:9]}\n"
    root = "ROOT o = (f32[8,1], f32[8]) tuple(s, r)"
    rewrites(
        x + t + part + f"r = f32[8] reduce(t, z), dimensions={{1}}, to_apply=add\n {root}",
        x + t + part + f"r = f32[8] reduce(x, z), dimensions={{0}}, to_apply=add\n {root}",
    )


def test_a_chain_as_long_as_an_unrolled_loop() -> None:
    steps = "".join(f"n{k} = f32[3,2] negate(n{k - 1})\n" for k in range(1, 2000))
    text = (
        "x = f32[2,3] parameter(0)\n z = f32[] constant(0)\n"
        f"n0 = f32[3,2] transpose(x), dimensions={{1,0}}\n {steps}"
        "ROOT r = f32[3] reduce(n1999, z), dimensions={1}, to_apply=add"
    )
    after = absorb_reduced(checking.module(_program(text)), checking.STRICT)
    assert "transpose" not in [i.op for i in after.entry.instructions]


@pytest.mark.parametrize(
    "rest",
    [
        # Elements would be added in another order.
        "t = f32[3,4,2] transpose(x), dimensions={1,2,0}\n"
        "ROOT r = f32[3] reduce(t, z), dimensions={1,2}, to_apply=add",
        # Rows stay rows.
        "t = f32[3,2,4] transpose(x), dimensions={1,0,2}\n"
        "ROOT r = f32[3,2] reduce(t, z), dimensions={2}, to_apply=add",
        # It is needed besides.
        "t = f32[3,4,2] transpose(x), dimensions={1,2,0}\n"
        "r = f32[3,4] reduce(t, z), dimensions={2}, to_apply=add\n"
        "n = f32[3,4,2] negate(t)\n ROOT o = (f32[3,4], f32[3,4,2]) tuple(r, n)",
        # What it is joined with is not transposed.
        "t = f32[3,4,2] transpose(x), dimensions={1,2,0}\n y = f32[3,4,2] parameter(1)\n"
        "m = f32[3,4,2] multiply(t, y)\n"
        "ROOT r = f32[3,4] reduce(m, z), dimensions={2}, to_apply=add",
    ],
)
def test_what_stays(rest: str) -> None:
    checking.leaves_alone(_program(X + rest), absorb_reduced)
