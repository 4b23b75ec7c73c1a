"""Rows two at a time: the same effect, and which loops stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ccodegen.loop.builder import Builder, apply, const
from ccodegen.loop.interpret import run_kernel
from ccodegen.loop.ir import Buffer, Expr, Kernel, LoopKind, Space, Stmt
from ccodegen.loop.pair_turns import pair_turns
from ccodegen.loop.rebuild import statements
from ccodegen.loop.verify_kernel import verify_kernel
from ccodegen.support.element_type import ElementType

F32 = ElementType.F32
ROW = Buffer("row_of_all", F32, (4096,), Space.ARENA)


def shares(
    rows: int = 6,
    columns: int = 20,
    kind: LoopKind = LoopKind.PARALLEL,
    kept: Buffer | None = None,
) -> tuple[Builder, tuple[Buffer, ...]]:
    """For each row: y = exp(x - max(x)) / (sum of these); `kept`: where rows lie meanwhile, if not
    in y."""
    x, y = (Buffer(name, F32, (rows, columns), Space.ARGUMENT) for name in "xy")
    builder = Builder()

    def folded(operator: str, element: Callable[[Expr], Expr]) -> Expr:
        total = builder.variable(const(F32, -9.0 if operator == "maximum" else 0.0), "total")
        with builder.loop(columns, "j") as j:
            builder.store(total, (), apply(operator, builder.load(total), element(j)))
        return builder.let(builder.load(total), operator)

    with builder.loop(rows, "row", kind) as row:

        def place(j: Expr) -> tuple[Buffer, tuple[Expr, ...]]:
            return (kept, (j,)) if kept else (y, (row, j))

        most = folded("maximum", lambda j: builder.load(x, (row, j)))
        with builder.loop(columns, "j", LoopKind.VECTOR) as j:
            below = apply("subtract", builder.load(x, (row, j)), most)
            builder.store(*place(j), apply("exponential", below))
        total = folded("add", lambda j: builder.load(*place(j)))
        with builder.loop(columns, "j", LoopKind.VECTOR) as j:
            builder.store(y, (row, j), apply("divide", builder.load(*place(j)), total))
    return builder, (x, y, kept) if kept else (x, y)


def paired(builder: Builder) -> tuple[Stmt, ...]:
    return pair_turns(builder.statements, builder.fresh)


def test_the_same_shares() -> None:
    builder, buffers = shares()
    body = paired(builder)
    kernel = Kernel("k", buffers, body)
    verify_kernel(kernel)
    names = [s.var.name for s in statements(body) if hasattr(s, "extent") and s.extent in (2, 3)]
    assert names == ["row_pair", "turn", "turn_1", "turn_2"]
    x = np.random.default_rng(1).standard_normal((6, 20)).astype(np.float32)
    got, expected = np.zeros_like(x), np.zeros_like(x)
    run_kernel(kernel, (x, got))
    run_kernel(Kernel("k", buffers, builder.statements), (x, expected))
    assert got.tobytes() == expected.tobytes()
    np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(
    "loop",
    [
        shares(rows=5),
        shares(kind=LoopKind.SERIAL),
        shares(columns=4096),
        shares(columns=16),
        shares(kept=ROW),
    ],
    ids=["odd", "serial", "long", "short", "one memory"],
)
def test_what_stays(loop: tuple[Builder, tuple[Buffer, ...]]) -> None:
    assert paired(loop[0]) == loop[0].statements
