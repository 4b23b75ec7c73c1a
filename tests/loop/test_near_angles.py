"""Loops that take angles for near ones: right also where one is far, and done again only then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ccodegen
from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.rebuild import statements
from tests.three_ways import Array, check, module_of, plain_target

TARGET = replace(plain_target(), machine=replace(plain_target().machine, vector_bytes=32))


def tries(text: str, *arguments: Array, donate: tuple[int, ...] = ()) -> bool:
    """Whether the program is right, and takes angles for near ones."""
    built = check(text, *arguments, target=TARGET, donate=donate)
    assert "near-" not in str(build_strictly(text))
    return "near-" in str(built.program.kernels)


def build_strictly(text: str) -> object:
    return check(text, target=TARGET, strict=True).program.kernels


def angles(count: int, kind: str = "f32", far: tuple[int, ...] = ()) -> Array:
    x = np.random.default_rng(1).uniform(-50, 50, count).astype({"f32": "f4", "f64": "f8"}[kind])
    x[list(far)] = [3e9, -np.inf, np.nan][: len(far)]
    return x


@pytest.mark.parametrize("far", [(), (3,), (0, 40, 60)])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("op", ["sine", "cosine", "tan"])
def test_maps(op: str, kind: str, far: tuple[int, ...]) -> None:
    text = f"ENTRY e {{ x = {kind}[61] parameter(0)  ROOT y = {kind}[61] {op}(x) }}"
    assert tries(text, angles(61, kind, far))


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (1024, {1024}),
        (1025, {1024, 1}),
        (2048, {1024}),
        (3000, {1000}),
        (3520, {880}),
        (3001, {1024, 953}),
        (4 * 751, {1024, 956}),
    ],
)
def test_blocks(count: int, sizes: set[int]) -> None:
    """Equal ones where that can be, of whole vectors."""
    text = f"ENTRY e {{ x = f32[{count}] parameter(0)  ROOT y = f32[{count}] sine(x) }}"
    x = angles(count, far=(5, count - 1))
    assert tries(text, x)
    (kernel,) = check(text, x, target=TARGET).program.kernels
    loops = [s for s in statements(kernel.body) if isinstance(s, For)]
    assert {s.extent for s in loops if s.kind is LoopKind.VECTOR} == sizes


@pytest.mark.parametrize("far", [(), (3, 17)])
def test_what_is_read_and_written_is_held(far: tuple[int, ...]) -> None:
    text = (
        "ENTRY e { x = f32[70] parameter(0)  s = f32[70] sine(x)  c = f32[70] cosine(s)\n"
        "  p = f32[70] multiply(s, c)  ROOT y = f32[70] add(x, p) }"
    )
    assert tries(text, angles(70, far=far), donate=(0,))


@pytest.mark.parametrize("far", [(), (3, 117)])
def test_sums(far: tuple[int, ...]) -> None:
    text = (
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = add(a, b) }\n"
        "ENTRY e { x = f32[3,50] parameter(0)  z = f32[] constant(0)  s = f32[3,50] sine(x)\n"
        "  ROOT y = f32[3] reduce(s, z), dimensions={1}, to_apply=add }"
    )
    assert tries(text, angles(150, far=far).reshape(3, 50))


def test_both_types() -> None:
    text = (
        "ENTRY e { x = f32[40] parameter(0)  w = f64[40] parameter(1)  s = f32[40] sine(x)\n"
        "  c = f64[40] cosine(w)  d = f64[40] convert(s)  ROOT y = f64[40] add(c, d) }"
    )
    assert tries(text, angles(40), angles(40, "f64", (7,)))


@pytest.mark.parametrize(
    "text",
    [
        "ENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] sine(x) }",
        "ENTRY e { x = f32[] parameter(0)  ROOT y = f32[] sine(x) }",
        "ENTRY e { x = f32[0] parameter(0)  ROOT y = f32[0] sine(x) }",
        "ENTRY e { x = bf16[50] parameter(0)  ROOT y = bf16[50] sine(x) }",
        "ENTRY e { x = c64[50] parameter(0)  ROOT y = c64[50] sine(x) }",
    ],
)
def test_others_stay(text: str) -> None:
    assert not tries(text)


def test_bits_do_not_depend_on_other_angles() -> None:
    module = module_of("ENTRY e { x = f32[9000] parameter(0)  ROOT y = f32[9000] sine(x) }")
    x = np.linspace(-2e5, 2e5, 9000, dtype=np.float32)
    near = np.where(np.abs(x) < 1e5, x, 0)
    one, two = (ccodegen.compile(module, threads=n) for n in (1, 2))
    whole, part = one(x), one(near)
    assert whole.tobytes() == two(x).tobytes()
    assert whole[near == x].tobytes() == part[near == x].tobytes()


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_angles_that_are_near_in_any_case_are_not_tried(kind: str) -> None:
    text = (
        f"ENTRY e {{ x = {kind}[61] parameter(0)  w = {kind}[61] floor(x)\n"
        f"  r = {kind}[61] subtract(x, w)  c = {kind}[] constant(6.25)\n"
        f"  b = {kind}[61] broadcast(c), dimensions={{}}  a = {kind}[61] multiply(r, b)\n"
        f"  ROOT y = {kind}[61] sine(a) }}"
    )
    built = check(text, angles(61, kind, far=(0, 17, 60)), target=TARGET)
    kernels = str(built.program.kernels)
    assert "near-" in kernels
    assert "largest" not in kernels
