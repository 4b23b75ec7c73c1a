"""What is looked up in far arrays is read one by one: the same effect, and what stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccodegen.backend.build import Build
from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.rebuild import statements
from tests.three_ways import check, plain_target


@pytest.fixture(autouse=True)
def these_are_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccodegen.loop.far_lookups._LEAST_FAR", 4 * 3000)


def looked_up(
    rest: str = "ROOT r = $ copy(g)", *, kind: str = "f32", size: int = 3000, count: int = 1024
) -> str:
    """Elements of x[size] at the places i[count]."""
    text = f"""ENTRY e {{ x = {kind}[{size}] parameter(0)  i = s32[{count}] parameter(1)
      g = $ gather(x, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}},
        index_vector_dim=1, slice_sizes={{1}}  {rest} }}"""
    return text.replace("$", f"{kind}[{count}]")


def built(text: str, threads: int = 1, fetches_ahead: bool = False, strict: bool = False) -> Build:
    target = plain_target()
    machine = replace(target.machine, threads=threads, fetches_ahead=fetches_ahead)
    return check(text, target=replace(target, machine=machine), strict=strict)


def is_single(build: Build) -> bool:
    loops = [s for k in build.program.kernels for s in statements(k.body) if isinstance(s, For)]
    return any(loop.kind is LoopKind.SINGLE for loop in loops)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["f32", "s32", "f64", "u64"])
@pytest.mark.parametrize("rest", ["ROOT r = $ copy(g)", "ROOT r = $ add(g, g)"])
def test_elements(rest: str, kind: str, threads: int, strict: bool) -> None:
    assert is_single(built(looked_up(rest, kind=kind), threads, strict=strict))


@pytest.mark.parametrize(
    "text",
    [
        looked_up(size=2999),
        looked_up(count=1000),
        looked_up(count=512),
        looked_up(kind="bf16", size=6000),
        looked_up(kind="c64"),
        looked_up("ROOT r = $ tanh(g)"),
        "ENTRY e { x = f32[4096] parameter(0)  ROOT y = f32[4096] negate(x) }",
    ],
)
def test_what_stays(text: str) -> None:
    assert not is_single(built(text))


def test_processors_that_read_ahead_gather() -> None:
    assert not is_single(built(looked_up(), fetches_ahead=True))
