"""Contractions of few rows or columns, in loops: added up together, both matrices read where they
lie."""

from __future__ import annotations

import pytest

from ccodegen.backend.build import build
from ccodegen.backend.options import BuildOptions
from ccodegen.loop.ir import Alloc
from ccodegen.loop.rebuild import statements
from tests.lower.test_contract_tiles import functions
from tests.lower.test_weights import MODES, dense, with_weights
from tests.three_ways import check, module_of, plain_target


@MODES
@pytest.mark.parametrize("types", ["f32 f32 f32", "bf16 bf16 f32", "f64 f32 f64", "s32 s32 s32"])
@pytest.mark.parametrize("sizes", [(2, 37, 61), (3, 97, 131), (5, 129, 509), (8, 31, 67)])
def test_rows_are_added_up_together(
    sizes: tuple[int, int, int], types: str, strict: bool
) -> None:
    built = check(module_of(dense(*sizes, "kn", types)), strict=strict)
    assert not functions(built) and not built.program.arena_size


@MODES
@pytest.mark.parametrize(
    "types", ["bf16 bf16 f32", "f16 f16 f16", "s32 s32 s32", "c64 c64 c64", "f32 bf16 f32"]
)
@pytest.mark.parametrize(
    "sizes", [(40, 101, 2), (130, 91, 3), (33, 73, 5), (2, 37, 51), (3, 100, 34), (5, 53, 5)]
)
def test_few_lines_are_added_up_together(
    sizes: tuple[int, int, int], types: str, strict: bool
) -> None:
    check(module_of(dense(*sizes, "nk", types)), strict=strict)


@MODES
@pytest.mark.parametrize("kind", ["f32", "f64", "bf16", "s32", "c64"])
@pytest.mark.parametrize(
    ("size", "taps", "dilation", "in_blocks"),
    [
        (1037, 31, 1, True),
        (300, 28, 3, True),
        (40, 37, 1, True),
        (2, 31, 1, False),
        (99, 9, 1, False),
    ],
)
def test_filters_of_one_feature_are_added_up_for_blocks_of_places(
    size: int, taps: int, dilation: int, in_blocks: bool, kind: str, strict: bool
) -> None:
    length = size + (taps - 1) * dilation
    built = check(
        f"""ENTRY e {{
          x = {kind}[1,1,{length}] parameter(0)
          w = {kind}[1,1,{taps}] parameter(1)
          ROOT c = {kind}[1,1,{size}] convolution(x, w), dim_labels=bf0_oi0->bf0,
            window={{size={taps} rhs_dilate={dilation}}} }}""",
        strict=strict,
    )
    locals_ = (
        s.buffer for k in built.program.kernels for s in statements(k.body) if isinstance(s, Alloc)
    )
    assert any(bool(local.dimensions) for local in locals_) == in_blocks


@pytest.mark.parametrize("types", ["bf16 bf16 f32", "s32 s32 s32"])
@pytest.mark.parametrize("order", ["nk", "kn"])
def test_few_columns_are_not_worth_packing_for(order: str, types: str) -> None:
    built = check(module_of(dense(300, 100, 3, order, types)))
    assert not functions(built)


def test_lines_that_come_from_memory_are_added_up_one_after_the_other() -> None:
    def sums(depth: int) -> int:
        module = module_of(dense(1, depth, 3000, "nk", "bf16 bf16 f32"))
        (kernel,) = build(module, BuildOptions(plain_target())).program.kernels
        locals_ = [s.buffer.name for s in statements(kernel.body) if isinstance(s, Alloc)]
        return sum(name.startswith("sums") for name in locals_)

    assert (sums(350), sums(700)) == (4, 1)


@pytest.mark.parametrize("sizes", [(0, 9, 40), (3, 0, 40), (3, 9, 0)])
def test_nothing(sizes: tuple[int, int, int]) -> None:
    for order in "kn", "nk":
        check(module_of(dense(*sizes, order)))


@pytest.mark.parametrize(
    ("types", "most"), [("f32 f32 f32", 24), ("bf16 bf16 f32", 8), ("s32 s32 s32", 8)]
)
def test_many_rows_are_worth_packing_for(types: str, most: int) -> None:
    """More of what need not be converted, as each row reads all elements anew."""
    for rows in most, most + 1:
        built = check(module_of(dense(rows, 61, 67, "kn", types)))
        assert bool(functions(built)) is (rows > most)


@pytest.mark.parametrize("rows", [9, 11, 12, 14, 15, 17, 20, 23, 24])
def test_rows_some_at_a_time(rows: int) -> None:
    assert not functions(check(module_of(dense(rows, 19, 45, "kn"))))


def test_weights_are_packed_for_few_rows_too() -> None:
    built = check(with_weights(dense(3, 61, 67, "kn")))
    (function,) = functions(built)
    assert function.startswith("ccg_tile_f32_3x")


@MODES
def test_rows_in_two_dimensions_and_a_batch(strict: bool) -> None:
    check(
        module_of("""ENTRY e { x = f32[3,2,11,4,30] parameter(0)  y = f32[2,30,48] parameter(1)
  ROOT d = f32[2,3,11,4,48] dot(x, y), lhs_batch_dims={1}, rhs_batch_dims={0},
    lhs_contracting_dims={4}, rhs_contracting_dims={1} }"""),
        strict=strict,
    )


@MODES
def test_what_is_fused_before_and_after(strict: bool) -> None:
    check(
        module_of("""ENTRY e { x = f32[5,70] parameter(0)  y = f32[70,93] parameter(1)
  b = f32[93] parameter(2)
  n = f32[70,93] negate(y)  e = f32[5,70] multiply(x, x)
  d = f32[5,93] dot(e, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[5,93] broadcast(b), dimensions={1}
  ROOT r = f32[5,93] add(d, c) }"""),
        strict=strict,
    )
