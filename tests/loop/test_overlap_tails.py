"""Ends of short rows as whole vectors: the same effect, and nothing is done twice that may not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccodegen.loop.ir import For
from ccodegen.loop.rebuild import statements
from ccodegen.target import Target, load
from tests.three_ways import check


def target() -> Target:
    host = load("x86-64")
    return replace(host, machine=replace(host.machine, vector_bytes=32))


def rows(text: str, strict: bool = False) -> list[object]:
    """How long the innermost loops are; whether the program is right."""
    built = check(text, target=target(), strict=strict)
    found = [s for kernel in built.program.kernels for s in statements(kernel.body)]
    loops = [s for s in found if isinstance(s, For)]
    return [s.extent for s in loops if not any(isinstance(inner, For) for inner in s.body)]


def sliced(width: int, element_type: str = "s8") -> str:
    """Rows that do not lie one behind the other."""
    return f"""ENTRY e {{
  x = {element_type}[5,{width + 3}] parameter(0)
  y = {element_type}[5,{width + 3}] parameter(1)
  a = {element_type}[5,{width}] slice(x), slice={{[0:5], [0:{width}]}}
  b = {element_type}[5,{width}] slice(y), slice={{[0:5], [3:{width + 3}]}}
  ROOT r = {element_type}[5,{width}] add(a, b) }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("width", "found"),
    [
        (32 + 31, [32, 32]),
        (96 + 8, [96, 32]),
        (32 + 7, [39]),  # little is left over
        (32 + 16, [48]),  # half a vector
        (31, [31]),  # no whole one
        (17 * 32 + 9, [17 * 32 + 9]),  # the end takes little of the time
    ],
)
def test_bytes(width: int, found: list[int], strict: bool) -> None:
    assert rows(sliced(width), strict) == found


def test_elements_of_two_bytes_and_of_four() -> None:
    assert rows(sliced(25, "s16")) == [16, 16]
    assert rows(sliced(15, "s32")) == [15]


@pytest.mark.parametrize("op", ["exponential", "sqrt"])
@pytest.mark.parametrize(
    ("width", "found"),
    [
        (8 + 2, [8, 8]),
        (16 + 7, [16, 8]),
        (8 + 1, [9]),  # one alone
        (8 + 4, [12]),  # half a vector
        (4 + 3, [4, 4]),  # halves of vectors
        (17 * 8 + 3, [17 * 8 + 3]),
    ],
)
def test_functions_take_long_one_by_one(op: str, width: int, found: list[int]) -> None:
    text = f"""ENTRY e {{
      x = f32[5,{width + 3}] parameter(0)
      a = f32[5,{width}] slice(x), slice={{[0:5], [3:{width + 3}]}}
      ROOT r = f32[5,{width}] {op}(a) }}"""
    assert rows(text) == (found if op == "exponential" else [width])


@pytest.mark.parametrize(
    ("t", "terms", "found"),
    [("f32", 14, [10]), ("f32", 15, [8, 8]), ("bf16", 1, [10]), ("bf16", 2, [8, 8])],
)
def test_many_operations_take_as_long_as_a_function(t: str, terms: int, found: list[int]) -> None:
    """To round to a narrow float takes several."""
    sums = "".join(
        f"m{n} = {t}[5,10] multiply(s{n}, a)  s{n + 1} = {t}[5,10] add(m{n}, a)\n"
        for n in range(terms)
    )
    text = f"""ENTRY e {{
      x = {t}[5,13] parameter(0)
      a = {t}[5,10] slice(x), slice={{[0:5], [3:13]}}
      s0 = {t}[5,10] abs(a)
      {sums}  ROOT r = {t}[5,10] add(s{terms}, a) }}"""
    assert rows(text) == found


def test_what_is_read_and_written_is_done_once() -> None:
    text = f"""HloModule m, input_output_alias={{ {{}}: (0, {{}}, must-alias) }}
{sliced(63).replace("ROOT r", "s").removesuffix("}")}
  z = s8[] constant(3)
  p = s8[5,66] pad(s, z), padding=0_0x0_3
  ROOT r = s8[5,66] add(p, x) }}"""
    check(text, target=target())
