"""Slow loops over far arrays in runs: the same effect, and which loops stay as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ccodegen.loop.builder import Builder, apply, index
from ccodegen.loop.interpret import run_kernel
from ccodegen.loop.ir import Buffer, Expr, For, Kernel, LoopKind, Space, Stmt
from ccodegen.loop.rebuild import statements
from ccodegen.loop.slow_loops import divide_slow_loops
from ccodegen.loop.verify_kernel import verify_kernel
from ccodegen.support.element_type import ElementType
from tests.three_ways import check, plain_target

F32 = ElementType.F32
SIZE = 1024


@pytest.fixture(autouse=True)
def these_are_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccodegen.loop.slow_loops.LEAST_FAR", SIZE * F32.bytes)


def mapped(
    operators: tuple[str, ...] = ("exponential",),
    *,
    extent: int = SIZE,
    kind: LoopKind = LoopKind.VECTOR,
    element_type: ElementType = F32,
    size: int = SIZE,
    step: int = 1,
) -> tuple[Builder, tuple[Buffer, Buffer]]:
    """y[i] = operators(x[i * step]) for i < extent"""
    x, y = (Buffer(name, element_type, (size,), Space.ARGUMENT) for name in "xy")
    builder = Builder()
    with builder.loop(extent, "i", kind) as i:
        value: Expr = builder.load(x, (apply("multiply", i, index(step)),))
        for operator in operators:
            value = apply(operator, value)
        builder.store(y, (i,), value)
    return builder, (x, y)


def divided(builder: Builder) -> tuple[Stmt, ...]:
    return divide_slow_loops(builder.statements, builder.fresh)


def test_the_same_numbers_in_runs() -> None:
    builder, buffers = mapped()
    body = divided(builder)
    kernel = Kernel("k", buffers, body)
    verify_kernel(kernel)
    assert [loop.extent for loop in statements(body) if isinstance(loop, For)] == [SIZE // 64, 64]
    x = np.linspace(-4, 4, SIZE, dtype=np.float32)
    got, expected = np.zeros_like(x), np.zeros_like(x)
    run_kernel(kernel, (x, got))
    run_kernel(Kernel("k", buffers, builder.statements), (x, expected))
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "builder",
    [
        mapped(("negate",))[0],
        mapped(extent=SIZE - 1)[0],
        mapped(extent=128)[0],
        mapped(kind=LoopKind.SERIAL)[0],
        mapped(element_type=ElementType.BF16, size=2 * SIZE)[0],
        mapped(size=SIZE // 2, extent=SIZE // 2)[0],
        mapped(step=2, extent=SIZE // 2)[0],
    ],
)
def test_what_stays(builder: Builder) -> None:
    assert divided(builder) == tuple(builder.statements)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_ahead", [False, True])
def test_where_the_processor_does_not_fetch_ahead_itself(threads: int, is_ahead: bool) -> None:
    target = plain_target()
    machine = replace(target.machine, threads=threads, fetches_ahead=is_ahead)
    text = "ENTRY e { x = f32[2,512] parameter(0)  ROOT y = f32[2,512] tanh(x) }"
    built = check(text, target=replace(target, machine=machine))
    loops = [s for k in built.program.kernels for s in statements(k.body) if isinstance(s, For)]
    assert any(loop.kind is LoopKind.LANES for loop in loops) != is_ahead
