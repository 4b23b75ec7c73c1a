"""Reduces that keep the last dimension: blocks of columns, rows together and far apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ccodegen
from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.text import to_text
from ccodegen.lower import column_plan
from ccodegen.passes import fusion_reads
from ccodegen.target import load
from tests.lower.reducers import ARGMAX
from tests.three_ways import check

HOST = load("host")
VECTOR = HOST.machine.vector_elements(4)
NAN, INF = np.nan, np.inf
REDUCERS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
least { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] minimum(a, b) }
most { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] subtract(a, b) }
"""


@pytest.fixture(params=[False, True], ids=["near", "far"])
def is_far(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        monkeypatch.setattr(column_plan, "FAR", 1)
        monkeypatch.setattr(fusion_reads, "FAR", 1)
        monkeypatch.setattr(column_plan, "_MOST_FAR_VECTORS", 6)
        monkeypatch.setattr(column_plan, "_MOST_ORDERED_VECTORS", 3)
    return bool(request.param)


@pytest.mark.parametrize("shape", [(1, 2), (3, 70), (4, 64), (9, 97), (6, 200), (2, 5, 131)])
@pytest.mark.parametrize("reducer", ["add", "least", "less"])
@pytest.mark.parametrize("strict", [False, True])
def test_columns(shape: tuple[int, ...], reducer: str, strict: bool, is_far: bool) -> None:
    size, kept = ",".join(map(str, shape)), ",".join(map(str, (*shape[:-2], shape[-1])))
    text = f"""HloModule m {REDUCERS} ENTRY e {{ x = f32[{size}] parameter(0)
      z = f32[] constant(0.5)
      ROOT r = f32[{kept}] reduce(x, z), dimensions={{{len(shape) - 2}}}, to_apply={reducer} }}"""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    check(text, x, target=HOST, strict=strict)


@pytest.mark.parametrize(("columns", "blocks"), [(512, 2), (500, 2), (509, 0)])
def test_threads_have_as_many_columns_each(columns: int, blocks: int) -> None:
    target = replace(HOST, machine=replace(HOST.machine, threads=2))
    text = f"""HloModule m {REDUCERS} ENTRY e {{ x = f32[20,{columns}] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[{columns}] reduce(x, z), dimensions={{0}}, to_apply=most }}"""
    (kernel,) = check(text, target=target).program.kernels
    loops = [s for s in kernel.body if isinstance(s, For) and s.kind is LoopKind.PARALLEL]
    assert [loop.extent for loop in loops] == [blocks] * bool(blocks)


@pytest.mark.parametrize("kind", ["f32", "f64", "s8", "u16", "s32", "bf16", "c64", "pred"])
def test_types(kind: str, is_far: bool) -> None:
    op, one = {"pred": ("or", "false"), "c64": ("add", "(1, 2)")}.get(kind, ("add", "1"))
    text = f"""HloModule m
      f {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)  ROOT c = {kind}[] {op}(a, b) }}
      ENTRY e {{ x = f32[11,150] parameter(0)  y = {kind}[11,150] convert(x)
      z = {kind}[] constant({one})
      ROOT r = {kind}[150] reduce(y, z), dimensions={{0}}, to_apply=f }}"""
    x = np.random.default_rng(0).integers(0, 2, (11, 150)).astype(np.float32)
    x[:, 7] = 0
    check(text, x, target=HOST)


LEFT_OVER = """ENTRY e { x = f32[3,24,%(k)d] parameter(0)  b = f32[3,%(k)d] parameter(1)
  z = f32[] constant(0.5)  t = f32[3,24,%(k)d] %(op)s(x)
  r = f32[3,%(k)d] reduce(t, z), dimensions={1}, to_apply=add  ROOT s = f32[3,%(k)d] add(r, b) }"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("op", ["negate", "tanh"])
@pytest.mark.parametrize("count", [VECTOR + 3, 2 * VECTOR - 1, 5 * VECTOR + VECTOR // 2 + 1])
def test_columns_that_vectors_leave_over(count: int, op: str, strict: bool) -> None:
    text = f"HloModule m {REDUCERS} " + LEFT_OVER % {"k": count, "op": op}
    built = check(text, target=HOST, strict=strict)
    is_overlapped = "let start" in to_text(built.program.kernels[0])
    assert is_overlapped == (count < 2 * VECTOR or op == "tanh")
    in_place = check(text, target=HOST, strict=strict, donate=[1])
    assert "let start" not in to_text(in_place.program.kernels[0]), "what is added is read once"


def test_reduces_that_need_nothing_of_each_other_share_a_pass(is_far: bool) -> None:
    text = f"""HloModule m {REDUCERS} ENTRY e {{ x = f32[12,300] parameter(0)
      z = f32[] constant(0)  low = f32[] constant(-inf)  s = f32[12,300] multiply(x, x)
      a = f32[300] reduce(x, z), dimensions={{0}}, to_apply=add
      b = f32[300] reduce(s, z), dimensions={{0}}, to_apply=add
      c = f32[300] reduce(x, low), dimensions={{0}}, to_apply=most
      ROOT t = (f32[300], f32[300], f32[300]) tuple(a, b, c) }}"""
    x = np.random.default_rng(0).standard_normal((12, 300)).astype(np.float32)
    assert len(check(text, x, target=HOST).program.kernels) == 1


def test_the_second_pass_over_far_columns_is_a_kernel_of_its_own(is_far: bool) -> None:
    text = f"""HloModule m {REDUCERS} ENTRY e {{ x = f32[12,300] parameter(0)
      z = f32[] constant(0)  a = f32[300] reduce(x, z), dimensions={{0}}, to_apply=add
      s = f32[12,300] broadcast(a), dimensions={{1}}  d = f32[12,300] subtract(x, s)
      q = f32[12,300] multiply(d, d)
      ROOT v = f32[300] reduce(q, z), dimensions={{0}}, to_apply=add }}"""
    x = np.random.default_rng(0).standard_normal((12, 300)).astype(np.float32)
    assert len(check(text, x, target=HOST).program.kernels) == (2 if is_far else 1)


ARGMAX_OF_COLUMNS = f"""{ARGMAX}
ENTRY e {{ x = f32[9,80] parameter(0)  n = s32[9,80] iota(), iota_dimension=0
  low = f32[] constant(-inf)  z = s32[] constant(0)
  ROOT r = (f32[80], s32[80]) reduce(x, n, low, z), dimensions={{0}}, to_apply=argmax }}"""
LAST = """last { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] copy(b) }
ENTRY e { x = f32[8,80] parameter(0)  low = f32[] constant(-inf)
  ROOT r = f32[80] reduce(x, low), dimensions={0}, to_apply=last }"""


def test_the_first_of_equal_elements_is_found(is_far: bool) -> None:
    x = np.random.default_rng(0).integers(0, 2, (9, 80)).astype(np.float32)
    built = check(ARGMAX_OF_COLUMNS, x, target=HOST)
    assert any("let kept" in to_text(kernel) for kernel in built.program.kernels)


def test_the_order_of_rows_stays_where_it_may_count(is_far: bool) -> None:
    check(LAST, np.arange(640, dtype=np.float32).reshape(8, 80), target=HOST)


@pytest.mark.parametrize("init", ["-inf", "inf", "nan", "-0"])
@pytest.mark.parametrize("operator", ["least", "most"])
def test_notable_numbers(operator: str, init: str, is_far: bool) -> None:
    notable = [
        [0.0, -0.0, -0.0],
        [-0.0, 0.0, 0.0],
        [-0.0, -0.0, -0.0],
        [INF, -INF, 0.0],
        [-INF, -INF, -INF],
        [1e-45, -1e-45, 0.0],
        [1.0, NAN, INF],
        [1.0, -NAN, -INF],
        [-NAN, -1.0, 2.0],
    ]
    columns = np.array([row + row[-1:] * 6 for row in notable], np.float32).T
    text = f"""HloModule m {REDUCERS} ENTRY e {{ x = f32[9,72] parameter(0)
      i = f32[] constant({init})
      ROOT r = f32[72] reduce(x, i), dimensions={{0}}, to_apply={operator} }}"""
    x = np.tile(columns, (1, 8))
    check(text, x, target=HOST)
    for arranged in (x, x[::-1].copy()):
        got = np.asarray(ccodegen.compile(text)(arranged))
        want = np.asarray(ccodegen.evaluate(text, arranged))
        np.testing.assert_array_equal(got, want)
        sure = ~np.isnan(want)
        assert (np.signbit(got) == np.signbit(want))[sure].all()
