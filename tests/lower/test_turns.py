"""Loops of two turns at a time: any number of turns three ways, and no copy is left in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ccodegen.loop.ir import CallKernel, Program, Step, While
from ccodegen.passes import element_loops, simplify_control
from ccodegen.target import load
from tests.three_ways import check

ROLL = """a = f32[5,30] slice(x), slice={[1:6], [0:30]}  b = f32[1,30] slice(x),
  slice={[0:1], [0:30]}  r = f32[6,30] concatenate(a, b), dimensions={0}"""
STATES = {
    "stencil": ("(s32[], f32[6,30])", f"{ROLL}  n = f32[6,30] subtract(r, x)", "n"),
    "wave": (
        "(s32[], f32[6,30], f32[6,30])",
        f"y = f32[6,30] get-tuple-element(s), index=2  {ROLL}  n = f32[6,30] subtract(r, y)",
        "n, x",
    ),
    "rows beside": (
        "(s32[], f32[6,30], f32[9,6,30])",
        f"""rows = f32[9,6,30] get-tuple-element(s), index=2  {ROLL}
          n = f32[6,30] subtract(r, x)  one_row = f32[1,6,30] reshape(n)  zero = s32[] constant(0)
          k = f32[9,6,30] dynamic-update-slice(rows, one_row, i, zero, zero)""",
        "n, k",
    ),
    "three in a ring": (
        "(s32[], f32[6,30], f32[6,30], f32[6,30])",
        """y = f32[6,30] get-tuple-element(s), index=2
          w = f32[6,30] get-tuple-element(s), index=3""",
        "y, w, x",
    ),
}


@pytest.fixture(autouse=True)
def loops_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplify_control, "_MOST_UNROLLED", 0)
    monkeypatch.setattr(element_loops, "_MOST_WEIGHT", 0)


def loop(name: str, turns: int, step: int = 1) -> str:
    state, body, following = STATES[name]
    arrays = state.removeprefix("(s32[], ").removesuffix(")").split(", ")
    given = "  ".join(f"p{n} = {shape} parameter({n})" for n, shape in enumerate(arrays))
    return f"""
      c {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        n = s32[] constant({turns * step})  ROOT l = pred[] compare(i, n), direction=LT }}
      b {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        one = s32[] constant({step})  i1 = s32[] add(i, one)
        x = {arrays[0]} get-tuple-element(s), index=1
        {body}  ROOT t = {state} tuple(i1, {following}) }}
      ENTRY e {{ z = s32[] constant(0)  {given}
        t = {state} tuple(z, {", ".join(f"p{n}" for n in range(len(arrays)))})
        ROOT w = {state} while(t), condition=c, body=b }}"""


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 8, 9])
@pytest.mark.parametrize("name", STATES)
def test_any_number_of_turns(name: str, turns: int) -> None:
    check(loop(name, turns), strict=turns % 3 == 0)


def test_a_step_of_three() -> None:
    check(loop("stencil", 5, step=3))


def test_in_donated_memory() -> None:
    check(loop("wave", 7), donate=[0, 1])


def called(program: Program) -> list[str]:
    """The kernels that the only loop calls, copies by their name."""
    (found,) = (s for s in program.steps if isinstance(s, While))
    return list(_names((*found.condition, *found.body)))


def _names(steps: Sequence[Step]) -> Iterator[str]:
    return (s.kernel.name for s in steps if isinstance(s, CallKernel))


@pytest.mark.parametrize("name", ["stencil", "wave", "rows beside"])
def test_the_state_goes_to_and_fro(name: str) -> None:
    names = called(check(loop(name, 8)).program)
    assert not any("copy" in n for n in names), names


def test_a_loop_that_two_turns_do_not_help_stays() -> None:
    assert len(called(check(loop("three in a ring", 8)).program)) == 6


def test_code_stays_short_where_vectors_are_none() -> None:
    built = check(loop("stencil", 8), target=load("cortex-m4"))
    assert sum("copy" in n for n in called(built.program)) == 1


def test_a_number_of_turns_that_is_not_known() -> None:
    text = loop("stencil", 8).replace("n = s32[] constant(8)", "h = f32[6,30] "
        "get-tuple-element(s), index=1  e = f32[1,1] slice(h), slice={[0:1], [0:1]}  "
        "f = f32[] reshape(e)  m = f32[] constant(4)  g = s32[] constant(9)  "
        "o = pred[] compare(f, m), direction=LT  v = s32[] constant(0)  "
        "n = s32[] select(o, g, v)")
    check(text, np.ones((6, 30), np.float32))
