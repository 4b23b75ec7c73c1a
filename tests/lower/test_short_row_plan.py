"""Many short rows: blocks of them side by side, one row in each lane."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import ccodegen
from ccodegen.support.element_type import HLO_TYPES
from ccodegen.target import load
from tests.lower.reducers import ARGMAX
from tests.three_ways import check

HOST = load("host")
THREADS = dataclasses.replace(HOST, machine=dataclasses.replace(HOST.machine, threads=2))
MODES = pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
FUNCTIONS = f"""
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }}
most {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }}
last {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] copy(b) }}
{ARGMAX}
"""


def softmax(rows: str, width: str) -> str:
    dims, kept = f"f32[{rows},{width}]", f"f32[{rows}]"
    count = rows.count(",") + 1
    places = ",".join(map(str, range(count)))
    return f"""HloModule m {FUNCTIONS} ENTRY e {{ x = {dims} parameter(0)
      low = f32[] constant(-inf)  zero = f32[] constant(0)
      m = {kept} reduce(x, low), dimensions={{{count}}}, to_apply=most
      mb = {dims} broadcast(m), dimensions={{{places}}}
      s = {dims} subtract(x, mb)  e = {dims} exponential(s)
      t = {kept} reduce(e, zero), dimensions={{{count}}}, to_apply=add
      tb = {dims} broadcast(t), dimensions={{{places}}}  q = {dims} divide(e, tb)
      l = {kept} log(t)  ROOT r = ({dims}, {kept}) tuple(q, l) }}"""


def normal(*dimensions: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(dimensions).astype(np.float32)


def is_turned(text: str) -> bool:
    return re.search(r"\btile\[", ccodegen.compile(text).as_text("c")) is not None


@MODES
@pytest.mark.parametrize("width", [5, 7, 10, 31, 49])
@pytest.mark.parametrize("rows", [128, 130, 159])
def test_softmax(rows: int, width: int, strict: bool) -> None:
    for target in (HOST, THREADS):
        check(softmax(f"{rows}", f"{width}"), normal(rows, width), target=target, strict=strict)


def test_only_many_short_rows_are_turned() -> None:
    assert is_turned(softmax("160", "10")) and is_turned(softmax("3,161", "6"))
    assert is_turned(softmax("4,9,5", "6"))
    assert not is_turned(softmax("16", "10"))
    assert not is_turned(softmax("160", "4"))
    assert not is_turned(softmax("160", "100"))
    check(softmax("160", "0"), normal(160, 0), target=HOST)
    check(softmax("0", "10"), normal(0, 10), target=HOST)


def test_the_reader_is_told_what_is_turned() -> None:
    text = ccodegen.compile(softmax("160", "10")).as_text("c")
    assert re.search(r"/\* x.*rows side by side \*/", text)
    assert "row after row again */" in text


def test_rows_of_several_dimensions() -> None:
    check(softmax("3,133", "6"), normal(3, 133, 6), target=THREADS)
    check(softmax("4,9,5", "7"), normal(4, 9, 5, 7), target=THREADS)
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[140,3,4] parameter(0)
      z = f32[] constant(0.5)  t = f32[140] reduce(x, z), dimensions={{1,2}}, to_apply=add
      b = f32[140,3,4] broadcast(t), dimensions={{0}}  ROOT r = f32[140,3,4] divide(x, b) }}"""
    check(text, normal(140, 3, 4), target=HOST)


@MODES
@pytest.mark.parametrize("width", [6, 24, 64])
def test_the_first_of_equal_elements_is_found(width: int, strict: bool) -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[150,{width}] parameter(0)
      n = s32[150,{width}] iota(), iota_dimension=1
      low = f32[] constant(-inf)  z = s32[] constant(0)
      ROOT r = (f32[150], s32[150]) reduce(x, n, low, z), dimensions={{1}}, to_apply=argmax }}"""
    x = np.random.default_rng(0).integers(-1, 2, (150, width)).astype(np.float32)
    x[::7, 3] = np.nan
    x[1::7] *= 0.0
    assert is_turned(text)
    check(text, x, target=HOST, strict=strict)


@pytest.mark.parametrize("width", [6, 33, 40])
def test_the_largest_of_what_is_chosen(width: int) -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[150,{width}] parameter(0)
      z = f32[] constant(0)  zb = f32[150,{width}] broadcast(z), dimensions={{}}
      y = f32[150,{width}] maximum(x, zb)  low = f32[] constant(-inf)
      ROOT r = f32[150] reduce(y, low), dimensions={{1}}, to_apply=most }}"""
    x = normal(150, width)
    x[::5] = -1
    x[1::5, 2] = np.nan
    assert is_turned(text)
    check(text, x, target=HOST)


def test_the_order_of_elements_stays_where_it_may_count() -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[150,9] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[150] reduce(x, z), dimensions={{1}}, to_apply=last }}"""
    check(text, normal(150, 9), target=HOST)


def test_what_is_as_long_as_the_rows_are_many() -> None:
    """A line of 64 factors belongs to columns, though there are 64 rows."""
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[64,64] parameter(0)
      f = f32[64] parameter(1)  g = f32[64] parameter(2)  s = f32[64] exponential(f)
      sb = f32[64,64] broadcast(s), dimensions={{1}}  y = f32[64,64] multiply(x, sb)
      gb = f32[64,64] broadcast(g), dimensions={{0}}  v = f32[64,64] add(y, gb)
      low = f32[] constant(-inf)  m = f32[64] reduce(v, low), dimensions={{1}}, to_apply=most
      z = f32[] constant(0)  t = f32[64] reduce(y, z), dimensions={{1}}, to_apply=add
      ROOT r = f32[64] add(m, t) }}"""
    assert is_turned(text)
    check(text, normal(64, 64), normal(64), normal(2, 64)[1], target=HOST)


