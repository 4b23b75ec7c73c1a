"""Masks of small blocks, and of short rows, are read as words first: the same effect, where vectors
gain by it."""

from __future__ import annotations

import pytest

from ccodegen.target import load
from tests.three_ways import check, with_vectors


def words(text: str, strict: bool = False) -> bool:
    """Whether the program is right, and reads masks as words before it needs them."""
    built = check(text, target=with_vectors(load("x86-64"), 64), strict=strict)
    return any("wide" in str(kernel.body) for kernel in built.program.kernels)


def chosen(made: str, mask: str = "pred[40,150]", spread: str = "") -> str:
    """A transposed array of 40 x 150 with what is made of another in the order of the result."""
    return f"""ENTRY e {{
      x = f32[150,40] parameter(0)
      m = {mask} parameter(1)
      t = f32[40,150] transpose(x), dimensions={{1,0}}
      {spread}
      z = f32[] constant(0)
      zs = f32[40,150] broadcast(z), dimensions={{}}
      {made} }}"""


@pytest.mark.parametrize("strict", [False, True])
def test_masks(strict: bool) -> None:
    assert words(chosen("ROOT r = f32[40,150] select(m, t, zs)"), strict)


def test_masks_of_columns() -> None:
    spread = "n = pred[40,150] broadcast(m), dimensions={1}"
    assert words(chosen("ROOT r = f32[40,150] select(n, t, zs)", "pred[150]", spread))


def test_transposed_masks() -> None:
    spread = "n = pred[40,150] transpose(m), dimensions={1,0}"
    assert words(chosen("ROOT r = f32[40,150] select(n, t, zs)", "pred[150,40]", spread))


def test_blocks_of_bytes_stay() -> None:
    text = """ENTRY e { x = s8[150,70] parameter(0)  m = pred[70,150] parameter(1)
      t = s8[70,150] transpose(x), dimensions={1,0}
      z = s8[] constant(0)  zs = s8[70,150] broadcast(z), dimensions={}
      ROOT r = s8[70,150] select(m, t, zs) }"""
    assert not words(text)


def rows(count: int, columns: int, element: str = "f32") -> str:
    """Rows of numbers, chosen by column."""
    shape = f"[{count},{columns}]"
    return f"""ENTRY e {{ x = {element}{shape} parameter(0)  m = pred[{columns}] parameter(1)
      b = pred{shape} broadcast(m), dimensions={{1}}  n = {element}{shape} negate(x)
      ROOT r = {element}{shape} select(b, x, n) }}"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("count", [8, 63, 64, 65, 300])
def test_masks_of_short_rows(count: int, strict: bool) -> None:
    assert words(rows(count, 17), strict)


@pytest.mark.parametrize(
    ("text", "gains"),
    [
        (rows(300, 5), True),
        (rows(300, 63), True),
        (rows(300, 64), False),
        (rows(7, 17), False),
        (rows(300, 17, "f64"), True),
        (rows(300, 17, "s8"), False),
    ],
    ids=["five", "few", "enough for bytes", "seven rows", "f64", "bytes"],
)
def test_rows_that_gain(text: str, gains: bool) -> None:
    assert words(text) is gains


def test_masks_that_differ_from_row_to_row_stay() -> None:
    text = """ENTRY e { x = f32[300,17] parameter(0)  m = pred[317] parameter(1)
      i = s32[300,17] iota(), iota_dimension=0  j = s32[300,17] iota(), iota_dimension=1
      k = s32[300,17] add(i, j)
      g = pred[300,17] gather(m, k), offset_dims={}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=2, slice_sizes={1}
      n = f32[300,17] negate(x)  ROOT r = f32[300,17] select(g, x, n) }"""
    assert not words(text)


@pytest.mark.parametrize(
    ("columns", "op", "gains"),
    [(17, "tanh", True), (31, "tanh", True), (32, "tanh", False), (17, "negate", False)],
)
def test_own_masks_of_short_rows_of_functions(columns: int, op: str, gains: bool) -> None:
    shape = f"[5,{columns}]"
    text = f"""ENTRY e {{ x = f32{shape} parameter(0)  m = pred{shape} parameter(1)
      y = f32[5] parameter(2)  b = f32{shape} broadcast(y), dimensions={{0}}
      f = f32{shape} {op}(x)  ROOT r = f32{shape} select(m, f, b) }}"""
    assert words(text) is gains
