"""Products become one operation with sums: those that nothing else reads, and the same values."""

from __future__ import annotations

import pytest

from ccodegen.loop.builder import apply, const
from ccodegen.loop.fuse_products import fuse_products
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.support.element_type import ElementType
from tests.three_ways import check

F32 = ElementType.F32
X, Y = (Buffer(name, F32, (8,), Space.ARGUMENT) for name in "xy")
TURN, P, Q = Var("i"), Var("p", F32), Var("q", F32)
A, B, C = (Load(X, (const(INDEX, n),)) for n in range(3))
PRODUCT = apply("multiply", A, B)


def stored(value: Expr) -> Stmt:
    return Store(Y, (const(INDEX, 0),), value)


@pytest.mark.parametrize(
    ("value", "fused"),
    [
        (apply("add", PRODUCT, C), apply("fma", A, B, C)),
        (apply("add", C, PRODUCT), apply("fma", A, B, C)),
        (apply("subtract", PRODUCT, C), apply("fma", A, B, apply("negate", C))),
        (apply("subtract", C, PRODUCT), apply("fma", apply("negate", A), B, C)),
        (apply("add", PRODUCT, PRODUCT), apply("fma", A, B, PRODUCT)),
        (apply("add", apply("add", PRODUCT, A), B), apply("add", apply("fma", A, B, A), B)),
        (apply("add", A, B), apply("add", A, B)),
    ],
)
def test_products_in_sums(value: Expr, fused: Expr) -> None:
    assert fuse_products((stored(value),)) == (stored(fused),)


@pytest.mark.parametrize("kind", ["s32", "bf16", "c64"])
def test_other_types_stay(kind: str) -> None:
    built = check(
        f"ENTRY e {{ x = {kind}[9] parameter(0)  y = {kind}[9] parameter(1)\n"
        f"  p = {kind}[9] multiply(x, y)  ROOT r = {kind}[9] add(p, y) }}"
    )
    assert "'fma'" not in str(built.program.kernels)


def test_named_products_that_are_added() -> None:
    both = (stored(apply("add", P, C)), stored(apply("subtract", P, A)))
    minus = apply("fma", A, B, apply("negate", A))
    assert fuse_products((Let(P, PRODUCT), *both)) == (
        stored(apply("fma", A, B, C)),
        stored(minus),
    )


@pytest.mark.parametrize(
    "readers",
    [
        (stored(P),),  # as it is
        (stored(apply("add", P, C)), stored(apply("multiply", P, A))),  # also otherwise
        (stored(apply("add", P, P)),),  # one of both would be rounded
        (For(TURN, 4, (stored(apply("add", P, C)),), LoopKind.SERIAL),),  # not next to it
        (Store(X, (const(INDEX, 0),), C), stored(apply("add", P, C))),  # what it reads has changed
    ],
)
def test_names_that_stay(readers: tuple[Stmt, ...]) -> None:
    body = (Let(P, PRODUCT), *readers)
    assert fuse_products(body) == body


def test_of_two_named_products_one_is_fused() -> None:
    other = apply("multiply", B, C)
    body = (Let(P, PRODUCT), Let(Q, other), stored(apply("add", P, Q)))
    assert fuse_products(body) == (Let(Q, other), stored(apply("fma", A, B, Q)))


def test_a_product_that_is_read_otherwise_leaves_the_sum_to_the_other() -> None:
    other = apply("multiply", B, C)
    rest = stored(P)
    body = (Let(P, PRODUCT), Let(Q, other), stored(apply("add", P, Q)), rest)
    assert fuse_products(body) == (Let(P, PRODUCT), stored(apply("fma", B, C, P)), rest)


def test_local_variables_are_read_where_they_were() -> None:
    total = Buffer("total", F32, ())
    product = apply("multiply", Load(total, ()), A)
    body = (
        Alloc(total),
        Store(total, (), A),
        Let(P, product),
        Store(total, (), apply("add", P, C)),
    )
    assert fuse_products(body) == body


@pytest.mark.parametrize("strict", [False, True])
def test_whole_programs(strict: bool) -> None:
    built = check(
        "ENTRY e { x = f32[50] parameter(0)  y = f32[50] parameter(1)\n"
        "  p = f32[50] multiply(x, y)  q = f32[50] multiply(p, p)  s = f32[50] subtract(p, q)\n"
        "  ROOT r = f32[50] add(s, q) }",
        strict=strict,
    )
    applied = [k for k in built.program.kernels if "'fma'" in str(k)]
    assert bool(applied) is not strict
