"""Loops whose turns make each element of those at its place become fusions."""

from __future__ import annotations

import pytest

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.control import Fusion, While
from ccodegen.passes.drop_dead import drop_dead
from ccodegen.passes.fuse_loops import fuse_loops
from ccodegen.passes.hoist_invariant import hoist_invariant
from ccodegen.passes.simplify_algebra import simplify_algebra
from ccodegen.passes.trim_loops import trim_loops
from tests.passes.checking import STRICT, leaves_alone, module, same_bits

STATE = "(s32[], f32[4,30], f32[4,30], f32[], f32[2,4,30])"
HALVED = "h = f32[4,30] add(x, y)  k = f32[4,30] multiply(h, y)  a1 = f32[] add(a, a)"


def loop(body: str = HALVED, following: str = "k, h, a1", wanted: str = "1 2") -> str:
    """Nine turns over a counter, x, y, a scalar a, and an array z that does not change."""
    shapes = [s.strip() + "]" for s in STATE.strip("()").split("],")[:-1]]
    shapes.append("f32[2,4,30]")
    gets = "\n".join(
        f"{name} = {shape} get-tuple-element(s), index={n}"
        for n, (name, shape) in enumerate(zip("ixyaz", shapes, strict=True))
    )
    read = "\n".join(
        f"r{n} = {shapes[int(n)]} get-tuple-element(w), index={n}" for n in wanted.split()
    )
    results = ", ".join(f"r{n}" for n in wanted.split())
    return f"""
      c {{ s = {STATE} parameter(0)  i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(9)  ROOT l = pred[] compare(i, n), direction=LT }}
      b {{ s = {STATE} parameter(0)  {gets}
        one = s32[] constant(1)  next = s32[] add(i, one)
        {body}  ROOT t = {STATE} tuple(next, {following}, z) }}
      ENTRY e {{ zero = s32[] constant(0)
        x = f32[4,30] parameter(0)  y = f32[4,30] parameter(1)  a = f32[] parameter(2)
        z = f32[2,4,30] parameter(3)  t = {STATE} tuple(zero, x, y, a, z)
        w = {STATE} while(t), condition=c, body=b  {read}
        ROOT r = ({", ".join(shapes[int(n)] for n in wanted.split())}) tuple({results}) }}"""


def fused(text: str) -> tuple[Module, Instruction]:
    """After the passes that make it one, and the bits are checked; and the fusion."""
    old = new = module(text)
    for transform in (drop_dead, hoist_invariant, trim_loops, simplify_algebra, fuse_loops):
        new = transform(new, STRICT)
    assert same_bits(old, new)
    (found,) = (i for i in new.entry.instructions if i.op == "fusion")
    assert not any(i.op == "while" for i in new.entry.instructions)
    return new, found


def inside(fusion: Instruction) -> list[Instruction]:
    """The instructions of the loop that it calls."""
    assert isinstance(fusion.attributes, Fusion)
    (turned,) = (i for i in fusion.attributes.calls.instructions if i.op == "while")
    assert isinstance(turned.attributes, While)
    return list(turned.attributes.body.instructions)


def test_arrays_have_one_dimension_and_only_what_is_wanted_comes_out() -> None:
    program, fusion = fused(loop())
    assert [str(o.shape) for o in fusion.operands] == ["f32[120]", "f32[120]"]
    assert str(fusion.shape) == "(f32[120], f32[120])"
    ranks = {i.shape.rank for i in inside(fusion) if isinstance(i.shape, ArrayShape)}
    assert ranks <= {0, 1}
    assert [str(o.shape) for o in program.entry.root.operands] == ["f32[4,30]"] * 2


def test_scalars_of_the_state() -> None:
    uses = "v = f32[4,30] broadcast(a), dimensions={}  h = f32[4,30] add(x, v)"
    _, fusion = fused(loop(f"{uses}  a1 = f32[] add(a, a)", "h, y, a1", "1 3"))
    assert str(fusion.shape) == "(f32[120], f32[])"


def test_what_is_read_in_another_order_is_computed_before() -> None:
    part = """p = f32[1,4,30] slice(z), slice={[1:2], [0:4], [0:30]}  q = f32[4,30] reshape(p)
      h = f32[4,30] add(x, q)"""
    program, fusion = fused(loop(part, "h, y, a", "1"))
    assert "slice" in {i.op for i in program.entry.instructions}
    assert "slice" not in {i.op for i in inside(fusion)}
    assert len(fusion.operands) == 2


