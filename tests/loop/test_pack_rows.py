"""Short rows side by side: the same effect, in loops as long as vectors."""

from __future__ import annotations

import pytest

from ccodegen.target import load
from tests.three_ways import check, with_vectors


def packed(text: str, target: str = "host", strict: bool = False) -> bool:
    """Whether the program is right, and copies rows into a local buffer: on the host those that
    leave lanes of 64 bytes empty."""
    chosen = with_vectors(load(target), 64) if target == "host" else load(target)
    built = check(text, target=chosen, strict=strict)
    return any("'rows" in str(kernel.body) for kernel in built.program.kernels)


def columns(rows: int, width: int, first: int, last: int, op: str, type: str = "f32") -> str:
    """An operator on some columns of a matrix."""
    return f"""ENTRY e {{ x = {type}[{rows},{width}] parameter(0)
  s = {type}[{rows},{last - first}] slice(x), slice={{[0:{rows}], [{first}:{last}]}}
  ROOT r = {type}[{rows},{last - first}] {op}(s) }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("type", ["f32", "f64", "f16", "bf16", "c64"])
@pytest.mark.parametrize("rows", [32, 64, 71, 100, 131, 200])
def test_some_columns(rows: int, type: str, strict: bool) -> None:
    assert packed(columns(rows, 9, 1, 4, "sine", type), strict=strict)


@pytest.mark.parametrize("width", [2, 3, 5, 8, 11, 15])
def test_widths(width: int) -> None:
    assert packed(columns(90, 20, 1, 1 + width, "exponential"))


@pytest.mark.parametrize("result", ["s8", "u8", "s16", "bf16", "f16"])
@pytest.mark.parametrize("given", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("width", [3, 8, 16, 23, 31, 32])
def test_what_is_less_than_a_word(width: int, given: str, result: str) -> None:
    """Of which a vector of words has half as many lanes, but for bytes made of whole vectors of
    words, and rows of words that are near each other."""
    text = f"""ENTRY e {{ x = {given}[70,{width}] parameter(0)  s = {given}[{width}] parameter(1)
  b = {given}[70,{width}] broadcast(s), dimensions={{1}}  m = {given}[70,{width}] multiply(x, b)
  t = {given}[70,{width}] tanh(m)
  ROOT r = {result}[70,{width}] convert(t) }}"""
    becomes_bytes = given == "f32" and not result.endswith("f16")
    stays = width == 32 or width == 3 or (width == 16 and becomes_bytes)
    assert packed(text) == (not stays)


def test_with_narrow_vectors() -> None:
    """Which have eight elements."""
    assert packed(columns(50, 12, 2, 9, "tanh"), "x86-64")
    assert not packed(columns(50, 12, 2, 10, "tanh"), "x86-64")


def test_what_stays() -> None:
    assert not packed(columns(90, 4, 1, 4, "exponential"))  # near each other
    assert not packed(columns(90, 10, 1, 4, "negate"))  # takes no time
    assert not packed(columns(90, 40, 1, 17, "exponential"))
    assert not packed(columns(90, 40, 1, 18, "exponential"))
    assert not packed(columns(31, 10, 1, 4, "exponential"))
    assert not packed(columns(90, 10, 1, 4, "exponential"), "cortex-m4")


def test_several_results_and_what_is_common() -> None:
    """A factor a row, one a column, and one for all."""
    assert packed("""ENTRY e { x = f32[77,11] parameter(0)  n = f32[77] parameter(1)
  c = f32[3] parameter(2)  a = f32[] parameter(3)
  s = f32[77,3] slice(x), slice={[0:77], [5:8]}
  m = f32[77,3] broadcast(n), dimensions={0}  d = f32[77,3] broadcast(c), dimensions={1}
  f = f32[77,3] broadcast(a), dimensions={}
  t = f32[77,3] multiply(s, m)  u = f32[77,3] add(t, d)  v = f32[77,3] multiply(u, f)
  e = f32[77,3] exponential(v)  g = f32[77,3] sine(v)
  ROOT r = f32[77,9] concatenate(s, e, g), dimensions={1} }""")


def test_places_that_are_looked_up_or_depend_on_the_element() -> None:
    check("""ENTRY e { x = f32[40,9] parameter(0)  i = s32[60,1] parameter(1)
  g = f32[60,3] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,3}
  n = f32[60,3] iota(), iota_dimension=0
  s = f32[60,3] add(g, n)  e = f32[60,3] exponential(s)
  z = f32[] constant(0)
  ROOT p = f32[60,5] pad(e, z), padding=0_0x1_1 }""", target=load("host"))
