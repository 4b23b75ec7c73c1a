"""Short rows written out: the same effect, and the loop over rows becomes vectors."""

from __future__ import annotations

import pytest

from ccodegen.loop.ir import For, LoopKind
from ccodegen.loop.rebuild import statements
from ccodegen.target import load
from tests.three_ways import check


def extents(text: str, target: str = "x86-64", strict: bool = False) -> list[object]:
    """Of the loops that become vectors, or lanes; whether the program is right."""
    built = check(text, target=load(target), strict=strict)
    found = (s for kernel in built.program.kernels for s in statements(kernel.body))
    kinds = LoopKind.VECTOR, LoopKind.LANES
    return [s.extent for s in found if isinstance(s, For) and s.kind in kinds]


def scaled(rows: int, width: int) -> str:
    """Rows times what is computed once for each."""
    return f"""ENTRY e {{
  x = f32[{rows},{width}] parameter(0)
  n = f32[{rows}] parameter(1)
  s = f32[{rows}] add(n, n)
  b = f32[{rows},{width}] broadcast(s), dimensions={{0}}
  ROOT r = f32[{rows},{width}] multiply(x, b) }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_rows_of_few_elements(width: int, strict: bool) -> None:
    assert extents(scaled(50, width), strict=strict) == [50]


def test_longer_rows_stay_loops() -> None:
    assert extents(scaled(50, 5)) == [5]


def test_few_rows_stay_loops() -> None:
    assert extents(scaled(15, 3)) == [3]


def test_not_without_vectors() -> None:
    assert extents(scaled(50, 3), "cortex-m4") == [3]


def test_a_row_in_place_of_itself() -> None:
    text = """HloModule m, input_output_alias={ {}: (0, {}, must-alias) }
ENTRY e {
  x = f32[40,3] parameter(0)
  n = f32[40] parameter(1)
  s = f32[40] multiply(n, n)
  b = f32[40,3] broadcast(s), dimensions={0}
  ROOT r = f32[40,3] add(x, b) }"""
    assert extents(text) == [40]