def scan(row: str, start: str = "i", more: str = "", kept: str = "") -> str:
    """Six turns that read a row of xs and write one of ys; `row`: as it is in the state."""
    sizes = ",".join(f for f in ("6", row) if f)
    one, zeros = ",".join(f for f in ("1", row) if f), ", z" * len([f for f in row.split(",") if f])
    state = f"(s32[], f32[{row}], f32[{sizes}], f32[{sizes}])"
    return f"""
      c {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(6)  ROOT l = pred[] compare(i, n), direction=LT }}
      b {{ s = {state} parameter(0)  i = s32[] get-tuple-element(s), index=0
        a = f32[{row}] get-tuple-element(s), index=1
        xs = f32[{sizes}] get-tuple-element(s), index=2
        ys = f32[{sizes}] get-tuple-element(s), index=3
        z = s32[] constant(0)  one = s32[] constant(1)  five = s32[] constant(5)
        next = s32[] add(i, one)  back = s32[] subtract(five, i)
        d = f32[{one}] dynamic-slice(xs, {start}{zeros}), dynamic_slice_sizes={{{one}}}
        x = f32[{row}] reshape(d)  h = f32[{row}] add(a, x)  {more}
        u = f32[{one}] reshape(h)
        w = f32[{sizes}] dynamic-update-slice(ys, u, {start}{zeros})
        ROOT t = {state} tuple(next, h, xs, {kept or "w"}) }}
      ENTRY e {{ zero = s32[] constant(0)  a = f32[{row}] parameter(0)
        xs = f32[{sizes}] parameter(1)  ys = f32[{sizes}] parameter(2)
        t = {state} tuple(zero, a, xs, ys)  w = {state} while(t), condition=c, body=b
        h = f32[{row}] get-tuple-element(w), index=1
        y = f32[{sizes}] get-tuple-element(w), index=3
        ROOT r = (f32[{row}], f32[{sizes}]) tuple(h, y) }}"""


@pytest.mark.parametrize("start", ["i", "back", "next"])
@pytest.mark.parametrize("row", ["", "8", "2,3,4"])
def test_rows_that_turns_read_and_write(row: str, start: str) -> None:
    _, fusion = fused(scan(row, start))
    sizes = {"": "[6]", "8": "[6,8]", "2,3,4": "[6,24]"}[row]
    assert str(fusion.operands[-1].shape) == f"f32{sizes}"
    assert {"dynamic-slice", "dynamic-update-slice"} <= {i.op for i in inside(fusion)}


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("k = f32[6,8] negate(ys)", "k"),
        ("q = f32[2,8] slice(xs), slice={[0:2], [0:8]}  o = f32[6,8] "
         "dynamic-update-slice(ys, q, i, z)", "o"),
        ("q = f32[1,8] dynamic-slice(ys, i, z), dynamic_slice_sizes={1,8}  o = f32[6,8] "
         "dynamic-update-slice(ys, q, next, z)", "o"),
    ],
)
def test_rows_that_are_read_or_are_more_than_one_stay(more: str, kept: str) -> None:
    text = scan("8", "i", more, kept).replace("five = s32[] constant(5)", "")
    leaves_alone(text.replace("back = s32[] subtract(five, i)", ""), fuse_loops)


@pytest.mark.parametrize(
    ("body", "following"),
    [
        ("h = f32[4,30] reverse(x), dimensions={1}", "h, y, a"),
        (
            """o = f32[] constant(0)  h = f32[4,30] add(x, y)
            a1 = f32[] reduce(x, o), dimensions={0,1}, to_apply=add""",
            "h, y, a1",
        ),
        (
            """p = f32[1,1] slice(x), slice={[0:1], [0:1]}  q = f32[] reshape(p)
            v = f32[4,30] broadcast(q), dimensions={}  h = f32[4,30] add(y, v)""",
            "h, y, a",
        ),
    ],
)
def test_what_reads_other_elements_stays(body: str, following: str) -> None:
    add = "add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }\n"
    leaves_alone(add + loop(body, following), fuse_loops)


def test_a_number_of_turns_that_is_not_known_stays() -> None:
    text = loop().replace("n = s32[] constant(9)", "f = f32[] get-tuple-element(s), index=3\n"
        "n = s32[] convert(f)")
    leaves_alone(text, fuse_loops)


def test_one_in_the_body_of_another_loop() -> None:
    inner = """v = f32[4,30] broadcast(a), dimensions={}  h = f32[4,30] reverse(x), dimensions={1}
      zero = s32[] constant(0)  u = (s32[], f32[4,30]) tuple(zero, h)
      m = (s32[], f32[4,30]) while(u), condition=c2, body=b2
      k = f32[4,30] get-tuple-element(m), index=1"""
    more = """c2 { s = (s32[], f32[4,30]) parameter(0)  i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(3)  ROOT l = pred[] compare(i, n), direction=LT }
      b2 { s = (s32[], f32[4,30]) parameter(0)  i = s32[] get-tuple-element(s), index=0
        one = s32[] constant(1)  next = s32[] add(i, one)
        x = f32[4,30] get-tuple-element(s), index=1  h = f32[4,30] cosine(x)
        ROOT t = (s32[], f32[4,30]) tuple(next, h) }\n"""
    old = module(more + loop(inner, "k, y, a"))
    new = fuse_loops(old, STRICT)
    assert same_bits(old, new)
    (outer,) = (i for i in new.entry.instructions if i.op == "while")
    assert isinstance(outer.attributes, While)
    assert "fusion" in {i.op for i in outer.attributes.body.instructions}
