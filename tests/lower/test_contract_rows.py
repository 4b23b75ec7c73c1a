"""Contractions of few rows or columns along the depth: nothing is packed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.ops.register_tile import contraction_key
from ccodegen.target.model import Tile
from tests.lower.test_contract_runs import convolution
from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import constants, dense, with_weights
from tests.three_ways import check, module_of, plain_target


@pytest.mark.parametrize("types", ["f32 f32 f32", "f64 f64 f64", "s8 s8 s32", "s16 s16 s32"])
@pytest.mark.parametrize(
    "sizes",
    [(1, 67, 13), (2, 64, 6), (3, 50, 17), (7, 131, 9), (23, 251, 97), (23, 51, 1), (9, 47, 5)],
)
def test_sizes(sizes: tuple[int, int, int], types: str) -> None:
    (function,) = functions(check(module_of(dense(*sizes, "nk", types))))
    assert function.startswith("ccg_rows_")


def test_lines_that_are_reshaped() -> None:
    """As after rotary embeddings, which put pairs side by side."""
    (function,) = functions(
        check(
            module_of("""ENTRY e { x = f32[6,1,32,2] parameter(0)  y = f32[2,70,64] parameter(1)
  q = f32[2,3,64] reshape(x)
  ROOT d = f32[2,3,70] dot(q, y), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={2} }""")
        )
    )
    assert function.startswith("ccg_rows_")


@pytest.mark.parametrize(("types", "used"), [("f32 f32 f32", False), ("u8 s8 s32", True)])
def test_strict_mode_keeps_the_order_of_floats(types: str, used: bool) -> None:
    built = check(module_of(dense(2, 70, 9, "nk", types)), strict=True)
    assert bool(functions(built)) is used


@pytest.mark.parametrize(
    ("sizes", "order"),
    [((1, 100, 1), "nk"), ((2, 5, 60), "nk"), ((25, 40, 9), "nk"), ((9, 30, 9), "nk")],
)
def test_where_another_form_is_better(sizes: tuple[int, int, int], order: str) -> None:
    used = functions(check(module_of(dense(*sizes, order))))
    assert not any(function.startswith("ccg_rows_") for function in used)


@pytest.mark.parametrize("sizes", [(1, 700, 3000), (3000, 700, 1)])
def test_lines_that_come_from_memory_come_one_after_the_other(sizes: tuple[int, int, int]) -> None:
    def called(depth: int) -> list[str]:
        module = module_of(dense(sizes[0], depth, sizes[2], "nk"))
        return functions(build(module, BuildOptions(plain_target())))

    assert called(sizes[1] // 2) and not called(sizes[1])


def test_short_lines_that_a_cache_has_ready_are_added_up_in_loops() -> None:
    def called(rows: int) -> list[str]:
        return functions(build(module_of(dense(rows, 19, 1, "nk")), BuildOptions(plain_target())))

    assert called(3500) and not called(3400)


def test_batch_and_two_depths_and_what_is_fused() -> None:
    check(
        module_of("""ENTRY e { x = f32[3,5,9,7] parameter(0)  y = f32[3,16,9,7] parameter(1)
  b = f32[16] parameter(2)
  d = f32[3,5,16] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2,3}, rhs_contracting_dims={2,3}
  c = f32[3,5,16] broadcast(b), dimensions={2}
  ROOT r = f32[3,5,16] multiply(d, c) }""")
    )


@pytest.mark.parametrize("types", ["f32 f32 f32", "f64 f64 f64", "s8 s8 s32", "bf16 bf16 f32"])
@pytest.mark.parametrize("sizes", [(40, 130, 3), (33, 257, 3), (3, 200, 3), (40, 400, 7)])
def test_weights_of_few_columns_lie_in_lines(sizes: tuple[int, int, int], types: str) -> None:
    built = check(with_weights(dense(*sizes, "kn", types)))
    assert constants(built) == [sizes[:0:-1]]
    used = functions(built)
    assert types.startswith("bf16") or all(name.startswith("ccg_rows_") for name in used)


@pytest.mark.parametrize("types", ["f32 f32 f32", "f64 f64 f64", "s16 s16 s32"])
@pytest.mark.parametrize("batch", [1, 3])
def test_few_columns_that_lie_across_are_packed(batch: int, types: str) -> None:
    left, right, result = types.split()
    built = check(
        module_of(f"""ENTRY e {{ x = {left}[{batch},19,140] parameter(0)
  w = {right}[{batch},140,3] parameter(1)
  ROOT d = {result}[{batch},19,3] dot(x, w), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}""")
    )
    assert all(name.startswith("ccg_rows_") for name in functions(built)) and functions(built)


@pytest.mark.parametrize(
    ("size", "window", "kernel", "shape"),
    [
        ("9,11,40", "size=3x3", "3,3,40,3", "7,9,3"),
        ("9,27,33", "size=5x5 stride=2x2", "5,5,33,2", "3,12,2"),
        ("9,21,70", "size=1x1 stride=2x2", "1,1,70,5", "5,11,5"),
        ("9,11,64", "size=3x3 rhs_dilate=2x1 pad=1_1x1_1", "3,3,64,6", "7,11,6"),
        ("29,48", "size=4", "4,48,3", "26,3"),
        ("9,11,40", "size=3x3", "3,3,40,1", "7,9,1"),
    ],
)
def test_few_features_of_images(size: str, window: str, kernel: str, shape: str) -> None:
    built = check(with_weights(convolution(size, window, kernel, shape)))
    assert all(name.startswith("ccg_rows_") for name in functions(built)) and functions(built)


@pytest.mark.parametrize("vectors", [1, 2, 3, 4])
@pytest.mark.parametrize("columns", [3, 5, 7])
def test_a_tuned_tile_changes_no_order_of_sums(columns: int, vectors: int) -> None:
    module = with_weights(dense(40, 130, columns, "kn"))
    target, key = plain_target(), contraction_key(module.entry.root)
    tuned = replace(target, tiles=((key, Tile(2, vectors)),))
    families = [
        {name.split("_")[1] for name in functions(build(module, BuildOptions(t)))}
        for t in (target, tuned)
    ]
    assert families[0] == families[1]
