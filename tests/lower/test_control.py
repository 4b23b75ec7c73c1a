"""Control flow, tuples and the interface three ways; and that no needless copy is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ccodegen.loop.ir import CallKernel, Step, Switch, While
from ccodegen.passes import element_loops, simplify_control
from tests.three_ways import check

FUNCTIONS = """
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
c3 { s = STATE parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)  ROOT l = pred[] compare(i, n), direction=LT }
"""


@pytest.fixture(autouse=True)
def loops_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplify_control, "_MOST_UNROLLED", 0)
    monkeypatch.setattr(element_loops, "_MOST_WEIGHT", 0)


def loop(state: str, body: str, initial: str) -> str:
    """A while that counts element 0 to 3. `body` makes i1 … and the root from i, one, s."""
    return f"""{FUNCTIONS.replace("STATE", state)}
      b {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        one = s32[] constant(1)  i1 = s32[] add(i, one)
        {body} }}
      ENTRY e {{ z = s32[] constant(0) {initial}
        ROOT w = {state} while(t), condition=c3, body=b }}"""


PAIR = "(s32[], f32[4], f32[4])"
TWO = "x = f32[4] parameter(0)  y = f32[4] parameter(1)"
PARTS = """a = f32[4] get-tuple-element(s), index=1
  b = f32[4] get-tuple-element(s), index=2"""
INITIAL = f"{TWO}  t = {PAIR} tuple(z, x, y)"

LOOPS = {
    "in place": loop(
        PAIR, f"{PARTS}  n = f32[4] negate(a)  ROOT t = {PAIR} tuple(i1, n, b)", INITIAL
    ),
    "swap": loop(PAIR, f"{PARTS}  ROOT t = {PAIR} tuple(i1, b, a)", INITIAL),
    "shift": loop(
        PAIR, f"{PARTS}  n = f32[4] sine(b)  ROOT t = {PAIR} tuple(i1, b, n)", INITIAL
    ),
    "spread": loop(PAIR, f"{PARTS}  ROOT t = {PAIR} tuple(i1, a, a)", INITIAL),
    "fresh": loop(
        PAIR,
        f"k = f32[4] constant({{1,2,3,4}})  {PARTS}  ROOT t = {PAIR} tuple(i1, k, a)",
        INITIAL,
    ),
    "unused": loop(PAIR, f"{PARTS}  ROOT t = {PAIR} tuple(i1, a, b)", INITIAL),
    "one value twice": loop(
        PAIR,
        f"{PARTS}  n = f32[4] add(a, b)  ROOT t = {PAIR} tuple(i1, n, b)",
        f"x = f32[4] parameter(0)  t = {PAIR} tuple(z, x, x)",
    ),
    "old and new": loop(
        PAIR,
        f"{PARTS}  n = f32[4] sine(a)  m = f32[4] add(n, a)  ROOT t = {PAIR} tuple(i1, n, m)",
        INITIAL,
    ),
}


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", LOOPS)
def test_loop(name: str, strict: bool) -> None:
    check(LOOPS[name], strict=strict)


def test_state_is_changed_in_place() -> None:
    program = check(LOOPS["in place"]).program
    (turn,) = (step for step in program.steps if isinstance(step, While))
    assert "copy" not in " ".join(names(turn.body))


def test_a_scan_writes_its_rows_in_place() -> None:
    state = "(s32[], f32[4], f32[3,4])"
    body = f"""a = f32[4] get-tuple-element(s), index=1
      ys = f32[3,4] get-tuple-element(s), index=2
      n = f32[4] sine(a)  r = f32[1,4] reshape(n)  zero = s32[] constant(0)
      u = f32[3,4] dynamic-update-slice(ys, r, i, zero)  ROOT t = {state} tuple(i1, n, u)"""
    initial = f"""x = f32[4] parameter(0)  f = f32[] constant(0)
      ys = f32[3,4] broadcast(f), dimensions={{}}  t = {state} tuple(z, x, ys)"""
    program = check(loop(state, body, initial)).program
    (turn,) = (step for step in program.steps if isinstance(step, While))
    assert not any("copy_f32" in name for name in names(turn.body))


def test_loops_in_loops() -> None:
    state = "(s32[], f32[2])"
    inner = f"""
      ci {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(2)  ROOT l = pred[] compare(i, n), direction=LT }}
      bi {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        one = s32[] constant(1)  i1 = s32[] add(i, one)
        a = f32[2] get-tuple-element(s), index=1  d = f32[2] add(a, a)
        ROOT t = {state} tuple(i1, d) }}"""
    outer = f"""a = f32[2] get-tuple-element(s), index=1  z = s32[] constant(0)
      t0 = {state} tuple(z, a)  w = {state} while(t0), condition=ci, body=bi
      n = f32[2] get-tuple-element(w), index=1  m = f32[2] subtract(n, a)
      ROOT t = {state} tuple(i1, m)"""
    initial = f"x = f32[2] parameter(0)  t = {state} tuple(z, x)"
    check(inner + loop(state, outer, initial))


def test_a_condition_that_computes() -> None:
    """It is run once more than the body, over the final state."""
    check(
        """add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
        c { s = (f32[8], f32[8]) parameter(0)  x = f32[8] get-tuple-element(s), index=0
          y = f32[8] multiply(x, x)  z = f32[] constant(0)
          r = f32[] reduce(y, z), dimensions={0}, to_apply=add
          n = f32[] constant(1000)  ROOT l = pred[] compare(r, n), direction=LT }
        b { s = (f32[8], f32[8]) parameter(0)  x = f32[8] get-tuple-element(s), index=0
          k = f32[8] get-tuple-element(s), index=1  d = f32[8] add(x, k)
          ROOT t = (f32[8], f32[8]) tuple(d, k) }
        ENTRY e { x = f32[8] parameter(0)  k = f32[8] parameter(1)
          t = (f32[8], f32[8]) tuple(x, k)
          ROOT w = (f32[8], f32[8]) while(t), condition=c, body=b }""",
        np.zeros(8, np.float32),
        np.arange(8, dtype=np.float32),
    )


BRANCHES = """
  p { a = f32[3] parameter(0)  s = f32[3] sine(a)  ROOT t = (f32[3], f32[3]) tuple(s, a) }
  q { a = f32[3] parameter(0)  n = f32[3] negate(a)  ROOT t = (f32[3], f32[3]) tuple(n, n) }
  r { a = f32[3] parameter(0)  k = f32[3] constant({1,2,3})
    ROOT t = (f32[3], f32[3]) tuple(k, a) }"""


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 3])
def test_conditional_by_number(number: int) -> None:
    check(
        BRANCHES + """ENTRY e { i = s32[] parameter(0)  x = f32[3] parameter(1)
          ROOT c = (f32[3], f32[3]) conditional(i, x, x, x), branch_computations={p, q, r} }""",
        np.int32(number),
        np.arange(3, dtype=np.float32),
    )


@pytest.mark.parametrize("choice", [False, True])
def test_conditional_by_pred(choice: bool) -> None:
    program = check(
        BRANCHES + """ENTRY e { i = pred[] parameter(0)  x = f32[3] parameter(1)
          y = f32[3] exponential(x)
          c = (f32[3], f32[3]) conditional(i, x, y), true_computation=p, false_computation=q
          a = f32[3] get-tuple-element(c), index=0  ROOT s = f32[3] add(a, y) }""",
        np.bool_(choice),
        np.arange(3, dtype=np.float32),
    ).program
    assert any(isinstance(step, Switch) for step in program.steps)


INTERFACES = {
    "a parameter": "ROOT x = f32[3] parameter(0)",
    "parameters, swapped": f"{TWO}  ROOT t = (f32[4], f32[4]) tuple(y, x)",
    "one result twice": """x = f32[3] parameter(0)  n = f32[3] negate(x)
      ROOT t = (f32[3], f32[3], f32[3]) tuple(n, x, n)""",
    "constants": """k = f32[3] constant({1, 2, nan})  s = s32[] constant(7)
      ROOT t = (f32[3], s32[], f32[3]) tuple(k, s, k)""",
    "a reshape": "x = f32[2,3] parameter(0)  n = f32[2,3] negate(x)  ROOT r = f32[6] reshape(n)",
    "a reshaped parameter": "x = f32[2,3] parameter(0)  ROOT r = f32[3,2] reshape(x)",
    "tuples in tuples": """x = f32[3] parameter(0)  n = f32[3] negate(x)  e = () tuple()
      a = (f32[3], ()) tuple(n, e)  ROOT t = ((f32[3], ()), f32[3], ()) tuple(a, x, e)""",
    "tuple parameters": """p = (f32[3], (s32[2], f32[3])) parameter(0)
      q = (s32[2], f32[3]) get-tuple-element(p), index=1
      x = f32[3] get-tuple-element(p), index=0  y = f32[3] get-tuple-element(q), index=1
      ROOT a = f32[3] add(x, y)""",
    "no results": "x = f32[3] parameter(0)  ROOT t = () tuple()",
    "tokens": """x = f32[3] parameter(0)  a = token[] after-all()
      ROOT d = f32[3] add-dependency(x, a)""",
}


@pytest.mark.parametrize("name", INTERFACES)
def test_interface(name: str) -> None:
    check(f"ENTRY e {{ {INTERFACES[name]} }}")


DONATED = {
    "in place": (f"{TWO}  ROOT a = f32[4] add(x, y)", (0,)),
    "read afterwards": (
        f"{TWO}  a = f32[4] add(x, y)  r = f32[4] reverse(x), dimensions={{0}}\n"
        "b = f32[4] multiply(r, a)  ROOT t = (f32[4], f32[4]) tuple(a, b)",
        (0,),
    ),
    "swapped": (f"{TWO}  ROOT t = (f32[4], f32[4]) tuple(y, x)", (0, 1)),
    "returned twice": (f"{TWO}  n = f32[4] negate(x)  ROOT t = (f32[4], f32[4]) tuple(n, x)", (0,)),
    "returned as it is": (f"{TWO}  ROOT t = (f32[4], f32[4]) tuple(x, y)", (0,)),
    "moved": (f"{TWO}  r = f32[4] reverse(x), dimensions={{0}}  ROOT a = f32[4] add(r, y)", (0,)),
    "read straight and moved": (
        "x = f32[4,4] parameter(0)  t = f32[4,4] transpose(x), dimensions={1,0}\n"
        "ROOT a = f32[4,4] subtract(x, t)",
        (0,),
    ),
}


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", DONATED)
def test_donated(name: str, strict: bool) -> None:
    text, numbers = DONATED[name]
    built = check(f"ENTRY e {{ {text} }}", donate=numbers, strict=strict)
    shared = [a for a in built.program.arguments if a.parameter in numbers]
    assert all(a.output is not None for a in shared)


def test_an_update_of_donated_memory_copies_nothing() -> None:
    built = check(
        """ENTRY e { x = f32[50,4] parameter(0)  u = f32[1,4] parameter(1)  i = s32[] parameter(2)
          z = s32[] constant(0)  ROOT d = f32[50,4] dynamic-update-slice(x, u, i, z) }""",
        np.ones((50, 4), np.float32),
        np.zeros((1, 4), np.float32),
        np.int32(7),
        donate=(0,),
    )
    assert len(names(built.program.steps)) == 1
    assert built.program.arena_size == 0


def names(steps: Sequence[Step]) -> list[str]:
    """Of the kernels called, in order."""
    found: list[str] = []
    for step in steps:
        match step:
            case CallKernel():
                found.append(step.kernel.name)
            case While():
                found += names(step.condition) + names(step.body)
            case Switch():
                found += [name for branch in step.branches for name in names(branch)]
    return found
