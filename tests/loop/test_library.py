"""What is known of library functions: where they read."""

from __future__ import annotations

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Buffer, CallC
from ccodegen.loop.library import blocks_used
from ccodegen.support.element_type import ElementType


def used_by_tile(row_step: int, depth_step: int) -> tuple[int, int]:
    """The first element of the left matrix that a tile of two rows reads at a depth of five, where
    its element (0, 0) has the number 100, and how many there are to the last one."""
    sums, lhs, rhs = (Buffer(name, ElementType.F32, (200,)) for name in ("sums", "lhs", "rhs"))
    scalars = tuple(map(index, (100, row_step, depth_step, 0, 5)))
    call = CallC("ccg_tile_f32_2x8", "", (sums, lhs, rhs), scalars)
    first, ((count, step),) = blocks_used(call)[lhs]
    assert step == 1
    return affine(first).constant, count


def test_tiles_read_matrices_in_any_direction() -> None:
    assert used_by_tile(20, 1) == (100, 25)
    assert used_by_tile(-20, -1) == (76, 25)
    assert used_by_tile(-1, 20) == (99, 82)
