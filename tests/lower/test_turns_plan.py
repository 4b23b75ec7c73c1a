"""Loops over elements as kernels, three ways: all sizes of blocks, scalars, and memory."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import ccodegen
from ccodegen.loop.ir import CallKernel, For, While
from ccodegen.loop.rebuild import statements
from ccodegen.passes import simplify_control
from ccodegen.target import load
from tests.passes.test_fuse_loops import scan
from tests.three_ways import check, with_vectors


@pytest.fixture(autouse=True)
def loops_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplify_control, "_MOST_UNROLLED", 0)


BODY = """v = {array} broadcast(a), dimensions={{}}  d = {array} subtract(x, v)
  p = pred[{dimensions}] compare(d, y), direction=LT
  x1 = {array} select(p, y, d)  y1 = {array} copy(x)  a1 = {element}[] add(a, a)"""


def loop(
    dimensions: str = "30,50",
    element: str = "f32",
    turns: int = 5,
    wanted: str = "1 2",
    made: str = BODY,
) -> str:
    """Arrays x and y, a scalar a that arrays are made of, and one that is made of itself; `made`
    makes the next ones."""
    array = f"{element}[{dimensions}]"
    shapes = ["s32[]", array, array, f"{element}[]", "s32[]"]
    state = f"({', '.join(shapes)})"
    gets = " ".join(
        f"{name} = {shape} get-tuple-element(s), index={n}"
        for n, (name, shape) in enumerate(zip("ixyab", shapes, strict=True))
    )
    read = " ".join(f"r{n} = {shapes[int(n)]} get-tuple-element(w), index={n}"
        for n in wanted.split())
    return f"""
      c {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        n = s32[] constant({turns})  ROOT l = pred[] compare(i, n), direction=LT }}
      b {{ s = {state} parameter(0)  {gets}
        one = s32[] constant(1)  next = s32[] add(i, one)  b1 = s32[] multiply(b, next)
        {made.format(array=array, dimensions=dimensions, element=element)}
        ROOT t = {state} tuple(next, x1, y1, a1, b1) }}
      ENTRY e {{ zero = s32[] constant(0)  two = s32[] constant(2)
        x = {array} parameter(0)  a = {element}[] parameter(1)
        f = {element}[] constant(1)  y = {array} broadcast(f), dimensions={{}}
        t = {state} tuple(zero, x, y, a, two)
        w = {state} while(t), condition=c, body=b  {read}
        ROOT r = ({", ".join(shapes[int(n)] for n in wanted.split())})
          tuple({", ".join(f"r{n}" for n in wanted.split())}) }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dimensions", ["7", "1,9", "256", "257", "1027", "8,640", "3,5,7"])
def test_sizes(dimensions: str, strict: bool) -> None:
    program = check(loop(dimensions), strict=strict).program
    assert not any(isinstance(step, While) for step in program.steps)


@pytest.mark.parametrize("dimensions", ["0", "3,0", "1", "1,1"])
def test_hardly_any_elements(dimensions: str) -> None:
    check(loop(dimensions), strict=True)


@pytest.mark.parametrize("element", ["f64", "f16", "bf16", "s8", "u64", "f8e5m2"])
def test_types(element: str) -> None:
    check(loop("23,41", element), strict=True)
    check(loop("23,41", element), target=with_vectors(load("x86-64"), 32))


@pytest.mark.parametrize("wanted", ["1", "3", "4", "0 4", "1 3 4", "0 1 2 3 4"])
def test_what_is_wanted_of_the_state(wanted: str) -> None:
    check(loop("700", wanted=wanted), strict=True)


@pytest.mark.parametrize("turns", [1, 2, 300])
def test_turns(turns: int) -> None:
    check(loop("5", turns=turns), strict=True)


@pytest.mark.parametrize("square", ["multiply(a, a)", "multiply(q, q)"])
@pytest.mark.parametrize("dimensions", ["257", "9"])
def test_squares_of_integers(dimensions: str, square: str) -> None:
    """Gcc 12 computes one of them where vectors have instructions of AVX2."""
    made = BODY.replace("a1 = {element}[] add(a, a)", "q = {element}[] multiply(a, a)  "
        "a1 = {element}[] " + square).replace("d = {array} subtract(x, v)",
        "d = {array} multiply(x, x)")
    text = "HloModule m" + loop(dimensions, "s32", 17, "1 3", made)
    for first in (-6, 3):
        given = np.full(int(dimensions), first, np.int32), np.int32(first)
        expected = ccodegen.evaluate(text, *given)
        for got, wanted in zip(ccodegen.compile(text)(*given), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_blocks_are_even_where_they_can_be() -> None:
    """One loop over blocks, and no rest beside it."""
    program = check(loop("128,100"), target=with_vectors(load("x86-64"), 32)).program
    (call,) = (s for s in program.steps if isinstance(s, CallKernel))
    (blocks,) = call.kernel.body
    assert isinstance(blocks, For)
    assert isinstance(blocks.extent, int)
    assert 12_800 % blocks.extent == 0


def test_elements_one_by_one_without_vectors() -> None:
    program = check(loop("40"), target=load("cortex-m4")).program
    (call,) = (s for s in program.steps if isinstance(s, CallKernel))
    extents = [s.extent for s in statements(call.kernel.body) if isinstance(s, For)]
    assert extents == [40, 5]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("start", ["i", "back", "next"])
@pytest.mark.parametrize("row", ["", "8", "5,70", "1040"])
def test_rows(row: str, start: str, strict: bool) -> None:
    """Where not every turn writes one of its own, the others are what they were."""
    program = check(scan(row, start), strict=strict).program
    assert not any(isinstance(step, While) for step in program.steps)
    check(scan(row, start), strict=strict, target=load("cortex-m4"))


def test_rows_in_the_memory_of_what_they_were() -> None:
    check(scan("40", "next"), donate=[2], strict=True)
    check(scan("40", "back"), donate=[1], strict=True)


@pytest.mark.parametrize(("start", "copied"), [("i", False), ("back", False), ("next", True)])
def test_rows_that_turns_write_all_of_are_not_copied(start: str, copied: bool) -> None:
    program = check(scan("40", start)).program
    (call,) = (s for s in program.steps if isinstance(s, CallKernel))
    loops = [s.var.name for s in statements(call.kernel.body) if isinstance(s, For)]
    assert any(name.startswith("row") for name in loops) is copied


def _random_body(random: Random) -> str:
    """A few operations on what there is, of which some become the next state."""
    arrays, lines = ["x", "y", "v"], ["v = {array} broadcast(a), dimensions={{}}"]
    for n in range(random.randint(1, 6)):
        a, b = random.choices(arrays, k=2)
        op = random.choice(["add", "subtract", "multiply", "maximum", "select"])
        if op == "select":
            lines.append(f"p{n} = pred[{{dimensions}}] compare({a}, {b}), direction=LE")
            lines.append(f"t{n} = {{array}} select(p{n}, {b}, {a})")
        else:
            lines.append(f"t{n} = {{array}} {op}({a}, {b})")
        arrays.append(f"t{n}")
    ends = random.choices(arrays[2:], k=2)
    lines += [f"{to} = {{array}} copy({end})" for to, end in zip(("x1", "y1"), ends, strict=True)]
    return "\n".join([*lines, "a1 = {element}[] " + random.choice(["add(a, a)", "copy(a)"])])


@pytest.mark.parametrize("seed", range(12))
def test_random_bodies(seed: int) -> None:
    random = Random(seed)
    element = random.choice(["f32", "f64", "s32", "bf16", "u8"])
    dimensions = random.choice(["5", "40,33", "1024", "7,3,50"])
    text = loop(dimensions, element, random.choice([2, 6, 30]), "1 2 3", _random_body(random))
    check(text, strict=True)
    check(text, target=load("cortex-m4"), strict=True)


def test_long_chains_are_no_deep_recursion() -> None:
    chain = " ".join(f"d{n + 1} = {{array}} subtract(d{n}, x)" for n in range(2000))
    made = BODY.replace("subtract(x, v)", f"subtract(x, v)  d0 = {{array}} copy(d)  {chain}")
    text = loop("2", turns=2, made=made.replace("select(p, y, d)", "select(p, y, d2000)"))
    program = check(text, target=load("cortex-m4")).program
    assert not any(isinstance(step, While) for step in program.steps)


def test_in_the_memory_of_what_it_begins_with() -> None:
    built = check(loop("40,50", wanted="1"), donate=[0])
    assert built.program.arena_size == 0
