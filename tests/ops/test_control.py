"""Ops that call computations, tuples, tokens, and what runs at once although it says later."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.support.errors import InputError
from tests.three_ways import check

X = np.array([1, -2, 3], np.float32)
BRANCHES = """
zero { x = f32[3] parameter(0)  ROOT r = negate(x) }
one { x = f32[3] parameter(0)  ROOT r = add(x, x) }
two { x = f32[3] parameter(0)  ROOT r = copy(x) }
"""
CHOOSE = BRANCHES + """ENTRY e { i = s32[] parameter(0)  x = f32[3] parameter(1)
  ROOT r = conditional(i, x, x, x), branch_computations={zero, one, two} }"""
EITHER = BRANCHES + """ENTRY e { p = pred[] parameter(0)  x = f32[3] parameter(1)
  ROOT r = conditional(p, x, x), true_computation=one, false_computation=zero }"""
LOOP = """
below { s = (s32[], f32[3]) parameter(0)  i = get-tuple-element(s), index=0
  n = s32[] constant(5)  ROOT r = compare(i, n), direction=LT }
step { s = (s32[], f32[3]) parameter(0)  i = get-tuple-element(s), index=0
  x = get-tuple-element(s), index=1  one = s32[] constant(1)
  ROOT r = tuple(add(i, one), multiply(x, x)) }
ENTRY e { x = f32[3] parameter(0)  z = s32[] constant(2)  s = tuple(z, x)
  w = while(s), condition=below, body=step  ROOT r = get-tuple-element(w), index=1 }"""
MAP = """
both { a = f32[] parameter(0)  b = f32[] parameter(1)  m = maximum(a, b)  ROOT r = sqrt(m) }
ENTRY e { x = f32[3] parameter(0)  y = f32[3] parameter(1)
  ROOT r = map(x, y), dimensions={0}, to_apply=both }"""
CALLS = BRANCHES + """ENTRY e { x = f32[3] parameter(0)  a = call(x), to_apply=one
  ROOT r = fusion(a), kind=kLoop, calls=zero }"""
ORDER = """ENTRY e { x = f32[3] parameter(0)  t = after-all()  u = after-all(t)
  d = add-dependency(x, u)  b = tuple(d, x)  o = opt-barrier(b)
  ROOT r = get-tuple-element(o), index=0 }"""
LATER = BRANCHES + """ENTRY e { x = f32[3] parameter(0)
  s = ((f32[3]), f32[3], u32[]) async-start(x), calls=one
  u = ((f32[3]), f32[3], u32[]) async-update(s)  d = f32[3] async-done(u)
  c = (f32[3], f32[3], u32[]) copy-start(d)  ROOT r = copy-done(c) }"""


def run(text, *arguments):
    return evaluate(parse(f"HloModule m\n{text}"), *arguments)


@pytest.mark.parametrize(("i", "factor"), [(0, -1), (1, 2), (2, 1), (7, 1), (-1, 1)])
def test_a_selector_out_of_range_takes_the_last_branch(i, factor):
    assert np.array_equal(run(CHOOSE, np.array(i, np.int32), X), factor * X)


def test_a_pred_takes_the_first_branch_for_true():
    assert np.array_equal(run(EITHER, np.array(True), X), 2 * X)
    assert np.array_equal(run(EITHER, np.array(False), X), -X)


def test_loops_calls_and_maps():
    assert np.array_equal(run(LOOP, X), X**8)
    assert np.array_equal(run(MAP, X, -X), np.sqrt(np.abs(X)))
    assert np.array_equal(run(CALLS, X), -2 * X)


def test_what_only_orders_changes_nothing():
    assert np.array_equal(run(ORDER, X), X)


def test_what_is_started_ends_with_its_result():
    assert np.array_equal(run(LATER, X), 2 * X)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (CHOOSE, (np.array(9, np.int32), X)),
        (EITHER, (np.array(True), X)),
        (LOOP, (X,)),
        (MAP, (X, -X)),
        (CALLS, (X,)),
    ],
)
def test_three_ways(text, arguments):
    check(text, *arguments, strict=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CHOOSE.replace("i = s32[]", "i = f32[]"), "chooses by s32"),
        (CHOOSE.replace("(i, x, x, x)", "(i, x, x)"), "has 3 branches and 2 arguments"),
        (EITHER.replace("x = f32[3] parameter(1)", "x = f32[4] parameter(1)"), "one, which takes"),
        (LOOP.replace("tuple(add(i, one), multiply(x, x))", "tuple(x, i)"), "the body"),
        (LOOP.replace("compare(i, n), direction=LT", "add(i, n)"), r"gives s32\[\], not pred\[\]"),
        (LOOP.replace("get-tuple-element(w), index=1", "get-tuple-element(w), index=2"),
         "index 2 of a tuple of 2"),
        (LOOP.replace("get-tuple-element(w), index=1", "get-tuple-element(x), index=0"),
         "takes a tuple"),
        (ORDER.replace("after-all(t)", "after-all(x)"), "after-all takes tokens"),
        (CALLS.replace("call(x)", "call(x, x)"), "call calls one, which takes"),
    ],
)
def test_wrong_callees_are_the_users_error(text, message):
    with pytest.raises(InputError, match=message):
        verify(parse(f"HloModule m\n{text}"))
