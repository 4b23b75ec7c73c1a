"""Element types, sizes and values of random modules: nasty ones far more often than in life."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Module
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.special_inputs import special_array
from ccodegen.support.element_type import HLO_TYPES, ElementType, Kind

Array = np.ndarray[Any, Any]

# Those that hold every result of an exact module; f32 and s32 are what most programs are made of.
EXACT_TYPES = [
    HLO_TYPES[name]
    for name in (
        "f32", "f32", "f32", "s32", "s32", "pred", "f16", "bf16", "s8", "u8", "u32", "s64", "f64",
        "c64", "s16", "u16", "u64", "c128",
    )
]  # fmt: skip
ANY_TYPES = list(HLO_TYPES.values())
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 13, 37)
LARGE_SIZES = (16, 17, 24, 32, 35)
SMALL_SIZES = (1, 1, 2, 2, 3, 0)
MOST_ELEMENTS = 1300


def random_type(source: random.Random, exact: bool) -> ElementType:
    """A common one mostly; in an inexact module any other now and then."""
    return source.choice(ANY_TYPES if not exact and source.random() < 0.3 else EXACT_TYPES)


def random_sizes(source: random.Random) -> tuple[int, ...]:
    """The dimensions of an array of any rank up to six, with no more than MOST_ELEMENTS."""
    rank = source.choice((0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 6))
    sizes: Sequence[int] = LARGE_SIZES if source.random() < 0.1 else SIZES
    if rank > 3:
        sizes = SMALL_SIZES
    dimensions = [source.choice(sizes) for _ in range(rank)]
    while np.prod(dimensions) > MOST_ELEMENTS:
        dimensions[source.randrange(rank)] = 2
    return tuple(dimensions)


def arguments(module: Module, seed: int, exact: bool) -> tuple[Array, ...]:
    """A value for each leaf of the entry's parameters, the same for the same seed."""
    generator = np.random.default_rng(seed)
    shapes = [leaf for p in module.entry.parameters for leaf in leaves(p.shape)]
    arrays = [leaf for leaf in shapes if isinstance(leaf, ArrayShape)]
    make = small_integers if exact else special_array
    return tuple(make(shape, generator) for shape in arrays)


def small_integers(shape: ArrayShape, generator: np.random.Generator) -> Array:
    """From -2 to 2, so that no order of operations changes a result."""
    unsigned = shape.element_type.kind in (Kind.UNSIGNED, Kind.PRED)
    return generator.integers(0 if unsigned else -2, 3, shape.dimensions).astype(
        shape.element_type.dtype
    )


def factors(size: int) -> Iterator[int]:
    """The prime factors of a size; none of 1, zero itself of 0."""
    if size == 0:
        yield 0
    divisor = 2
    while size > 1:
        while size % divisor == 0:
            yield divisor
            size //= divisor
        divisor += 1


def edge(high: int) -> PaddingDimension:
    """So many elements after the last."""
    return PaddingDimension(0, high)


def first(count: int) -> SliceDimension:
    """So many elements from the first on."""
    return SliceDimension(0, count)
