"""The evaluator: order, arguments, lifted computations, control flow, memory."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
import pytest

import ccodegen
from ccodegen.hlo import opdef
from ccodegen.hlo.evaluate import Evaluator, evaluate
from ccodegen.hlo.text import parse
from ccodegen.support.errors import InputError, InternalError, UnsupportedError


def module(text):
    return parse(f"HloModule m\n{text}")


def f32(*values):
    return np.array(values, np.float32)


ADD = module("ENTRY e { a = f32[2] parameter(0)  b = f32[2] parameter(1)  ROOT c = add(a, b) }")
PAIR = module(
    """ENTRY e { p = (f32[2], (s32[], token[])) parameter(0)
    a = get-tuple-element(p), index=0
    q = get-tuple-element(p), index=1
    n = get-tuple-element(q), index=0
    ROOT r = tuple(n, tuple(a)) }"""
)
COUNT = module(
    """
    below { s = (s32[], s32[]) parameter(0)
      i = get-tuple-element(s), index=0  n = s32[] constant(30000)
      ROOT r = compare(i, n), direction=LT }
    step { s = (s32[], s32[]) parameter(0)
      i = get-tuple-element(s), index=0  t = get-tuple-element(s), index=1
      one = s32[] constant(1)
      ROOT r = tuple(add(i, one), add(t, i)) }
    ENTRY e { s = (s32[], s32[]) parameter(0)
      ROOT r = while(s), condition=below, body=step }"""
)


def test_arguments_are_one_each():
    assert evaluate(ADD, f32(1, 2), f32(3, 4)).tolist() == [4, 6]


def test_tuples_are_given_nested_or_flat():
    seven = np.array(7, np.int32)
    for arguments in [((f32(1, 2), (seven, None)),), (f32(1, 2), seven, None)]:
        number, (array,) = evaluate(PAIR, *arguments)
        assert number == 7 and array.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((f32(1, 2),), "takes 2 arguments, not 1"),
        ((f32(1, 2), f32(1, 2, 3)), r"argument 1 has dimensions \(3,\), not those of f32\[2\]"),
        ((f32(1, 2), np.array([1, 2])), "argument 1 is of type int64"),
    ],
)
def test_wrong_arguments_are_the_users_error(arguments, message):
    with pytest.raises(InputError, match=message):
        evaluate(ADD, *arguments)


def test_a_dynamic_dimension_takes_what_is_within_its_bound():
    negate = module("ENTRY e { a = f32[<=3] parameter(0)  ROOT r = negate(a) }")
    assert evaluate(negate, f32(1, 2)).tolist() == [-1, -2]
    with pytest.raises(InputError):
        evaluate(negate, f32(1, 2, 3, 4))


def test_an_op_without_a_reference_is_named_with_its_place():
    unknown = module('ENTRY e {\n ROOT r = f32[2] custom-call(), custom_call_target="what" }')
    with pytest.raises(UnsupportedError, match="custom-call to 'what'") as caught:
        evaluate(unknown)
    assert caught.value.location.line == 3


def test_long_loops_run():
    start = np.array(0, np.int32)
    total = sum(range(30000))
    _, found = evaluate(COUNT, start, start)
    assert int(found) == (total + 2**31) % 2**32 - 2**31


def test_long_chains_need_no_stack():
    lines = [f"x{n} = f32[] negate(x{n - 1})" for n in range(1, 20001)]
    chain = module("ENTRY e { x0 = f32[] parameter(0)\n" + "\n".join(lines) + "}")
    assert evaluate(chain, np.array(3, np.float32)) == 3


def test_a_scalar_computation_may_be_called_with_arrays():
    (clipped,) = module(
        "ENTRY e { a = s32[] parameter(0)  z = s32[] constant(0)  ROOT m = maximum(a, z) }"
    ).computations
    assert Evaluator().call(clipped, np.array([[-1, 2]], np.int32)).tolist() == [[0, 2]]


def test_a_lifted_constant_has_an_element_for_each():
    (five,) = module(
        "ENTRY e { a = s32[] parameter(0)  ROOT c = s32[] constant(5) }"
    ).computations
    assert Evaluator().call(five, np.zeros((2, 3), np.int32)).tolist() == [[5] * 3] * 2


def test_lifted_control_flow_runs_for_each_element():
    sign = module(
        """
        keep { x = s32[] parameter(0)  ROOT r = copy(x) }
        turn { x = s32[] parameter(0)  ROOT r = negate(x) }
        ENTRY e { x = s32[] parameter(0)  z = s32[] constant(0)
          below = compare(x, z), direction=LT
          ROOT r = s32[] conditional(below, x, x), true_computation=turn, false_computation=keep }
        """
    )
    values = np.array([-3, 4, -5], np.int32)
    assert Evaluator().call(sign.entry, values).tolist() == [3, 4, 5]


def test_values_are_freed_after_their_last_use(monkeypatch):
    values, most = [], 0

    def negate(evaluator, instruction, value):
        nonlocal most
        result = np.negative(value)
        values.append(weakref.ref(result))
        most = max(most, sum(v() is not None for v in values))
        return result

    monkeypatch.setitem(opdef._REGISTRY, "negate", replace(opdef.get("negate"), evaluate=negate))
    lines = "".join(f"x{n} = negate(x{n - 1})  " for n in range(1, 9))
    chain = module(f"ENTRY e {{ x0 = f32[2] parameter(0)  {lines} }}")
    assert evaluate(chain, f32(1, 2)).tolist() == [1, 2]
    assert most == 2


def test_a_wrong_reference_is_a_bug_of_ours(monkeypatch):
    def negate(evaluator, instruction, value):
        return value.astype(np.float64)

    monkeypatch.setitem(opdef._REGISTRY, "negate", replace(opdef.get("negate"), evaluate=negate))
    negated = module("ENTRY e { a = f32[2] parameter(0)  ROOT r = negate(a) }")
    with pytest.raises(InternalError, match="reference of negate"):
        evaluate(negated, f32(1, 2))


def test_dead_code_is_neither_run_nor_compiled() -> None:
    text = """ENTRY e {
      x = f32[2] parameter(0)
      zero = f32[] constant(0)
      dead = f32[2] custom-call(x), custom_call_target="nobody"
      dead.too = f32[2] rng(zero, zero), distribution=rng_uniform
      deader = f32[2] add(dead, dead.too)
      ROOT r = f32[2] negate(x)
    }"""
    x = np.asarray([1, 2], np.float32)
    np.testing.assert_array_equal(ccodegen.evaluate(text, x), -x)
    np.testing.assert_array_equal(ccodegen.compile(text)(x), -x)
    alive = text.replace("negate(x)", "negate(dead)")
    for run in (lambda: ccodegen.evaluate(alive, x), lambda: ccodegen.compile(alive)):
        with pytest.raises(UnsupportedError, match="nobody"):
            run()
