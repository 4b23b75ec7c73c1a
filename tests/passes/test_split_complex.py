"""Products of complex matrices as real ones: the same sums, but for their rounding."""

from __future__ import annotations

import pytest

from ccodegen.backend.build import Build
from tests.three_ways import check, module_of


def product(types: str, m: int, n: int, k: int, batch: int = 1) -> str:
    left, right, result = types.split()
    return f"""ENTRY e {{ x = {left}[{batch},{m},{k}] parameter(0)
  y = {right}[{batch},{k},{n}] parameter(1)
  ROOT d = {result}[{batch},{m},{n}] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}"""


def has_complex_dot(built: Build) -> bool:
    instructions = (i for c in built.optimized.computations for i in c.instructions)
    return any(i.op == "dot" and i.array_shape.element_type.is_complex for i in instructions)


@pytest.mark.parametrize("types", ["c64 c64 c64", "c128 c128 c128"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("sizes", [(33, 17, 40), (2, 260, 37), (70, 3, 100)])
def test_large_products_are_split(sizes: tuple[int, int, int], batch: int, types: str) -> None:
    assert not has_complex_dot(check(module_of(product(types, *sizes, batch))))


@pytest.mark.parametrize("sizes", [(1, 600, 40), (9, 9, 40), (300, 300, 4)])
def test_small_products_are_not(sizes: tuple[int, int, int]) -> None:
    assert has_complex_dot(check(module_of(product("c64 c64 c64", *sizes))))


def test_strict_mode_keeps_the_order() -> None:
    built = check(module_of(product("c64 c64 c64", 33, 17, 40)), strict=True)
    assert has_complex_dot(built)
