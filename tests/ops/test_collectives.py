"""Collectives among one device, three ways; among several, refused."""

from __future__ import annotations

import numpy as np
import pytest

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.hlo.evaluate import evaluate
from ccodegen.hlo.text import parse
from ccodegen.support.errors import UnsupportedError
from tests.three_ways import check, module_of, plain_target

ADD = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def entry(*lines: str) -> str:
    return ADD + "ENTRY e { x = f32[2,3] parameter(0)\n" + "\n".join(lines) + " }"


@pytest.mark.parametrize(
    "line",
    [
        "ROOT r = f32[2,3] all-reduce(x), replica_groups={}, to_apply=add",
        "ROOT r = f32[2,3] all-reduce(x), replica_groups={{0}}, to_apply=add",
        "ROOT r = f32[2,3] all-gather(x), replica_groups=[1,1]<=[1], dimensions={1}",
        "ROOT r = f32[2,3] reduce-scatter(x), replica_groups={{0}}, dimensions={0}, to_apply=add",
        "ROOT r = f32[2,3] all-to-all(x), replica_groups={{0}}, dimensions={0}",
        "ROOT r = f32[2,3] collective-broadcast(x), replica_groups={{0}}",
        "ROOT r = f32[2,3] collective-permute(x), source_target_pairs={{0,0}}",
        "s = f32[2,3] all-reduce-start(x), replica_groups={}, to_apply=add\n"
        "ROOT r = f32[2,3] all-reduce-done(s)",
        "s = ((f32[2,3]), f32[2,3], u32[]) all-reduce-start(x), replica_groups={}, to_apply=add\n"
        "ROOT r = f32[2,3] all-reduce-done(s)",
        "s = (f32[2,3], f32[2,3]) all-gather-start(x), replica_groups={}, dimensions={0}\n"
        "ROOT r = f32[2,3] all-gather-done(s)",
        "s = (f32[2,3], f32[2,3], u32[], u32[]) collective-permute-start(x), "
        "source_target_pairs={{0,0}}\nROOT r = f32[2,3] collective-permute-done(s)",
    ],
)
def test_one_device_gets_its_own_value(line):
    check(entry(line), X, strict=True)
    assert np.array_equal(evaluate(module_of(entry(line)), X), X)


def test_tuples_of_operands():
    lines = (
        "y = f32[2,3] negate(x)",
        "a = (f32[2,3], f32[2,3]) all-reduce(x, y), replica_groups={}, to_apply=add",
        "b = (f32[2,3]) all-to-all(y), replica_groups={{0}}",
        "g = ((f32[2,3], f32[2,3]), (f32[2,3], f32[2,3])) all-gather-start(x, y), dimensions={0}",
        "d = (f32[2,3], f32[2,3]) all-gather-done(g)",
        "ROOT t = ((f32[2,3], f32[2,3]), (f32[2,3]), (f32[2,3], f32[2,3])) tuple(a, b, d)",
    )
    check(entry(*lines), X, strict=True)
    assert np.array_equal(evaluate(module_of(entry(*lines)), X)[2][1], -X)


def test_a_device_that_nobody_sends_to_gets_zeros():
    text = entry("ROOT r = f32[2,3] collective-permute(x), source_target_pairs={}")
    check(text, X, strict=True)
    assert not evaluate(module_of(text), X).any()


def test_ids_are_zero():
    text = """ENTRY e { a = u32[] partition-id()
  b = u32[] replica-id()
  ROOT t = (u32[], u32[]) tuple(a, b) }"""
    check(text, strict=True)


@pytest.mark.parametrize("kind", ["s32", "s64", "u8"])
def test_ragged_all_to_all_copies_rows(kind):
    text = f"""ENTRY e {{ x = f32[6,2] parameter(0)
  y = f32[7,2] parameter(1)
  a = {kind}[3] parameter(2)
  b = {kind}[3] parameter(3)
  c = {kind}[3] parameter(4)
  ROOT r = f32[7,2] ragged-all-to-all(x, y, a, b, c, b), replica_groups={{}} }}"""
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    y = -np.ones((7, 2), np.float32)
    starts, sizes, targets = (np.array(v, kind[0].replace("s", "i") + str(int(kind[1:]) // 8))
                              for v in ([0, 3, 5], [2, 0, 3], [4, 0, 1]))
    check(text, x, y, starts, sizes, targets, strict=True)
    expected = y.copy()
    expected[4:6], expected[1] = x[0:2], x[5]
    got = evaluate(module_of(text), x, y, starts, sizes, targets)
    assert np.array_equal(got, expected)


REFUSED = {
    "ROOT r = f32[2,3] all-reduce(x), replica_groups={{0,1}}, to_apply=add": "{{0,1}}",
    "ROOT r = f32[2,3] all-reduce(x), replica_groups=[1,4]<=[4], to_apply=add": "[1,4]<=[4]",
    "ROOT r = f32[4,3] all-gather(x), replica_groups={}, dimensions={0}": "several replicas",
    "ROOT r = f32[2,3] collective-permute(x), source_target_pairs={{0,1},{1,0}}": "{{0,1},{1,0}}",
}


@pytest.mark.parametrize("line", REFUSED)
def test_several_devices_are_refused(line):
    _refused(parse("HloModule m\n" + entry(line), "p.hlo"), REFUSED[line])


def test_modules_of_several_replicas_are_refused_where_they_ask():
    text = "HloModule m, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }"
    _refused(parse(text, "p.hlo"), "replica_count=2")
    plain = "HloModule m, num_partitions=4\nENTRY e { ROOT r = f32[] constant(1) }"
    check(parse(plain), strict=True)


def _refused(module, part: str) -> None:
    arguments = [X] * len(module.entry.parameters)
    for act in (
        lambda: evaluate(module, *arguments),
        lambda: build(module, BuildOptions(plain_target())),
    ):
        with pytest.raises(UnsupportedError) as caught:
            act()
        assert part in caught.value.message and "one device" in caught.value.message
        assert caught.value.location is not None
