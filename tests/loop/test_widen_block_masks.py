"""Masks of small blocks are read as words first: the same effect, where vectors gain by it."""

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
