"""Nests of few turns become one loop: which ones, and with equal effect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ccodegen.loop.builder import Builder, apply, index
from ccodegen.loop.interpret import run_kernel
from ccodegen.loop.ir import Buffer, For, Kernel, LoopKind, Space
from ccodegen.loop.join_loops import join_loops
from ccodegen.support.element_type import ElementType

S32 = ElementType.S32
EXTENTS = (3, 7, 5)


def nest(extents: Sequence[int] = EXTENTS, kind: LoopKind = LoopKind.SERIAL) -> Kernel:
    """Numbers what it stores in reverse order of the loops; the innermost loop is of this kind."""
    b = Builder()
    y = Buffer("y", S32, tuple(reversed(extents)), Space.ARENA)
    *outer, last = extents
    with b.loops(outer, "i") as at, b.loop(last, "j", kind) as j:
        number = index(0)
        for var, extent in zip((*at, j), extents, strict=True):
            number = apply("add", apply("multiply", number, index(extent)), var)
        b.store(y, (j, *reversed(at)), apply("convert", number, type=S32))
    return Kernel("nest", (y,), b.statements)


def joined(kernel: Kernel, turns: int) -> For:
    (loop,) = kernel.body
    assert isinstance(loop, For)
    return join_loops(loop, turns)


@pytest.mark.parametrize(("turns", "found"), [(3, 3), (4, 21), (21, 21), (22, 105), (1000, 105)])
def test_loops_are_joined_until_there_are_so_many_turns(turns: int, found: int) -> None:
    kernel = nest()
    loop = joined(kernel, turns)
    assert loop.extent == found
    arrays = []
    for body in (kernel.body, (loop,)):
        y = np.zeros(kernel.buffers[0].dimensions, np.int32)
        run_kernel(Kernel("k", kernel.buffers, body), [y])
        arrays.append(y)
    np.testing.assert_array_equal(*arrays)
    assert sorted(arrays[1].ravel()) == list(range(105))


def test_loops_over_vectors_stay() -> None:
    assert joined(nest((3, 7), LoopKind.VECTOR), 32).extent == 3
    assert joined(nest((3, 2, 7), LoopKind.VECTOR), 32).extent == 6


def test_loops_with_more_beside_them_or_of_dependent_turns_stay() -> None:
    b = Builder()
    y = Buffer("y", S32, (3, 7), Space.ARENA)
    with b.loop(3, "i") as i, b.loop(7, "j") as j:
        before = apply("maximum", index(0), apply("subtract", j, index(1)))
        b.store(y, (i, j), b.load(y, (i, before)))
    assert joined(Kernel("k", (y,), b.statements), 32).extent == 3
    b = Builder()
    with b.loop(3, "i") as i:
        for _ in range(2):
            with b.loop(7, "j") as j:
                b.store(y, (i, j), b.load(y, (i, j)))
    assert joined(Kernel("k", (y,), b.statements), 32).extent == 3
