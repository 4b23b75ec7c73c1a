"""Narrow last dimensions that reduces have to do with become columns; sums keep their order."""

from __future__ import annotations

import pytest

from ccodegen.passes.context import PassContext
from ccodegen.passes.unzip_narrow import unzip_narrow
from ccodegen.target import load
from tests.passes.checking import leaves_alone, rewrites
from tests.three_ways import check

PC = PassContext(target=load("x86-64"), strict=True)
ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n"
FROM = "from { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] subtract(b, a) }\n"


def entry(text: str) -> str:
    functions = ADD + FROM * ("to_apply=from" in text)
    return f"{functions}ENTRY e {{ z = f32[] constant(0.5)\n{text} }}"


def test_a_reduce_over_it_becomes_elementwise() -> None:
    rewrites(
        entry(
            "x = f32[40,2] parameter(0)\n"
            "ROOT r = f32[40] reduce(x, z), dimensions={1}, to_apply=from"
        ),
        entry(
            "x = f32[40,2] parameter(0)  i = f32[40] broadcast(z), dimensions={}\n"
            "a = f32[40,1] slice(x), slice={[0:40], [0:1]}  c = f32[40] reshape(a)\n"
            "s = f32[40] subtract(c, i)\n"
            "b = f32[40,1] slice(x), slice={[0:40], [1:2]}  d = f32[40] reshape(b)\n"
            "ROOT r = f32[40] subtract(d, s)"
        ),
        unzip_narrow,
        PC,
    )


def test_a_reduce_beside_it_becomes_several() -> None:
    rewrites(
        entry(
            "x = f32[40] parameter(0)  y = f32[2] parameter(1)\n"
            "p = f32[40,2] broadcast(x), dimensions={0}\n"
            "q = f32[40,2] broadcast(y), dimensions={1}  m = f32[40,2] multiply(p, q)\n"
            "ROOT r = f32[2] reduce(m, z), dimensions={0}, to_apply=add"
        ),
        entry(
            "x = f32[40] parameter(0)  y = f32[2] parameter(1)\n"
            "xa = f32[40,1] broadcast(x), dimensions={0}  ya = f32[1] slice(y), slice={[0:1]}\n"
            "yc = f32[40,1] broadcast(ya), dimensions={1}  m = f32[40,1] multiply(xa, yc)\n"
            "c0 = f32[40] reshape(m)\n"
            "r0 = f32[] reduce(c0, z), dimensions={0}, to_apply=add  s0 = f32[1] reshape(r0)\n"
            "xb = f32[40,1] broadcast(x), dimensions={0}  yb = f32[1] slice(y), slice={[1:2]}\n"
            "yd = f32[40,1] broadcast(yb), dimensions={1}  n = f32[40,1] multiply(xb, yd)\n"
            "c1 = f32[40] reshape(n)\n"
            "r1 = f32[] reduce(c1, z), dimensions={0}, to_apply=add  s1 = f32[1] reshape(r1)\n"
            "ROOT r = f32[2] concatenate(s0, s1), dimensions={0}"
        ),
        unzip_narrow,
        PC,
    )


@pytest.mark.parametrize(
    "text",
    [
        "x = f32[40,5] parameter(0)\nROOT r = f32[40] reduce(x, z), dimensions={1}, to_apply=add",
        "x = f32[8,3] parameter(0)\nROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add",
        "x = f32[40,3] parameter(0)\nROOT r = f32[3] reduce(x, z), dimensions={0}, to_apply=add",
        "x = f32[40,3] parameter(0)\nROOT r = f32[] reduce(x, z), dimensions={0,1}, to_apply=add",
    ],
    ids=["wide", "few", "of an array", "all"],
)
def test_left_alone(text: str) -> None:
    leaves_alone(entry(text), unzip_narrow, PC)


def test_no_more_code_where_vectors_are_none() -> None:
    text = entry(
        "x = f32[40,3] parameter(0)\nROOT r = f32[40] reduce(x, z), dimensions={1}, to_apply=add"
    )
    leaves_alone(text, unzip_narrow, PassContext(target=load("cortex-m4")))


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("type_", ["f32", "f64", "bf16", "s8", "u32"])
def test_forces(type_: str, strict: bool) -> None:
    """Differences of all pairs, the sums of their squares, and weighted sums over the others."""
    t = type_
    check(
        f"""add {{ a = {t}[] parameter(0)  b = {t}[] parameter(1)  ROOT r = {t}[] add(a, b) }}
        ENTRY e {{ p = {t}[37,3] parameter(0)  z = {t}[] constant(0)  one = {t}[] constant(1)
          a = {t}[37,37,3] broadcast(p), dimensions={{1,2}}
          b = {t}[37,37,3] broadcast(p), dimensions={{0,2}}
          d = {t}[37,37,3] subtract(a, b)  dd = {t}[37,37,3] multiply(d, d)
          s = {t}[37,37] reduce(dd, z), dimensions={{2}}, to_apply=add
          o = {t}[37,37] broadcast(one), dimensions={{}}  e = {t}[37,37] add(s, o)
          q = {t}[37,37] divide(o, e)  w = {t}[37,37,3] broadcast(q), dimensions={{0,1}}
          f = {t}[37,37,3] multiply(d, w)
          ROOT r = {t}[37,3] reduce(f, z), dimensions={{1}}, to_apply=add }}""",
        strict=strict,
    )
