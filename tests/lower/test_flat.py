"""Loops of kernels: as few as say the same, over flat arrays, and none that divides."""

from __future__ import annotations

import pytest

from ccodegen.loop.ir import Apply, For, Kernel, LoopKind
from ccodegen.loop.rebuild import expressions, statements
from tests.three_ways import check

X = "x = f32[4,12] parameter(0)"


def loops(kernel: Kernel) -> list[tuple[object, LoopKind]]:
    return [(s.extent, s.kind) for s in statements(kernel.body) if isinstance(s, For)]


def only_kernel(text: str) -> Kernel:
    (kernel,) = check(f"ENTRY e {{ {text} }}").program.kernels
    return kernel


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{X}  ROOT n = f32[4,12] negate(x)", [(48, LoopKind.VECTOR)]),
        (
            f"{X}  b = f32[12] parameter(1)  s = f32[4,12] broadcast(b), dimensions={{1}}\n"
            "ROOT a = f32[4,12] add(x, s)",
            [(4, LoopKind.PARALLEL), (12, LoopKind.VECTOR)],
        ),
        (
            "x = f32[2,3,4,5] parameter(0)\n"
            "ROOT t = f32[2,4,5,3] transpose(x), dimensions={0,2,3,1}",
            [(2, LoopKind.PARALLEL), (20, LoopKind.SERIAL), (3, LoopKind.VECTOR)],
        ),
    ],
)
def test_loops_that_count_together_are_one(text: str, expected: list[tuple[int, LoopKind]]) -> None:
    assert loops(only_kernel(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x = f32[6,10] parameter(0)  t = f32[10,6] transpose(x), dimensions={1,0}\n"
        "r = f32[2,5,3,2] reshape(t)  ROOT n = f32[2,5,3,2] negate(r)",
        "x = f32[24] parameter(0)  r = f32[2,3,4] reshape(x)\n"
        "ROOT t = f32[4,3,2] transpose(r), dimensions={2,1,0}",
        "x = f32[4,6] parameter(0)  t = f32[6,4] transpose(x), dimensions={1,0}\n"
        "r = f32[24] reshape(t)  ROOT n = f32[24] negate(r)",
    ],
)
def test_reshapes_that_split_dimensions_divide_nothing(text: str) -> None:
    found = expressions(only_kernel(text).body)
    operators = {e.operator for e in found if isinstance(e, Apply)}
    assert not operators & {"divide", "remainder"}


@pytest.mark.parametrize(
    ("width", "kind"), [(3, LoopKind.VECTOR), (16, LoopKind.LANES), (17, LoopKind.VECTOR)]
)
def test_short_rows_that_are_looked_up_are_lanes(width: int, kind: LoopKind) -> None:
    """Of several rows, a vector would have to look up each element."""
    kernel = only_kernel(f"""
      x = f32[20,{width}] parameter(0)
      i = s32[50] parameter(1)
      ROOT g = f32[50,{width}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}},
        start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{width}}}""")
    assert loops(kernel)[-1] == (width, kind)


@pytest.mark.parametrize(
    ("width", "beside", "kind"),
    [
        (3, 4, LoopKind.LANES),
        (16, 4, LoopKind.LANES),
        (17, 4, LoopKind.VECTOR),
        (8, 0, LoopKind.VECTOR),  # rows side by side: vectors of all columns
    ],
)
def test_columns_into_rows_with_others_beside_are_lanes(
    width: int, beside: int, kind: LoopKind
) -> None:
    kernel = only_kernel(f"""
      x = s8[{width},50] parameter(0)
      y = s8[50,{beside}] parameter(1)
      t = s8[50,{width}] transpose(x), dimensions={{1,0}}
      ROOT c = s8[50,{width + beside}] concatenate(t, y), dimensions={{1}}""")
    assert (width, kind) in loops(kernel)


def test_elements_of_one_line_are_no_column() -> None:
    """Of those a vector is made by shuffles."""
    kernel = only_kernel("""
      x = s8[50,40] parameter(0)
      y = s8[50,4] parameter(1)
      t = s8[50,8] slice(x), slice={[0:50], [0:16:2]}
      ROOT c = s8[50,12] concatenate(t, y), dimensions={1}""")
    assert (8, LoopKind.VECTOR) in loops(kernel)
