"""Computations that ops call: loops, conditionals, arrays and calls inside, three ways."""

from __future__ import annotations

import pytest

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.support.errors import UnsupportedError
from ccodegen.target import load
from tests.three_ways import check, module_of

LOOP = """wb { p = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 h = f32[] constant(1.5)
 y = f32[] multiply(x, h)
 ROOT t = (s32[], f32[]) tuple(j, y) }
wc { p = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(3)
 ROOT c = pred[] compare(i, n), direction=LT }
"""
BRANCHES = """ya { p = f32[] parameter(0)
 ROOT r = f32[] negate(p) }
yb { p = f32[] parameter(0)
 ROOT r = f32[] exponential(p) }
"""
CALLED = {
    "map while": LOOP
    + """f { x = f32[] parameter(0)
 z = s32[] constant(0)
 t = (s32[], f32[]) tuple(z, x)
 w = (s32[], f32[]) while(t), condition=wc, body=wb
 ROOT r = f32[] get-tuple-element(w), index=1 }
ENTRY e { x = f32[5] parameter(0)
 ROOT m = f32[5] map(x), dimensions={0}, to_apply=f }""",
    "map cond": BRANCHES
    + """f { x = f32[] parameter(0)
 y = f32[] parameter(1)
 q = pred[] compare(x, y), direction=LT
 ROOT c = f32[] conditional(q, x, y), true_computation=ya, false_computation=yb }
ENTRY e { x = f32[5] parameter(0)
 y = f32[5] negate(x)
 ROOT m = f32[5] map(x, y), dimensions={0}, to_apply=f }""",
    "map array": """add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
f { x = f32[] parameter(0)
 b = f32[3] broadcast(x), dimensions={}
 c = f32[3] constant({1,2,3})
 d = f32[3] multiply(b, c)
 z = f32[] constant(0)
 ROOT r = f32[] reduce(d, z), dimensions={0}, to_apply=add }
ENTRY e { x = f32[5] parameter(0)
 ROOT m = f32[5] map(x), dimensions={0}, to_apply=f }""",
    "reduce cond": BRANCHES
    + """f { x = f32[] parameter(0)
 y = f32[] parameter(1)
 q = pred[] compare(x, y), direction=LT
 ROOT c = f32[] conditional(q, x, y), true_computation=ya, false_computation=yb }
ENTRY e { x = f32[5] parameter(0)
 z = f32[] constant(0)
 ROOT m = f32[] reduce(x, z), dimensions={0}, to_apply=f }""",
    "sort call": """neg { p = f32[] parameter(0)
 ROOT n = f32[] negate(p) }
lt { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 x = f32[] call(a), to_apply=neg
 y = f32[] call(b), to_apply=neg
 ROOT r = pred[] compare(x, y), direction=LT }
ENTRY e { x = f32[5] parameter(0)
 i = s32[5] iota(), iota_dimension=0
 ROOT s = (f32[5], s32[5]) sort(x, i), dimensions={0}, is_stable=true, to_apply=lt }""",
    "sort cond": BRANCHES
    + """lt { a = f32[] parameter(0)
 b = f32[] parameter(1)
 z = f32[] constant(1)
 q = pred[] compare(a, z), direction=LT
 x = f32[] conditional(q, a, a), true_computation=ya, false_computation=yb
 q2 = pred[] compare(b, z), direction=LT
 y = f32[] conditional(q2, b, b), true_computation=ya, false_computation=yb
 ROOT r = pred[] compare(x, y), direction=LT }
ENTRY e { x = f32[5] parameter(0)
 ROOT s = f32[5] sort(x), dimensions={0}, to_apply=lt }""",
    "scan dot": """f { x = f32[3] parameter(0)
 c = f32[3] parameter(1)
 m = f32[3,3] constant({{1,2,3},{0,1,0},{1,0,1}})
 d = f32[3] dot(m, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 n = f32[3] add(d, x)
 y = f32[3] reverse(n), dimensions={0}
 ROOT t = (f32[3], f32[3]) tuple(y, n) }
ENTRY e { x = f32[3,4] parameter(0)
 c = f32[3] parameter(1)
 ROOT r = (f32[3,4], f32[3]) scan(x, c), dimensions={1}, num_carries=1, is_reverse=true,
   to_apply=f }""",
    "scan shape": """add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
f { x = f32[3] parameter(0)
 c = f32[] parameter(1)
 s = f32[] reduce(x, c), dimensions={0}, to_apply=add
 ROOT t = (f32[], f32[]) tuple(s, s) }
ENTRY e { x = f32[4,3] parameter(0)
 c = f32[] parameter(1)
 ROOT r = (f32[4], f32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=f }""",
    "scan nocarry": """f { x = f32[3] parameter(0)
 y = f32[3] reverse(x), dimensions={0}
 ROOT t = (f32[3]) tuple(y) }
ENTRY e { x = f32[4,3] parameter(0)
 ROOT r = (f32[4,3]) scan(x), dimensions={0}, num_carries=0, to_apply=f }""",
    "scan empty": """f { x = f32[3] parameter(0)
 c = f32[3] parameter(1)
 y = f32[3] reverse(x), dimensions={0}
 n = f32[3] add(c, y)
 ROOT t = (f32[3], f32[3]) tuple(y, n) }
ENTRY e { x = f32[0,3] parameter(0)
 c = f32[3] parameter(1)
 ROOT r = (f32[0,3], f32[3]) scan(x, c), dimensions={0}, num_carries=1, to_apply=f }""",
}
WHILE_IN_REDUCE = (
    LOOP
    + """f { x = f32[] parameter(0)
 y = f32[] parameter(1)
 z = s32[] constant(0)
 t = (s32[], f32[]) tuple(z, x)
 w = (s32[], f32[]) while(t), condition=wc, body=wb
 v = f32[] get-tuple-element(w), index=1
 ROOT r = f32[] add(v, y) }
ENTRY e { x = f32[5] parameter(0)
 z = f32[] constant(0)
 ROOT m = f32[] reduce(x, z), dimensions={0}, to_apply=f }"""
)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", CALLED)
def test_three_ways(name, strict):
    check(CALLED[name], strict=strict)


def test_a_loop_in_a_reducer_is_refused():
    with pytest.raises(UnsupportedError, match="op 'while'"):
        build(module_of(WHILE_IN_REDUCE), BuildOptions(load("cortex-m4")))


def test_a_short_loop_in_a_reducer_is_written_out_where_there_are_vectors():
    check(WHILE_IN_REDUCE)
