"""Rows of far arrays two at a time: the same effect, and which loops stay as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ccodegen
from ccodegen.backend.build import Build
from ccodegen.backend.options import with_threads
from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.rebuild import statements
from ccodegen.target import Target
from tests.three_ways import check, plain_target


def ahead(threads: int = 1) -> Target:
    target = plain_target()
    machine = replace(target.machine, fetches_ahead=True, threads=threads)
    return replace(target, machine=machine)


def folded(shape: str, operator: str = "add", kind: str = "f32", rest: str = "") -> str:
    """Of each row of x."""
    rows = shape.rpartition(",")[0]
    return f"""{operator} {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)
      ROOT c = {kind}[] {operator}(a, b) }}
    ENTRY e {{ x = {kind}[{shape}] parameter(0)  zero = {kind}[] constant(0)
      r = {kind}[{rows}] reduce(x, zero), dimensions={{{shape.count(",")}}}, to_apply={operator}
      {rest or f"ROOT s = {kind}[{rows}] negate(r)"} }}"""


def is_by_twos(built: Build) -> bool:
    loops = [s for k in built.program.kernels for s in statements(k.body) if isinstance(s, For)]
    return any(loop.kind is LoopKind.APART for loop in loops)


@pytest.fixture
def all_are_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccodegen.loop.far_rows.FAR", 0)


@pytest.mark.usefixtures("all_are_far")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("shape", "operator", "kind"),
    [
        ("6,256", "add", "f32"),
        ("2,64", "add", "f32"),
        ("8,512", "maximum", "s32"),
        ("4,256", "add", "f64"),
        ("10,256", "minimum", "s32"),
        ("4,1024", "add", "u8"),
        ("4,256", "add", "bf16"),
    ],
)
def test_rows_by_twos(
    shape: str, operator: str, kind: str, threads: int, strict: bool
) -> None:
    built = check(folded(shape, operator, kind), strict=strict, target=ahead(threads))
    assert is_by_twos(built) or strict


@pytest.mark.usefixtures("all_are_far")
@pytest.mark.parametrize(
    "text",
    [
        folded("7,256"),  # one would be alone
        folded("6,250"),  # lanes that a vector leaves over
        folded("2,3,256", rest="ROOT t = f32[2,3,256] broadcast(r), dimensions={0,1}"),
        folded("6,256").replace("reduce(x,", "reduce(y,").replace(
            "zero = f32[]", "y = f32[6,256] slice(z), slice={[0:6], [0:256]}  zero = f32[]"
        ).replace("x = f32[6,256]", "z = f32[6,300]"),
    ],
)
def test_rows_that_stay_one_after_the_other(text: str) -> None:
    assert not is_by_twos(check(text, target=ahead()))


def test_near_rows_stay_and_so_do_those_of_other_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not is_by_twos(check(folded("6,256"), target=ahead()))
    monkeypatch.setattr("ccodegen.loop.far_rows.FAR", 0)
    assert not is_by_twos(check(folded("6,256")))


@pytest.mark.parametrize("rows", [1024, 1023])
def test_far_rows_have_the_same_bits(rows: int) -> None:
    x = np.random.default_rng(1).standard_normal((rows, 2112)).astype(np.float32)
    text = f"HloModule m\n{folded(f'{rows},2112')}"
    results = []
    for is_ahead in (True, False):
        for threads in (1, 2):
            target = with_threads(ccodegen.target.load("host"), threads)
            machine = replace(target.machine, fetches_ahead=is_ahead)
            results.append(ccodegen.compile(text, target=replace(target, machine=machine))(x))
    assert all(np.array_equal(results[0], other) for other in results[1:])
