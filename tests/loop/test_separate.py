"""Long kernels are cut between their outermost loops, where no name is read behind the cut."""

from __future__ import annotations

import pytest

from ccodegen.loop.builder import Builder, apply, index
from ccodegen.loop.ir import Buffer, Const, For, Space, Stmt
from ccodegen.loop.separate import separate
from ccodegen.support.element_type import ElementType

F32 = ElementType.F32
X, Y = (Buffer(name, F32, (1000,), Space.ARGUMENT) for name in "xy")


def add_loop(b: Builder, stores: int) -> None:
    with b.loop(10, "i") as i:
        for n in range(stores):
            b.store(Y, (apply("add", i, index(n)),), b.load(X, (i,)))


def lengths(body: tuple[Stmt, ...]) -> list[int]:
    """How many outermost statements the pieces have, which are all in order."""
    pieces = list(separate(body))
    assert tuple(statement for piece in pieces for statement in piece) == body
    return [len(piece) for piece in pieces]


@pytest.mark.parametrize(
    ("stores", "found"),
    [
        ([150, 150], [1, 1]),
        ([150, 50], [2]),
        ([60, 60, 60, 60], [2, 2]),
        ([500], [1]),
        ([150, 150, 10], [1, 2]),
        ([], [0]),
    ],
)
def test_both_sides_of_a_cut_are_long(stores: list[int], found: list[int]) -> None:
    b = Builder()
    for count in stores:
        add_loop(b, count)
    assert lengths(b.statements) == found


@pytest.mark.parametrize("reads", [True, False])
def test_statements_that_read_a_name_stay_with_it(reads: bool) -> None:
    b = Builder()
    name = b.let(b.load(X, (index(0),)), "t")
    add_loop(b, 150)
    add_loop(b, 150)
    if reads:
        b.store(Y, (index(0),), name)
    assert lengths(b.statements) == ([4] if reads else [2, 1])


def test_statements_that_use_an_array_stay_with_its_declaration() -> None:
    b = Builder()
    local = b.local(F32, (4,), "local")
    add_loop(b, 150)
    b.store(local, (index(0),), Const(F32, 1.0))
    add_loop(b, 150)
    assert [type(s) for s in b.statements].count(For) == 2
    assert lengths(b.statements) == [4]
