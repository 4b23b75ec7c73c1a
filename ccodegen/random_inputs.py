"""Arrays to try a program with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.errors import InputError

Array = np.ndarray[Any, Any]
_INTEGERS = 8  # small ones: they may be indices, and sums of them stay in range


def random_inputs(module: Module, seed: int = 0) -> list[Array]:
    """An array for each leaf of the entry's parameters: normal floats, small integers from 0."""
    shapes = (leaf for p in module.entry.parameters for leaf in leaves(p.shape))
    arrays = (shape for shape in shapes if isinstance(shape, ArrayShape))
    return random_arrays([(shape.element_type, shape.dimensions) for shape in arrays], seed)


def random_arrays(
    kinds: Sequence[tuple[ElementType, tuple[int, ...]]], seed: int = 0
) -> list[Array]:
    """An array of each type and dimensions, the same ones for the same seed, from 0 on."""
    if seed < 0:
        raise InputError(f"the seed of random arrays must be at least 0, not {seed}")
    generator = np.random.default_rng(seed)
    return [_random(element, dimensions, generator) for element, dimensions in kinds]


def _random(
    element: ElementType, dimensions: tuple[int, ...], generator: np.random.Generator
) -> Array:
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
