"""What a register tile is given that is in a unit of its own."""

from __future__ import annotations

from ccodegen.emit.tile_unit import included, tile_functions
from ccodegen.loop.builder import Builder, index
from ccodegen.loop.ir import Buffer, CallC, Expr, Kernel
from ccodegen.support.element_type import ElementType

X, Y, SUMS = (Buffer(name, ElementType.F32, (800,)) for name in ("x", "y", "sums"))


def kernel(function: str, row_step: int) -> Kernel:
    b = Builder()
    with b.loops((3,), "i") as (i,):
        scalars: tuple[Expr, ...] = (i, *map(index, (row_step, 1, 0, 40)))
        b.emit(CallC(function, f"{function}.h", (SUMS, X, Y), scalars))
    return Kernel("k", (SUMS, X, Y), tuple(b.statements))


def calls(*kernels: Kernel) -> list[str]:
    bodies = [tile.body for tile in tile_functions(kernels)]
    return [line.strip() for body in bodies for line in body if "(a0" in line]


def test_what_all_calls_give_is_part_of_it() -> None:
    one = [kernel("ccg_tile_f32_2x16", 50)]
    assert calls(*one) == ["tile_of_ccg_tile_f32_2x16(a0, a1, a2, a3, 50, 1, 0, 40);"]
    two = [*one, kernel("ccg_tile_f32_2x16", 60)]
    assert calls(*two) == ["tile_of_ccg_tile_f32_2x16(a0, a1, a2, a3, a4, 1, 0, 40);"]


def test_each_is_declared_once() -> None:
    kernels = [kernel(name, 50) for name in ("ccg_tile_f32_2x16", "ccg_tile_f32_4x16") * 2]
    tiles = tile_functions(kernels)
    names = ["ccg_tile_f32_2x16", "ccg_tile_f32_4x16"]
    assert [tile.headers for tile in tiles] == [{f"{name}.h"} for name in names]
    assert [tile.prototype for tile in tiles] == [
        f"void {name}(float *a0, const float *a1, const float *a2, ptrdiff_t a3, "
        "ptrdiff_t a4, ptrdiff_t a5, ptrdiff_t a6, ptrdiff_t a7)"
        for name in names
    ]
    assert included(tiles[0]).splitlines() == [
        "#define ccg_tile_f32_2x16 tile_of_ccg_tile_f32_2x16",
        '#include "ccg_tile_f32_2x16.h"',
        "#undef ccg_tile_f32_2x16",
    ]


def test_other_functions_stay_with_their_kernels() -> None:
    assert not tile_functions([kernel("ccg_least_bf16", 50)])
