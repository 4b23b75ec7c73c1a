"""Random numbers: a state that is a value, the same draws three ways, kept from call to call."""

from __future__ import annotations

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.random_state import INITIAL
from ccodegen.passes.thread_random_state import thread_random_state
from ccodegen.support.errors import UnsupportedError
from tests.passes.checking import canonical
from tests.three_ways import check, module_of

DRAW = "a = f32[] constant(0)\n b = f32[] constant(1)\n"
LOOP = """body { p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = f32[] constant(0)
  b = f32[] constant(1)
  r = f32[4] rng(a, b), distribution=rng_normal
  y = f32[4] add(x, r)
  ROOT t = (s32[], f32[4]) tuple(j, y) }
condition { p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
"""
LOOP_ENTRY = """ENTRY e { z = s32[] constant(0)
  o = f32[4] parameter(0)
  t = (s32[], f32[4]) tuple(z, o)
  ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body }"""
BRANCHES = """yes { p = f32[3] parameter(0)
  s = u64[2] rng-get-and-update-state(), delta=7
  a = f32[] constant(-1)
  b = f32[] constant(1)
  r = f32[3] rng(a, b), distribution=rng_uniform
  ROOT y = f32[3] add(p, r) }
no { ROOT p = f32[3] parameter(0) }
drawn { n = f64[] constant(0)
  o = f64[] constant(2)
  ROOT r = f64[5] rng(n, o), distribution=rng_normal }
ENTRY e { q = pred[] parameter(0)
  x = f32[3] parameter(1)
  c = f32[3] conditional(q, x, x), true_computation=yes, false_computation=no
  d = f64[5] call(), to_apply=drawn
  f = f64[5] fusion(), kind=kLoop, calls=drawn
  s = u64[2] rng-get-and-update-state(), delta=1
  ROOT t = (f32[3], f64[5], f64[5], u64[2]) tuple(c, d, f, s) }"""


def test_the_state_becomes_a_parameter_and_a_result():
    module = module_of("ENTRY e { ROOT s = u64[2] rng-get-and-update-state(), delta=4 }")
    threaded = thread_random_state(module)
    assert "input_output_alias={ {1}: (0, {}, must-alias) }" in canonical(threaded)
    state = np.array([2**64 - 2, 3], np.uint64)
    old, new = evaluate(threaded, state)
    assert np.array_equal(old, state) and new.tolist() == [2, 4]


@pytest.mark.parametrize("strict", [False, True])
def test_loops_draw_anew_each_turn(strict):
    check(LOOP + LOOP_ENTRY, np.zeros(4, np.float32), strict=strict)


@pytest.mark.parametrize("choice", [False, True])
def test_branches_calls_and_fusions_draw_in_order(choice):
    check(BRANCHES, np.bool_(choice), np.ones(3, np.float32), strict=True)
    _c, d, f, s = evaluate(module_of(BRANCHES), np.bool_(choice), np.ones(3, np.float32))
    assert not np.array_equal(d, f)
    assert s.tolist() == [INITIAL + 5 + 5 + (7 + 1 if choice else 0), 0]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64", "f8e4m3fn"])
def test_uniform_floats_stay_below_the_limit(kind):
    text = f"""ENTRY e {{ a = {kind}[] constant(1)
  b = {kind}[] constant(2)
  ROOT r = {kind}[7,300] rng(a, b), distribution=rng_uniform }}"""
    check(text, strict=True)
    found = evaluate(module_of(text)).astype(np.float64)
    assert found.min() >= 1 and found.max() < 2 and abs(found.mean() - 1.5) < 0.08


@pytest.mark.parametrize("kind", ["s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
def test_uniform_integers_take_each_value(kind):
    low = -3 if kind[0] == "s" else 1
    text = f"""ENTRY e {{ a = {kind}[] constant({low})
  b = {kind}[] constant(6)
  ROOT r = {kind}[500] rng(a, b), distribution=rng_uniform }}"""
    check(text, strict=True)
    assert set(evaluate(module_of(text)).tolist()) == set(range(low, 6))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_normal_numbers_have_mean_and_deviation(kind):
    text = f"""ENTRY e {{ a = {kind}[] constant(3)
  b = {kind}[] constant(2)
  ROOT r = {kind}[40,101] rng(a, b), distribution=rng_normal }}"""
    check(text, strict=True)
    found = evaluate(module_of(text)).astype(np.float64)
    assert abs(found.mean() - 3) < 0.1 and abs(found.std() - 2) < 0.1


def test_an_executable_keeps_its_state():
    text = "ENTRY e { x = f32[3] parameter(0)\n" + DRAW
    text += "r = f32[3] rng(a, b), distribution=rng_uniform\n ROOT y = f32[3] add(x, r) }"
    executable = ccodegen.compile(module_of(text), donate=[0])
    first, second = (executable(np.zeros(3, np.float32)) for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, evaluate(module_of(text), np.zeros(3, np.float32)))
    again = ccodegen.compile(module_of(text), donate=[0])
    assert np.array_equal(first, again(np.zeros(3, np.float32)))


def test_a_package_documents_its_state(tmp_path):
    text = "ENTRY e {\n" + DRAW + "ROOT r = f32[3] rng(a, b), distribution=rng_uniform }"
    ccodegen.export(module_of(text), "host", "draw", tmp_path)
    header = (tmp_path / "include" / "draw.h").read_text()
    assert "uint64_t *random_state" in header
    assert f"state: {{{INITIAL}, 0}} before the first call, kept from call to call" in header


def test_random_numbers_in_a_reducer_are_refused():
    text = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] rng(a, b), distribution=rng_uniform
  ROOT d = f32[] add(c, a) }
ENTRY e { x = f32[3] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }"""
    with pytest.raises(UnsupportedError, match="random numbers in what reduce 'r' calls"):
        thread_random_state(module_of(text))
