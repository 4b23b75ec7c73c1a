"""Which calls in loops one thread runs: where it would fetch too much from another's cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ccodegen
from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.emit.run_alone import run_alone
from ccodegen.emit.source import emit
from ccodegen.emit.table import emit_table
from ccodegen.hlo.text import parse
from ccodegen.loop.builder import Builder, apply, const
from ccodegen.loop.ir import Buffer, CallKernel, Kernel, LoopKind, Space, Step, While
from ccodegen.passes import element_loops
from ccodegen.support.element_type import ElementType
from ccodegen.target import load
from tests.emit.c_compiler import assert_clean

F32 = ElementType.F32
PREDICATE = Buffer("go", ElementType.PRED, (), Space.ARENA, 0)

# Of three arrays a light one is made by a kernel that is not worth sharing, two by some that are.
LORENZ = """HloModule lorenz
condition {{
  p = (s32[], f32[{n}], f32[{n}], f32[{n}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  turns = s32[] constant(500)
  ROOT less = pred[] compare(i, turns), direction=LT
}}
body {{
  p = (s32[], f32[{n}], f32[{n}], f32[{n}]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[{n}] get-tuple-element(p), index=1
  b = f32[{n}] get-tuple-element(p), index=2
  c = f32[{n}] get-tuple-element(p), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  step = f32[] constant(0.01)
  steps = f32[{n}] broadcast(step), dimensions={{}}
  rho = f32[] constant(28)
  rhos = f32[{n}] broadcast(rho), dimensions={{}}
  ba = f32[{n}] subtract(b, a)
  da = f32[{n}] multiply(ba, steps)
  new_a = f32[{n}] add(a, da)
  rc = f32[{n}] subtract(rhos, c)
  arc = f32[{n}] multiply(a, rc)
  arcb = f32[{n}] subtract(arc, b)
  db = f32[{n}] multiply(arcb, steps)
  new_b = f32[{n}] add(b, db)
  ab = f32[{n}] multiply(a, b)
  cc = f32[{n}] multiply(c, c)
  abc = f32[{n}] subtract(ab, cc)
  dc = f32[{n}] multiply(abc, steps)
  new_c = f32[{n}] add(c, dc)
  ROOT t = (s32[], f32[{n}], f32[{n}], f32[{n}]) tuple(next, new_a, new_b, new_c)
}}
ENTRY main {{
  a = f32[{n}] parameter(0)
  b = f32[{n}] parameter(1)
  c = f32[{n}] parameter(2)
  zero = s32[] constant(0)
  state = (s32[], f32[{n}], f32[{n}], f32[{n}]) tuple(zero, a, b, c)
  ROOT w = (s32[], f32[{n}], f32[{n}], f32[{n}]) while(state), condition=condition, body=body
}}
"""


def kernel(name: str, *buffers: Buffer, operations: int = 1) -> Kernel:
    """Adds ones to the last buffer."""
    b, last = Builder(), buffers[-1]
    with b.loop(last.size, "i", LoopKind.VECTOR) as i:
        value = b.load(last, (i,))
        for _ in range(operations):
            value = b.let(apply("add", value, const(last.type, 1)), "sum")
        b.store(last, (i,), value)
    return Kernel(name, buffers, b.statements)


def array(name: str, size: int, element: ElementType = F32) -> Buffer:
    return Buffer(name, element, (size,), Space.ARENA, 64)


def loop(*steps: Step) -> While:
    return While((), PREDICATE, steps)


def call(name: str, *buffers: Buffer, operations: int = 1) -> CallKernel:
    return CallKernel(kernel(name, *buffers, operations=operations), buffers)


def alone(steps: Sequence[Step], *shareable: CallKernel) -> set[CallKernel]:
    found = run_alone(steps, {each.kernel for each in shareable})
    return {each for each in shareable if id(each) in found}


def test_a_loop_of_shared_kernels_shares_them():
    x = array("x", 10_000)
    shared = call("shared", x)
    assert alone([loop(shared)], shared) == set()


def test_what_another_kernel_of_the_loop_touches_is_fetched():
    x, y = array("x", 10_000), array("y", 10_000)
    shared, other = call("shared", x), call("other", x)
    assert alone([loop(shared, other)], shared) == {shared}
    assert alone([loop(shared, call("elsewhere", y))], shared) == set()


def test_doubles_take_twice_as_long_to_compute():
    for element, size in ((F32, 20_000), (ElementType.F64, 10_000)):
        x = array("x", size, element)
        few, many, other = (call(str(n), x, operations=n) for n in (60, 120, 1))
        assert alone([loop(few, other)], few) == {few}
        assert alone([loop(many, other)], many) == set()


def test_outside_of_loops_nothing_is_left_in_caches():
    x = array("x", 10_000)
    shared, other = call("shared", x), call("other", x)
    assert alone([shared, other], shared) == set()


def test_what_only_is_read_is_in_both_caches():
    weights, x = array("weights", 100_000), array("x", 10)
    shared = call("shared", weights, x)
    assert alone([loop(shared, call("other", weights, x))], shared) == set()


def test_arrays_beyond_caches_come_from_memory_anyway():
    x = array("x", 1_000_000)
    shared, other = call("shared", x), call("other", x)
    assert alone([loop(shared, other)], shared) == set()


def test_a_loop_inside_of_another_is_seen_alone():
    x = array("x", 10_000)
    inside, outside, other = call("inside", x), call("outside", x), call("other", x)
    assert alone([loop(outside, other, loop(inside))], inside, outside) == {outside}


@pytest.mark.parametrize(("size", "shares"), [(10_000, False), (100_000, True)])
def test_the_bits_are_the_same_and_calls_say_who_runs_them(
    size: int, shares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(element_loops, "_MOST_WEIGHT", 0)  # the loop is no kernel itself
    text = LORENZ.format(n=size)
    one, two = (ccodegen.compile(text, threads=threads) for threads in (1, 2))
    inputs = [np.linspace(k, k + 1, size, dtype=np.float32) for k in range(3)]
    for first, second in zip(one(*inputs), two(*inputs), strict=True):
        np.testing.assert_array_equal(first, second)
    target = load("x86-64")
    program = build(parse(text), BuildOptions(target)).program
    shared = replace(target, machine=replace(target.machine, threads=2))
    entry = emit_table(program, shared).units[-2].text
    sources = emit(program, target, "p", threads=True)
    assert_clean(sources, tmp_path, "gcc")
    for steps in (entry, sources.files["src/p.c"]):
        assert (", threads);" in steps) == shares
        assert (", NULL);" in steps) != shares