def test_what_depends_on_one_of_several_dimensions() -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[3,67,6] parameter(0)
      f = f32[67] parameter(1)  fb = f32[3,67,6] broadcast(f), dimensions={{1}}
      y = f32[3,67,6] multiply(x, fb)  z = f32[] constant(0)
      n = f32[3,67] iota(), iota_dimension=0
      t = f32[3,67] reduce(y, z), dimensions={{2}}, to_apply=add
      ROOT r = f32[3,67] add(t, n) }}"""
    assert is_turned(text)
    check(text, normal(3, 67, 6), normal(67), target=THREADS)


def test_rows_that_are_computed() -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[150] parameter(0)
      c = f32[8] parameter(1)  xb = f32[150,8] broadcast(x), dimensions={{0}}
      cb = f32[150,8] broadcast(c), dimensions={{1}}  y = f32[150,8] multiply(xb, cb)
      low = f32[] constant(-inf)
      ROOT r = f32[150] reduce(y, low), dimensions={{1}}, to_apply=most }}"""
    check(text, normal(150), normal(8), target=HOST)


def test_values_along_and_across_rows() -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32[135,11] parameter(0)
      bias = f32[11] parameter(1)  scale = f32[135] parameter(2)  mask = pred[135,11] parameter(3)
      bb = f32[135,11] broadcast(bias), dimensions={{1}}
      sb = f32[135,11] broadcast(scale), dimensions={{0}}
      y = f32[135,11] add(x, bb)  w = f32[135,11] multiply(y, sb)
      v = f32[135,11] select(mask, w, y)  z = f32[] constant(0)
      t = f32[135] reduce(v, z), dimensions={{1}}, to_apply=add
      tb = f32[135,11] broadcast(t), dimensions={{0}}
      ROOT r = f32[135,11] subtract(v, tb) }}"""
    mask = np.random.default_rng(1).random((135, 11)) < 0.5
    assert is_turned(text)
    check(text, normal(135, 11), normal(11), normal(135), mask, target=HOST)


@pytest.mark.parametrize("kind", ["f64", "f16", "bf16", "s8", "u16", "s32", "s64", "c64", "pred"])
def test_types(kind: str) -> None:
    op, one = {"pred": ("or", "false"), "c64": ("add", "(1, 2)")}.get(kind, ("add", "1"))
    text = f"""HloModule m
      f {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)  ROOT c = {kind}[] {op}(a, b) }}
      ENTRY e {{ x = {kind}[145,12] parameter(0)  z = {kind}[] constant({one})
      t = {kind}[145] reduce(x, z), dimensions={{1}}, to_apply=f
      b = {kind}[145,12] broadcast(t), dimensions={{0}}
      ROOT r = pred[145,12] compare(x, b), direction=EQ }}"""
    x = np.random.default_rng(0).integers(0, 2, (145, 12))
    x[::3] = 0
    check(text, x.astype(HLO_TYPES[kind].dtype), target=HOST)


@pytest.mark.parametrize(
    ("moved", "dims", "tiles"),
    [
        ("slice(x), slice={[0:150], [2:12]}", (150, 13), True),
        ("reverse(x), dimensions={1}", (150, 10), True),
        ("reshape(x)", (1500,), True),
        ("concatenate(x, x), dimensions={1}", (150, 5), True),
        ("transpose(x), dimensions={1,0}", (10, 150), False),
    ],
    ids=["slice", "reverse", "reshape", "concatenate", "transpose"],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_what_is_moved(
    moved: str, dims: tuple[int, ...], tiles: bool, threads: int
) -> None:
    text = f"""HloModule m {FUNCTIONS} ENTRY e {{ x = f32{list(dims)} parameter(0)
      y = f32[150,10] {moved}  s = f32[150,10] sine(y)
      i = s32[150,10] iota(), iota_dimension=1
      low = f32[] constant(-inf)  zero = s32[] constant(0)
      ROOT r = (f32[150], s32[150]) reduce(s, i, low, zero), dimensions={{1}}, to_apply=argmax }}"""
    assert is_turned(text) is tiles
    check(text, normal(*dims), target=HOST if threads == 1 else THREADS)


@pytest.mark.parametrize("kind", ["c128", "c64", "f64", "f32"])
def test_several_arrays_on_vectors_of_few_elements(kind: str) -> None:
    machine = dataclasses.replace(HOST.machine, vector_bytes=16)
    zero = "(0, 0)" if kind.startswith("c") else "0"
    text = f"""HloModule m
      f {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)  ROOT c = {kind}[] add(a, b) }}
      ENTRY e {{ x = {kind}[150,8] parameter(0)  w = {kind}[150,9] parameter(1)
      v = {kind}[150,8] slice(w), slice={{[0:150], [1:9]}}  s = {kind}[150,8] multiply(x, v)
      z = {kind}[] constant({zero})  r = {kind}[150] reduce(s, z), dimensions={{1}}, to_apply=f
      ROOT t = ({kind}[150], {kind}[150,8]) tuple(r, s) }}"""
    dtype = HLO_TYPES[kind].dtype
    arrays = (normal(150, 8).astype(dtype), normal(150, 9).astype(dtype))
    check(text, *arrays, target=dataclasses.replace(HOST, machine=machine))
