"""Convolutions whose windows reach over the border, in C of every optimisation.

gcc 12 gave wrong sums for three input channels and a register's worth of output channels: it
vectorised over the kernel's columns, and mixed up which of the padded elements it may read.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ccodegen

_CASES = list(itertools.product(("f32", "f64"), (2, 3), ((1, 1), (2, 1)), (4, 8)))


@pytest.mark.parametrize(("element", "width", "dilation", "channels"), _CASES)
def test_padded_elements_are_never_read(
    element: str, width: int, dilation: tuple[int, int], channels: int
) -> None:
    rows, columns = 4 * dilation[0] + 1 + 2 - 1, 6 + 4 - width + 1
    text = f"""ENTRY e {{
  x = {element}[1,5,6,3] parameter(0)
  k = {element}[2,{width},3,{channels}] parameter(1)
  ROOT c = {element}[1,{rows},{columns},{channels}] convolution(x, k),
    window={{size=2x{width} pad=1_1x2_2 lhs_dilate={dilation[0]}x{dilation[1]}}},
    dim_labels=b01f_01io->b01f
}}"""
    random = np.random.default_rng(1)
    dtype = {"f32": np.float32, "f64": np.float64}[element]
    x = random.standard_normal((1, 5, 6, 3)).astype(dtype)
    k = random.standard_normal((2, width, 3, channels)).astype(dtype)
    expected = ccodegen.evaluate(text, x, k)
    np.testing.assert_allclose(ccodegen.compile(text)(x, k), expected, atol=1e-5)
