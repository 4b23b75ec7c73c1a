"""Which reducers are found to look for an extremum."""

from __future__ import annotations

import pytest

import ccodegen.ops  # noqa: F401  (fills the registry)
from ccodegen.hlo.text import parse
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.extremum import extremum_operator
from ccodegen.ops.reduce import Reduce

# JAX's argmax: the value that is larger or NaN; of equal ones the lower index.
_JAX = """g = pred[] compare(a, b), direction={direction}  n = pred[] compare(a, a), direction=NE
  o = pred[] or(g, n)  v = {type}[] select(o, a, b)  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, j), direction=LT  w = pred[] and(e, l)  q = pred[] or(o, w)
  k = s32[] select(q, i, j)"""
_FIRST = """n = pred[] compare(a, a), direction=NE  g = pred[] compare(a, b), direction=GE
  o = pred[] or(g, n)  v = {type}[] select(o, a, b)  k = s32[] select(o, i, j)"""
_PLAIN = """o = pred[] compare(a, b), direction={direction}  v = {type}[] select(o, a, b)
  k = s32[] select(o, i, j)"""
_SUM = "v = {type}[] add(a, b)  k = s32[] add(i, j)"
_TOTAL = """o = pred[] compare(a, b), direction=GE, type=TOTALORDER
  v = {type}[] select(o, a, b)  k = s32[] select(o, i, j)"""
_SECOND = """o = pred[] compare(a, b), direction=GE  v = {type}[] maximum(a, b)
  k = s32[] select(o, j, i)"""


def _found(body: str, element_type: str, direction: str, grows: bool) -> str:
    lines = body.format(type=element_type, direction=direction)
    module = parse(f"""HloModule m
f {{ a = {element_type}[] parameter(0)  i = s32[] parameter(1)
  b = {element_type}[] parameter(2)  j = s32[] parameter(3)
  {lines}  ROOT t = ({element_type}[], s32[]) tuple(v, k) }}
ENTRY e {{ x = {element_type}[9] parameter(0)  y = s32[9] parameter(1)
  p = {element_type}[] parameter(2)  q = s32[] parameter(3)
  ROOT r = ({element_type}[], s32[]) reduce(x, y, p, q), dimensions={{0}}, to_apply=f }}""")
    computation = attributes_of(module.entry.root, Reduce).to_apply
    return extremum_operator(computation, (False, grows))


@pytest.mark.parametrize(
    ("body", "element_type", "direction", "grows", "expected"),
    [
        (_JAX, "f32", "GT", True, "maximum"),
        (_JAX, "f16", "LT", True, "minimum"),
        (_JAX, "s32", "GT", True, "maximum"),
        (_JAX, "f32", "GT", False, ""),  # of equal values it keeps the lowest, not the first
        (_FIRST, "f32", "", False, "maximum"),
        (_PLAIN, "u8", "GE", False, "maximum"),
        (_PLAIN, "s64", "LE", False, "minimum"),
        (_PLAIN, "s64", "GT", False, ""),  # keeps the last of equal ones
        (_PLAIN, "f32", "GE", False, ""),  # NaN loses, and wins
        (_SUM, "s32", "", True, ""),
        (_TOTAL, "f32", "", True, ""),
        (_SECOND, "s32", "", True, ""),
    ],
)
def test_found(body: str, element_type: str, direction: str, grows: bool, expected: str) -> None:
    assert _found(body, element_type, direction, grows) == expected
