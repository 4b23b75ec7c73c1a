"""Writes 3×3 convolutions by Winograd's algorithm F(2×2, 3×3), which takes 16 products for 36.

A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks (2016). Four by four inputs
that begin at every second place, d, and the filter, g, give two by two outputs:

    Aᵀ · ((G · g · Gᵀ) ⊙ (Bᵀ · d · B)) · A

summed over the input features, which makes 16 matrix products of tiles × input features ×
output features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from ccodegen.hlo.attributes import DimLabels, PaddingDimension, SliceDimension, WindowDimension
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.literal import DerivedLiteral, Literal
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import constant, derived, is_static, reshape, slice_of, splat, transpose
from ccodegen.ops.convolution import Convolution, ConvolutionSizes
from ccodegen.ops.creation import Constant
from ccodegen.ops.dot import Dot
from ccodegen.ops.movement import Concatenate, Pad
from ccodegen.passes.context import PassContext
from ccodegen.support.decisions import decided
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable
from ccodegen.support.pieces import Array

_FILTER = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])  # G
_Sums: TypeAlias = Callable[[Sequence[Instruction]], list[Instruction]]
_OUT, _IN, _TAPS = 2, 4, 3  # places of a tile along a dimension, and what a place adds up

# Prices in floating-point operations of a matrix product, by measurement.
_PRICE_OF_WEIGHT = 10
_PRICE_OF_COMPUTED_WEIGHT = 90  # transformed and packed in each call
_PRICE_OF_PACKED_WEIGHT, _PRICE_OF_PACKED_ELEMENT = 50, 20  # for a convolution as it is
_PRICE_OF_ELEMENT, _PRICE_BEYOND_CACHE = 26, 70  # written and read once more
_CACHE = 8 << 20  # bytes
_LEAST_GAIN = 1.2


def use_winograd(module: Module, context: PassContext) -> Module:
    """A convolution in f32 of 3×3 filters, stride 1 → slices, sums, a batched dot, sums.

    Only where fewer products outweigh more sums: with many features, in the last dimension, and
    where a processor has vectors, else memory is short. An infinity may come out as NaN, and errors
    are relative to the largest product: not in strict mode nor for the highest precision.
    """
    if context.strict or not context.has_vectors:
        return module
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    if instruction.op != "convolution" or not _is_eligible(instruction):
        return instruction
    attributes = attributes_of(instruction, Convolution)
    lhs, rhs = (operand.array_shape for operand in instruction.operands)
    write = _Writer(instruction, ConvolutionSizes(attributes, lhs, rhs))
    plain, ours = write.prices
    pays = ours * _LEAST_GAIN < plain
    form = "by Winograd's algorithm" if pays else "as it is"
    decided(instruction.name, form, f"{plain:.2g} operations as it is, {ours:.2g} by tiles")
    return write.convolution() if pays else instruction


def _is_eligible(instruction: Instruction) -> bool:
    attributes = attributes_of(instruction, Convolution)
    window = attributes.window.dimensions
    values = (instruction, *instruction.operands)
    groups = attributes.feature_group_count * attributes.batch_group_count
    return (
        len(window) == 2
        and all(_is_plain(dimension) for dimension in window)
        and all(v.array_shape.element_type is ElementType.F32 for v in values)
        and groups == 1
        and _has_features_last(attributes.dim_labels)
        and "highest" not in attributes.operand_precision
        and not instruction.control_predecessors
        and is_static(instruction)
    )


def _has_features_last(labels: DimLabels) -> bool:
    """Whether sums of neighbours are sums of vectors."""
    input_order = (labels.input_batch, *labels.input_spatial, labels.input_feature)
    output_order = (labels.output_batch, *labels.output_spatial, labels.output_feature)
    return input_order == output_order == (0, 1, 2, 3)


def _is_plain(dimension: WindowDimension) -> bool:
    low, high = dimension.pad_low, dimension.pad_high
    return low >= 0 and high >= 0 and dimension == WindowDimension(3, 1, low, high)


@immutable
class _Writer:
    """Writes one convolution; t: tiles along a dimension."""

    origin: Instruction
    sizes: ConvolutionSizes

    @property
    def tiles(self) -> tuple[int, int]:
        height, width = (-(-size // _OUT) for size in self.sizes.output_spatial)
        return height, width

    @property
    def prices(self) -> tuple[float, float]:
        """Of the convolution as it is, and of what is written here."""
        height, width = self.tiles
        tiles = self.sizes.batch * height * width
        features = self.sizes.input_features, self.sizes.output_features
        weights = features[0] * features[1]
        transformed = _IN * _IN * tiles * sum(features)
        price = _PRICE_OF_ELEMENT if 4 * transformed <= _CACHE else _PRICE_BEYOND_CACHE
        places = self.sizes.batch * math.prod(self.sizes.output_spatial)
        plain, price_of_weight = 2 * places * 9 * weights, _PRICE_OF_WEIGHT
        if not self._is_constant:
            plain += 9 * weights * _PRICE_OF_PACKED_WEIGHT
            plain += 9 * places * features[0] * _PRICE_OF_PACKED_ELEMENT
            price_of_weight = _PRICE_OF_COMPUTED_WEIGHT
        ours = _IN * _IN * weights * (2 * tiles + price_of_weight) + price * transformed
        return plain, ours

    @property
    def _is_constant(self) -> bool:
        """Whether the filter is."""
        return isinstance(self.origin.operands[1].attributes, Constant)

    def convolution(self) -> Instruction:
        batch, (height, width) = self.sizes.batch, self.sizes.output_spatial
        t = self.tiles
        products = self._products(self._transformed_input(), self._transformed_filter())
        places = _both_ways(products, self._tile_sums)
        features = self.sizes.output_features
        shape = (batch, t[0], 1, t[1], 1, features)
        rows = ([reshape(self.origin, place, shape) for place in row] for row in places)
        whole = self._concatenate([self._concatenate(row, 4) for row in rows], 2)
        whole = reshape(self.origin, whole, (batch, _OUT * t[0], _OUT * t[1], features))
        limits = (batch, height, width, features)
        return slice_of(self.origin, whole, [SliceDimension(0, n) for n in limits])

    def _transformed_input(self) -> Instruction:
        """Bᵀ · d · B: 16 × tiles × input features."""
        origin, t = self.origin, self.tiles
        x = self._padded(origin.operands[0])
        batch, *_, features = x.array_shape.dimensions

        def place(i: int, j: int) -> Instruction:
            starts = (0, i, j, 0)
            limits = (batch, i + 2 * t[0] - 1, j + 2 * t[1] - 1, features)
            strides = (1, _OUT, _OUT, 1)
            return slice_of(origin, x, [*map(SliceDimension, starts, limits, strides)])

        places = [[place(i, j) for j in range(_IN)] for i in range(_IN)]
        transformed = _both_ways(places, self._input_sums)
        shape = (1, batch, *t, features)
        return self._concatenate([reshape(origin, v, shape) for v in chain(*transformed)], 0)

    def _padded(self, x: Instruction) -> Instruction:
        """x with the zeros that its tiles reach."""
        edges = [PaddingDimension(0, 0)] * 4
        sizes = list(x.array_shape.dimensions)
        for d, (window, tiles) in enumerate(zip(self.sizes.window, self.tiles, strict=True), 1):
            whole = _OUT * tiles + _IN - _OUT
            edges[d] = PaddingDimension(window.pad_low, whole - window.pad_low - sizes[d])
            sizes[d] = whole
        zero = constant(self.origin, np.zeros((), np.float32))
        shape = x.array_shape.with_dimensions(tuple(sizes))
        return derived(self.origin, "pad", shape, (x, zero), Pad(tuple(edges)))

    def _transformed_filter(self) -> Instruction:
        """G · g · Gᵀ: 16 × input features × output features, or the other way around."""
        weights = self.origin.operands[1]
        sizes = [weights.array_shape.dimensions[d] for d in self._filter_features]
        order = (*self.sizes.labels.kernel_spatial, *self._filter_features)
        if isinstance(weights.attributes, Constant):
            shape = weights.array_shape.with_dimensions((_IN * _IN, *sizes))
            transformed = _TransformedFilter(weights.attributes.literal, order)
            return constant(self.origin, DerivedLiteral(shape, transformed))
        weights = transpose(self.origin, weights, order)

        def tap(i: int, j: int) -> Instruction:
            at = (SliceDimension(n, n + 1) for n in (i, j))
            value = slice_of(self.origin, weights, (*at, *(SliceDimension(0, n) for n in sizes)))
            return reshape(self.origin, value, (1, *sizes))

        taps = [[tap(i, j) for j in range(_TAPS)] for i in range(_TAPS)]
        return self._concatenate([*chain(*_both_ways(taps, self._filter_sums))], 0)

    @property
    def _filter_features(self) -> tuple[int, ...]:
        """The filter's dimensions of features. Those of a constant are turned while compiling."""
        labels = self.sizes.labels
        features = labels.kernel_input_feature, labels.kernel_output_feature
        return features if self._is_constant else tuple(sorted(features))

    def _products(self, tiles: Instruction, filters: Instruction) -> list[list[Instruction]]:
        """The 16 products, each 1 × tiles × output features."""
        sizes = (*tiles.array_shape.dimensions[:-1], self.sizes.output_features)
        shape = tiles.array_shape.with_dimensions(sizes)
        depth = 1 + self._filter_features.index(self.sizes.labels.kernel_input_feature)
        attributes = Dot((0,), (4,), (0,), (depth,))
        products = derived(self.origin, "dot", shape, (tiles, filters), attributes)

        def product(number: int) -> Instruction:
            whole = [SliceDimension(0, size) for size in sizes[1:]]
            return slice_of(self.origin, products, (SliceDimension(number, number + 1), *whole))

        return [[product(_IN * i + j) for j in range(_IN)] for i in range(_IN)]

    def _input_sums(self, d: Sequence[Instruction]) -> list[Instruction]:
        """Bᵀ · d."""
        return [
            self._apply("subtract", d[0], d[2]),
            self._apply("add", d[1], d[2]),
            self._apply("subtract", d[2], d[1]),
            self._apply("subtract", d[1], d[3]),
        ]

    def _filter_sums(self, g: Sequence[Instruction]) -> list[Instruction]:
        """G · g."""
        half = splat(self.origin, 0.5, g[0].array_shape)
        outer = self._apply("add", g[0], g[2])
        sums = [self._apply(op, outer, g[1]) for op in ("add", "subtract")]
        return [g[0], *(self._apply("multiply", total, half) for total in sums), g[2]]

    def _tile_sums(self, m: Sequence[Instruction]) -> list[Instruction]:
        """Aᵀ · m."""
        return [
            self._apply("add", self._apply("add", m[0], m[1]), m[2]),
            self._apply("subtract", self._apply("subtract", m[1], m[2]), m[3]),
        ]

    def _apply(self, op: str, *operands: Instruction) -> Instruction:
        return derived(self.origin, op, operands[0].shape, operands)

    def _concatenate(self, parts: Sequence[Instruction], dimension: int) -> Instruction:
        sizes = list(parts[0].array_shape.dimensions)
        sizes[dimension] = sum(part.array_shape.dimensions[dimension] for part in parts)
        shape = parts[0].array_shape.with_dimensions(tuple(sizes))
        return derived(self.origin, "concatenate", shape, tuple(parts), Concatenate((dimension,)))


@immutable
class _TransformedFilter:
    """`order`: of the filter's dimensions, such that both spatial ones come first."""

    filters: Literal
    order: tuple[int, ...]

    def __call__(self) -> Iterator[Array]:
        filters = self.filters.array.transpose(self.order)
        filters = filters.reshape(-1, *filters.shape[2:])
        both = np.kron(_FILTER, _FILTER)
        transformed = np.empty((len(both), *filters.shape[1:]), np.float32)
        # One by one: doubles of them all would not fit the caches.
        for n in range(filters.shape[1]):
            transformed[:, n] = both @ filters[:, n].astype(np.float64)
        yield transformed


def _both_ways(places: Sequence[Sequence[Instruction]], sums: _Sums) -> list[list[Instruction]]:
    """Sums of each column, and of each row of those."""
    columns = [sums(column) for column in zip(*places, strict=True)]
    return [sums(row) for row in zip(*columns, strict=True)]
