"""Arrays to try a program with."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.support.element_type import ElementType, Kind

_INTEGERS = 8  # small ones: they may be indices, and sums of them stay in range


def random_inputs(module: Module, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """An array for each leaf of the entry's parameters: normal floats, small integers from 0."""
    generator = np.random.default_rng(seed)
    shapes = [leaf for p in module.entry.parameters for leaf in leaves(p.shape)]
    return [_random(shape, generator) for shape in shapes if isinstance(shape, ArrayShape)]


def _random(shape: ArrayShape, generator: np.random.Generator) -> np.ndarray[Any, Any]:
    element, dimensions = shape.element_type, shape.dimensions
    if element.is_complex:
        parts = generator.standard_normal((2, *dimensions))
        return np.asarray(parts[0] + 1j * parts[1]).astype(element.dtype)
    if element.is_float:
        return np.asarray(generator.standard_normal(dimensions)).astype(element.dtype)
    return np.asarray(generator.integers(0, _above(element), dimensions)).astype(element.dtype)


def _above(element: ElementType) -> int:
    """The least integer that is too large."""
    value_bits = element.bits - (element.kind is Kind.SIGNED)
    return 1 << min(value_bits, _INTEGERS.bit_length() - 1)
