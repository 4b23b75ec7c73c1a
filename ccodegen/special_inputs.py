"""Arrays of the values that break things: NaN, infinities, both zeros, denormals, extremes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.support.element_type import ElementType, Kind

Array = np.ndarray[Any, Any]

_NUMBERS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1 / 3, 3.0, 7.0, 127.5, 255.5, 464.0, 65504.0,
    65520.0, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, 2.0**64, 1e10, -1e10, 1e-10, 1e-40, np.pi,
    np.pi / 2, 88.8, -88.8, 104.0, 709.9, np.inf, -np.inf, np.nan,
)  # fmt: skip
_SHIFTS = (0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, -1, -2)


def special_inputs(module: Module, seed: int = 0) -> list[Array]:
    """An array for each leaf of the entry's parameters, the same ones for the same seed."""
    generator = np.random.default_rng(seed)
    shapes = (leaf for p in module.entry.parameters for leaf in leaves(p.shape))
    return [special_array(s, generator) for s in shapes if isinstance(s, ArrayShape)]


def special_array(shape: ArrayShape, generator: np.random.Generator) -> Array:
    """Ordinary numbers, and special ones among them."""
    element, size = shape.element_type, shape.dimensions
    if element.kind is Kind.PRED:
        return np.asarray(generator.integers(0, 2, size)).astype(np.bool_)
    if element.is_integer:
        return _integers(element, size, generator)
    if not element.is_complex:
        return _floats(element, size, generator)
    result = np.empty(size, element.dtype)
    result.real, result.imag = (_floats(element.component, size, generator) for _ in range(2))
    return result


def _integers(
    element: ElementType, size: Sequence[int], generator: np.random.Generator
) -> Array:
    signed = element.kind is Kind.SIGNED
    least = -(1 << (element.bits - 1)) if signed else 0
    most = (1 << (element.bits - signed)) - 1
    ends = [n for n in (least, least + 1, most, most - 1, *_SHIFTS) if least <= n <= most]
    special = np.array(ends, np.uint64 if element.bits == 64 and not signed else np.int64)
    small = generator.integers(max(least, -4), min(most, 5), size, endpoint=True)
    wide = generator.integers(least, most, size, special.dtype.type, endpoint=True)
    chosen = generator.integers(0, 4, size)
    values = np.where(chosen == 0, generator.choice(special, size), small.astype(special.dtype))
    return np.asarray(np.where(chosen == 1, wide, values)).astype(element.dtype)


def _floats(element: ElementType, size: Sequence[int], generator: np.random.Generator) -> Array:
    info: Any = ml_dtypes.finfo(element.dtype)  # type: ignore[no-untyped-call]
    ends = [float(x) for x in (info.max, info.smallest_normal, info.smallest_subnormal, info.eps)]
    special = np.array([*_NUMBERS, *ends, *(-x for x in ends)])
    plain = generator.standard_normal(size) * generator.choice([1.0, 3.0, 100.0])
    mixed = np.where(generator.random(size) < 0.25, generator.choice(special, size), plain)
    with np.errstate(all="ignore"):
        return np.asarray(mixed).astype(element.dtype)
