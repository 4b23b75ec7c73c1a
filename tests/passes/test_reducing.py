"""The reducer: what is left of a module, by the fault that is looked for."""

from __future__ import annotations

import pytest

from ccodegen.hlo.ir import Module
from ccodegen.hlo.text import parse
from ccodegen.hlo.verify import verify
from ccodegen.passes.reducing import reduce
from ccodegen.passes.reducing.cuts import halving
from tests.passes.checking import module
from tests.random_modules import random_module

PROGRAM = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
turn {
  s = (s32[], f32[12,7]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  v = f32[12,7] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] add(n, one)
  t = f32[12,7] tanh(v)
  ROOT r = (s32[], f32[12,7]) tuple(m, t)
}
more {
  s = (s32[], f32[12,7]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(n, three), direction=LT
}
ENTRY e {
  x = f32[12,7] parameter(0), metadata={op_name="x"}
  y = f32[12,7] parameter(1)
  z = s32[] constant(0)
  w = (s32[], f32[12,7]) while((s32[], f32[12,7]) tuple(z, x)), condition=more, body=turn
  u = f32[12,7] get-tuple-element(w), index=1
  p = f32[12,7] multiply(u, y)
  zero = f32[] constant(0)
  q = f32[14,7] pad(p, zero), padding=1_1x0_0
  h = f32[7] reduce(q, zero), dimensions={0}, to_apply=add
  ROOT r = (f32[7], f32[12,7]) tuple(h, p)
}
"""


def has(opcode: str, program: Module) -> bool:
    return any(i.op == opcode for c in program.computations for i in c.instructions)


@pytest.mark.parametrize("opcode", ["multiply", "tanh"])
def test_an_op_alone_is_left(opcode: str) -> None:
    small = reduce(module(PROGRAM), lambda m: has(opcode, m))
    assert [i.op for i in small.entry.instructions] == ["parameter", opcode]
    assert {i.array_shape.dimensions for i in small.entry.instructions} == {(1, 1)}


def test_attributes_become_plain() -> None:
    small = reduce(module(PROGRAM), lambda m: has("pad", m))
    assert "padding=0_0x0_0" in small.to_text()


def test_a_loop_stays_where_it_is_the_fault() -> None:
    small = reduce(module(PROGRAM), lambda m: has("while", m))
    assert has("while", small)
    assert sum(len(c.instructions) for c in small.computations) < 12


def test_a_size_is_kept_that_the_fault_needs() -> None:
    def fails(program: Module) -> bool:
        shapes = (i.shape for i in program.entry.instructions if i.op == "multiply")
        return any("12" in str(s) for s in shapes)

    small = reduce(module(PROGRAM), fails)
    assert "f32[12,1] multiply" in small.to_text()


@pytest.mark.parametrize("seed", range(12))
def test_results_are_valid_and_the_same_each_time(seed: int) -> None:
    program = random_module(seed)
    opcode = program.entry.root.op

    def fails(candidate: Module) -> bool:
        verify(candidate)
        return has(opcode, candidate)

    text = reduce(program, fails).to_text()
    assert parse(text).to_text() == text == reduce(program, fails).to_text()


def test_each_place_is_tried_once_the_middle_first() -> None:
    assert list(halving("abcdefg")) == list("dbfaceg")
    assert list(halving([])) == []
