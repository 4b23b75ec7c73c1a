"""Reduces of long arrays to few elements become reduces of parts, which threads share."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.passes import split_reductions as splitting
from ccodegen.passes.context import PassContext
from ccodegen.passes.split_reductions import split_reductions
from ccodegen.target import load
from tests.passes.checking import WITHOUT_VECTORS_OR_STRICT, leaves_alone, rewrites

PC = PassContext(target=load("x86-64"))
ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
MINUS = "minus { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] subtract(a, b) }\n"
ARGMAX = """argmax {
  a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  first = pred[] or(more, nan)
  equal = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, before)
  stays = pred[] or(first, tie)
  best = f32[] select(first, a, b)
  place = s32[] select(stays, i, j)
  ROOT r = (f32[], s32[]) tuple(best, place) }
"""


@pytest.fixture(autouse=True)
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_LONG", 256)


def program(shape: str, result: str, dimensions: str, combiner: str = ADD) -> str:
    name = combiner.split()[0]
    return (
        f"{combiner}ENTRY e {{ x = f32[{shape}] parameter(0)  z = f32[] constant(1)\n"
        f"ROOT r = f32[{result}] reduce(x, z), dimensions={{{dimensions}}}, to_apply={name} }}"
    )


def split(shape: str, cut: str, parts: str, inner: str, outer: str, result: str = "") -> str:
    """The program after the pass; `cut`: the shape that x takes before, if it takes another."""
    reshaped = f"y = f32[{cut}] reshape(x)\n" if cut else ""
    return (
        f"{ADD}ENTRY e {{ x = f32[{shape}] parameter(0)  z = f32[] constant(1)\n{reshaped}"
        f"n = f32[] constant(-0)\n"
        f"p = f32[{parts}] reduce({'y' if cut else 'x'}, n), dimensions={{{inner}}}, to_apply=add\n"
        f"ROOT r = f32[{result}] reduce(p, z), dimensions={{{outer}}}, to_apply=add }}"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (program("1000", "", "0"), split("1000", "50,20", "50", "1", "0")),
        (program("2,640", "2", "1"), split("2,640", "2,64,10", "2,64", "2", "1", "2")),
        # Its columns are parts already.
        (program("60,7", "", "0,1"), split("60,7", "", "60", "1", "0")),
        # Columns: parts of 64 rows and more.
        (program("1024,20", "20", "0"), split("1024,20", "16,64,20", "16,20", "1", "0", "20")),
        (program("130,2,3", "2", "0,2"), split("130,2,3", "26,5,2,3", "26,2", "1,3", "0", "2")),
    ],
)
def test_sums(before: str, after: str) -> None:
    rewrites(before, after, split_reductions, PC, exact=False)


@pytest.mark.parametrize(
    "stays",
    [
        program("63", "", "0"),  # near
        program("32,20", "32", "1"),  # enough rows for threads
        program("1024,65536", "65536", "0"),  # enough columns
        program("448,20", "20", "0"),  # few rows
        program("1009", "", "0", MINUS),  # a prime
        program("64", "", "0"),  # no more than the parts
        program("1000", "", "0", MINUS),
    ],
)
def test_what_stays(stays: str) -> None:
    leaves_alone(stays, split_reductions, PC)


def test_what_is_left_over_is_added_last() -> None:
    after = (
        f"{ADD}ENTRY e {{ x = f32[1009] parameter(0)  z = f32[] constant(1)\n"
        "n = f32[] constant(-0)  m = f32[] constant(-0)\n"
        "a = f32[960] slice(x), slice={[0:960]}  y = f32[64,15] reshape(a)\n"
        "p = f32[64] reduce(y, n), dimensions={1}, to_apply=add\n"
        "s = f32[] reduce(p, z), dimensions={0}, to_apply=add\n"
        "b = f32[49] slice(x), slice={[960:1009]}\n"
        "q = f32[] reduce(b, m), dimensions={0}, to_apply=add\n"
        "ROOT r = f32[] add(s, q) }"
    )
    rewrites(program("1009", "", "0"), after, split_reductions, PC, exact=False)


def test_a_part_of_what_is_computed_is_computed() -> None:
    text = (
        f"HloModule m\n{ADD}ENTRY e {{ x = f32[1031,5] parameter(0)  c = f32[5] parameter(1)\n"
        "d = f32[1031] parameter(2)  z = f32[] constant(1)\n"
        "b = f32[1031,5] broadcast(c), dimensions={1}  y = f32[1031,5] multiply(x, b)\n"
        "e = f32[1031,5] broadcast(d), dimensions={0}  w = f32[1031,5] add(y, e)\n"
        "ROOT r = f32[5] reduce(w, z), dimensions={0}, to_apply=add }"
    )
    x, c, d = (np.random.default_rng(1).random(s, np.float32) for s in ((1031, 5), 5, 1031))
    compiled = ccodegen.compile(text)
    assert "f32[16,64,5]" in compiled.as_text("optimized")
    assert "f32[1031,5] multiply" not in compiled.as_text("optimized")
    expected = 1 + (x * c + d[:, None]).sum(0, dtype=np.float64)
    np.testing.assert_allclose(compiled(x, c, d), expected, rtol=1e-5)


@pytest.mark.parametrize("context", WITHOUT_VECTORS_OR_STRICT)
def test_not_without_vectors_or_strict(context: PassContext) -> None:
    leaves_alone(program("1000", "", "0"), split_reductions, context)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_argmax_finds_the_first(threads: int) -> None:
    text = (
        f"HloModule m\n{ARGMAX}ENTRY e {{ x = f32[4000] parameter(0)\n"
        "i = s32[4000] iota(), iota_dimension=0\n"
        "least = f32[] constant(-inf)  zero = s32[] constant(0)\n"
        "ROOT r = (f32[], s32[]) reduce(x, i, least, zero), dimensions={0}, to_apply=argmax }"
    )
    compiled = ccodegen.compile(text, threads=threads)
    assert "[50,80]" in compiled.as_text("optimized")
    x = np.random.default_rng(1).standard_normal(4000).astype(np.float32)
    x[[777, 778, 3999]] = 9
    assert [float(v) for v in compiled(x)] == [9, 777]
    x[[1234, 3000]] = np.nan
    assert int(compiled(x)[1]) == 1234
    assert int(compiled(np.full(4000, -np.inf, np.float32))[1]) == 0


@pytest.mark.parametrize("columns", [(), (70,)])
def test_same_bits_for_any_number_of_threads(columns: tuple[int, ...]) -> None:
    shape = (14336, *columns) if columns else (1000000,)
    result = ",".join(map(str, columns))
    text = "HloModule m\n" + program(",".join(map(str, shape)), result, "0")
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    results = [np.asarray(ccodegen.compile(text, threads=n)(x)) for n in (1, 2, 3)]
    assert {r.tobytes() for r in results} == {results[0].tobytes()}
    np.testing.assert_allclose(results[0] - 1, x.sum(0, dtype=np.float64), atol=1e-2)
