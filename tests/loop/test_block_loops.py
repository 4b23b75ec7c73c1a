"""Blocks read whole lines: the same effect, where lines would be read again and again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ccodegen.target import load
from ccodegen.target.model import Target
from tests.three_ways import check, plain_target, with_vectors


def blocks(text: str, target: str | Target = "x86-64", strict: bool = False) -> bool:
    """Whether the program is right, and has a loop in blocks."""
    built = check(text, target=load(target) if isinstance(target, str) else target, strict=strict)
    return any("turned" in str(kernel.body) for kernel in built.program.kernels)


def transposed(shape: str, sizes: Sequence[int], order: Sequence[int]) -> str:
    result = ",".join(str(sizes[d]) for d in order)
    return f"""ENTRY e {{
  x = {shape}[{",".join(map(str, sizes))}] parameter(0)
  ROOT t = {shape}[{result}] transpose(x), dimensions={{{",".join(map(str, order))}}}
}}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("shape", ["f32", "f64", "s8", "bf16", "c64", "pred"])
@pytest.mark.parametrize("sizes", [(160, 64), (163, 67), (131, 97), (193, 65)])
def test_a_transposed_matrix(shape: str, sizes: tuple[int, int], strict: bool) -> None:
    assert blocks(transposed(shape, sizes, (1, 0)), strict=strict)


@pytest.mark.parametrize("shape", ["f32", "f64", "s8", "bf16", "c64", "pred"])
def test_with_the_widest_vectors_of_this_machine(shape: str) -> None:
    assert blocks(transposed(shape, (163, 70), (1, 0)), "host")


def test_blocks_are_turned_by_shuffles_where_vectors_have_many_elements() -> None:
    for shape, shuffled in [("s8", True), ("bf16", True), ("f32", False), ("c64", False)]:
        built = check(transposed(shape, (160, 64), (1, 0)), target=plain_target())
        assert any("place" in str(kernel.body) for kernel in built.program.kernels) == shuffled


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (2, 0, 1)])
def test_more_dimensions(order: tuple[int, ...]) -> None:
    assert blocks(transposed("f32", (150, 3, 41) if order[-1] == 0 else (3, 150, 41), order))


@pytest.mark.parametrize("sizes", [(2000, 15), (3, 3000), (1, 200), (0, 300)])
def test_what_stays(sizes: tuple[int, int]) -> None:
    assert not blocks(transposed("f32", sizes, (1, 0)))


def test_lines_that_the_cache_keeps_are_turned_where_that_takes_shuffles() -> None:
    assert blocks(transposed("f32", (100, 16), (1, 0)))
    assert not blocks(transposed("f64", (100, 16), (1, 0)))


@pytest.mark.parametrize("sizes", [(32, 64, 197), (40, 67, 1000), (64, 512, 512), (33, 100, 197)])
@pytest.mark.parametrize(
    ("type", "vector"), [("f32", 64), ("f16", 64), ("s32", 64), ("f32", 32), ("s32", 32)]
)
def test_panels_of_columns_along_the_depth(
    sizes: tuple[int, int, int], type: str, vector: int
) -> None:
    """The last panel of most has fewer columns, which only its number tells."""
    m, k, n = sizes
    assert blocks(
        f"""ENTRY e {{ x = {type}[{m},{k}] parameter(0)  y = {type}[{n},{k}] parameter(1)
  ROOT d = {type}[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}""",
        with_vectors(load("host"), vector),
    )


def test_not_without_vectors() -> None:
    """Nor caches."""
    assert not blocks(transposed("f32", (160, 32), (1, 0)), "cortex-m4")


def test_columns_that_collide_in_the_cache() -> None:
    assert blocks(transposed("f32", (64, 1024), (1, 0)))


def test_elementwise_with_what_is_transposed() -> None:
    assert blocks("""ENTRY e {
  x = f32[140,70] parameter(0)
  y = f32[70,140] parameter(1)
  t = f32[70,140] transpose(x), dimensions={1,0}
  s = f32[70,140] multiply(t, y)
  u = f32[70,140] add(s, t)
  ROOT r = (f32[70,140], f32[70,140]) tuple(s, u)
}""")


@pytest.mark.parametrize("arms", ["t, z", "z, t"])
def test_an_arm_of_a_choice_that_may_be_read_in_any_case(arms: str) -> None:
    assert blocks(f"""ENTRY e {{
      x = f32[163,97] parameter(0)  p = pred[97,163] parameter(1)
      t = f32[97,163] transpose(x), dimensions={{1,0}}
      c = f32[] constant(0)  z = f32[97,163] broadcast(c), dimensions={{}}
      ROOT s = f32[97,163] select(p, {arms}) }}""")


def test_what_is_read_on_a_condition_stays_there() -> None:
    """A block would read it in any case, from beyond the array too."""
    blocks("""ENTRY e {
  x = f32[140,70] parameter(0)
  p = pred[90,140] parameter(1)
  zero = f32[] constant(0)
  t = f32[70,140] transpose(x), dimensions={1,0}
  w = f32[90,140] pad(t, zero), padding=10_10x0_0
  y = f32[90,140] broadcast(zero), dimensions={}
  ROOT r = f32[90,140] select(p, w, y)
}""")


def test_a_square_matrix_and_its_transpose() -> None:
    assert blocks("""ENTRY e {
  x = f32[200,200] parameter(0)
  t = f32[200,200] transpose(x), dimensions={1,0}
  ROOT r = f32[200,200] add(x, t)
}""")


def test_what_an_operator_of_integers_reads() -> None:
    """Only of conditions may it skip an operand."""
    assert blocks("""ENTRY e {
  x = s32[140,70] parameter(0)
  y = s32[70,140] parameter(1)
  t = s32[70,140] transpose(x), dimensions={1,0}
  ROOT r = s32[70,140] and(y, t)
}""")
