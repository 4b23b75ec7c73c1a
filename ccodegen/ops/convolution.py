"""convolution: sums of products under a sliding window, over the kernel and input features.

The features (or, with batch_group_count, the batches) fall into groups that do not mix. Within a
group the rows are (batch, output spatial …) in the order of the result, the columns its output
features, and the depth is (window position …, input feature), summed in row-major order: that is
the strict order. Window position k meets kernel element k, or size - 1 - k where the window is
reversed. Padding and holes are zeros that take part in the sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ccodegen.hlo.attributes import (
    Attributes,
    AttrKind,
    DimLabels,
    Window,
    WindowDimension,
    attr,
)
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.opdef import OpDef, register
from ccodegen.hlo.shape import ArrayShape, Shape
from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, Index
from ccodegen.ops import contraction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.fold import Array
from ccodegen.ops.precision import widened
from ccodegen.ops.shape_checks import arrays, require, window_dimensions
from ccodegen.ops.window import dilated_and_padded, input_index, strided
from ccodegen.support.immutable import frozen, immutable

_T = TypeVar("_T")


@frozen
class Convolution(Attributes):
    dim_labels: DimLabels = attr(AttrKind.DIM_LABELS)
    window: Window = attr(AttrKind.WINDOW, Window())
    feature_group_count: int = attr(AttrKind.INT, 1)
    batch_group_count: int = attr(AttrKind.INT, 1)
    operand_precision: str = attr(AttrKind.RAW, "")
    conv_kind: str = attr(AttrKind.ENUM, "")
    convolution_kind: str = attr(AttrKind.ENUM, "")


def is_depthwise(instruction: Instruction) -> bool:
    """Whether each result of a convolution is made of one of several features."""
    attributes = attributes_of(instruction, Convolution)
    kernel = instruction.operands[1].array_shape.dimensions
    return attributes.feature_group_count > 1 == kernel[attributes.dim_labels.kernel_input_feature]


def has_features_behind_batch(labels: DimLabels) -> bool:
    """Whether image and result are batch, features and then places, all of them known."""
    input_order = (labels.input_batch, labels.input_feature, *labels.input_spatial)
    output_order = (labels.output_batch, labels.output_feature, *labels.output_spatial)
    rank = len(input_order)
    in_order = rank > 2 and input_order == output_order == tuple(range(rank))
    return in_order and not any(labels.unknown)


@immutable
class ConvolutionSizes:
    """A convolution's operands and result, by the roles of their dimensions."""

    attributes: Convolution
    lhs: ArrayShape
    rhs: ArrayShape

    @property
    def labels(self) -> DimLabels:
        return self.attributes.dim_labels

    @property
    def window(self) -> tuple[WindowDimension, ...]:
        return self.attributes.window.dimensions

    @property
    def groups(self) -> int:
        return self.attributes.feature_group_count * self.attributes.batch_group_count

    @property
    def batch(self) -> int:
        """Of the result."""
        return self.lhs.dimensions[self.labels.input_batch] // self.attributes.batch_group_count

    @property
    def input_features(self) -> int:
        """Of one group."""
        return self.rhs.dimensions[self.labels.kernel_input_feature]

    @property
    def output_features(self) -> int:
        """Of one group."""
        return self.rhs.dimensions[self.labels.kernel_output_feature] // self.groups

    @property
    def input_spatial(self) -> tuple[int, ...]:
        return tuple(self.lhs.dimensions[d] for d in self.labels.input_spatial)

    @property
    def kernel_spatial(self) -> tuple[int, ...]:
        return tuple(w.size for w in self.window)

    @property
    def output_spatial(self) -> tuple[int, ...]:
        return window_dimensions("convolution", self.attributes.window, self.input_spatial)


def infer(shapes: tuple[Shape, ...], attributes: Convolution) -> ArrayShape:
    """Dimensions that `dim_labels` leave open (`?`) are of size 1."""
    lhs, rhs = arrays("convolution", widened(shapes))
    sizes = ConvolutionSizes(attributes, lhs, rhs)
    rank = 2 + len(sizes.labels.output_spatial) + sizes.labels.unknown[2]
    _check_ranks(sizes, rank)
    _check_groups(sizes)
    spatial = [rhs.dimensions[d] for d in sizes.labels.kernel_spatial]
    require(
        list(sizes.kernel_spatial) == spatial,
        f"convolution: the window is of size {list(sizes.kernel_spatial)}, the kernel {spatial}",
    )
    labels, features = sizes.labels, sizes.groups * sizes.output_features
    dimensions = [1] * rank
    dimensions[labels.output_batch], dimensions[labels.output_feature] = sizes.batch, features
    for d, size in zip(labels.output_spatial, sizes.output_spatial, strict=True):
        dimensions[d] = size
    return ArrayShape(lhs.element_type, tuple(dimensions))


def _check_ranks(sizes: ConvolutionSizes, result_rank: int) -> None:
    labels = sizes.labels
    used = {
        f"input {sizes.lhs}": (
            sizes.lhs.rank,
            (labels.input_batch, labels.input_feature, *labels.input_spatial),
        ),
        f"kernel {sizes.rhs}": (
            sizes.rhs.rank,
            (labels.kernel_input_feature, labels.kernel_output_feature, *labels.kernel_spatial),
        ),
        "output": (
            result_rank,
            (labels.output_batch, labels.output_feature, *labels.output_spatial),
        ),
    }
    for what, (rank, numbers) in used.items():
        require(
            all(0 <= d < rank for d in numbers),
            f"convolution: dim_labels name a dimension that the {what} does not have",
        )


def _check_groups(sizes: ConvolutionSizes) -> None:
    a, labels = sizes.attributes, sizes.labels
    batch = sizes.lhs.dimensions[labels.input_batch]
    inputs = sizes.lhs.dimensions[labels.input_feature]
    outputs = sizes.rhs.dimensions[labels.kernel_output_feature]
    require(
        min(a.feature_group_count, a.batch_group_count) == 1,
        "convolution: the group counts must be positive, and one of the two must be 1",
    )
    require(
        inputs == sizes.input_features * a.feature_group_count,
        f"convolution: {inputs} input features are not {a.feature_group_count} groups of the"
        f" kernel's {sizes.input_features}",
    )
    require(
        outputs % sizes.groups == 0 and batch % a.batch_group_count == 0,
        f"convolution: {outputs} output features and batches of {batch} do not divide into"
        f" {sizes.groups} groups",
    )


def evaluate(evaluator: Any, instruction: Instruction, lhs: Array, rhs: Array) -> Array:
    sizes = _sizes(instruction)
    rows = sizes.batch * math.prod(sizes.output_spatial)
    accumulator = contraction.accumulator_type(instruction)
    total = contraction.sum_of_products(
        _pairs(sizes, _grouped_input(sizes, lhs), _grouped_kernel(sizes, rhs)),
        (sizes.groups, rows, sizes.output_features),
        accumulator,
    )
    split = total.reshape(
        sizes.groups, sizes.batch, *sizes.output_spatial, sizes.output_features
    )
    labels, spatial = sizes.labels, len(sizes.window)
    features_last = np.moveaxis(split, 0, spatial + 1)
    features = sizes.groups * sizes.output_features
    merged = features_last.reshape(sizes.batch, *sizes.output_spatial, features)
    placed = np.empty(instruction.array_shape.dimensions, merged.dtype)
    roles = (labels.output_batch, *labels.output_spatial, labels.output_feature)
    rest = [d for d in range(placed.ndim) if d not in roles]
    placed.transpose(*rest, *roles)[...] = merged
    return contraction.narrowed(placed, instruction.array_shape.element_type)


def _grouped_input(sizes: ConvolutionSizes, lhs: Array) -> Array:
    """[group, batch, feature, spatial …], with the window's zeros in it."""
    labels = sizes.labels
    moved = _by_roles(lhs, labels.input_batch, labels.input_feature, *labels.input_spatial)
    window = (WindowDimension(), WindowDimension(), *sizes.window)
    padded = dilated_and_padded(moved, window, np.zeros((), lhs.dtype))
    spatial = padded.shape[2:]
    if sizes.attributes.batch_group_count > 1:
        return padded.reshape(sizes.groups, sizes.batch, sizes.input_features, *spatial)
    groups = padded.reshape(sizes.batch, sizes.groups, sizes.input_features, *spatial)
    return groups.swapaxes(0, 1)


def _grouped_kernel(sizes: ConvolutionSizes, rhs: Array) -> Array:
    """[window position …, input feature, group, output feature]."""
    labels = sizes.labels
    moved = _by_roles(
        rhs, *labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature
    )
    turned = moved[tuple(slice(None, None, -1 if w.reversal else 1) for w in sizes.window)]
    return turned.reshape(*turned.shape[:-1], sizes.groups, sizes.output_features)


def _by_roles(array: Array, *roles: int) -> Array:
    """The dimensions in the order of their roles; unknown ones, of size 1, vanish."""
    rest = [d for d in range(array.ndim) if d not in roles]
    return array.transpose(*rest, *roles).reshape([array.shape[d] for d in roles])


def _pairs(sizes: ConvolutionSizes, x: Array, kernel: Array) -> Iterator[tuple[Array, Array]]:
    whole = (WindowDimension(),) * 3
    for at in np.ndindex(*sizes.kernel_spatial):
        lead = (*x.shape[:3], *sizes.output_spatial)
        patch = strided(x, (*whole, *sizes.window), (0, 0, 0, *at), lead)
        for feature in range(sizes.input_features):
            yield patch[:, :, feature].reshape(sizes.groups, -1), kernel[(*at, feature)]


@immutable
class _Places:
    """The index functions of contraction.Contraction."""

    sizes: ConvolutionSizes
    result_rank: int

    @property
    def _row_dimensions(self) -> tuple[int, ...]:
        """Of the result: of batch and places."""
        labels = self.sizes.labels
        return labels.output_batch, *labels.output_spatial

    def in_order(self, row: Sequence[_T]) -> list[_T]:
        """What belongs to batch and places, in the result's order: neighbours in memory are
        neighbours among the rows."""
        return [value for _, value in sorted(zip(self._row_dimensions, row, strict=True))]

    def lhs(self, batch: Index, row: Index, depth: Index) -> contraction.Place:
        sizes, labels = self.sizes, self.sizes.labels
        by_dimension = dict(zip(sorted(self._row_dimensions), row, strict=True))
        n, *places = (by_dimension[d] for d in self._row_dimensions)
        condition, spatial = input_index(
            sizes.window, sizes.input_spatial, sizes.output_spatial, tuple(places), depth[:-1]
        )
        feature = depth[-1]
        if sizes.attributes.batch_group_count > 1:
            n = _member(batch[0], sizes.batch, n)
        elif sizes.groups > 1:
            feature = _member(batch[0], sizes.input_features, feature)
        roles = (labels.input_batch, labels.input_feature, *labels.input_spatial)
        return condition, _placed(sizes.lhs.rank, roles, (n, feature, *spatial))

    def rhs(self, batch: Index, depth: Index, column: Index) -> contraction.Place:
        labels = self.sizes.labels
        spatial = [
            apply("subtract", index(w.size - 1), k) if w.reversal else k
            for w, k in zip(self.sizes.window, depth[:-1], strict=True)
        ]
        features = (labels.kernel_input_feature, labels.kernel_output_feature)
        values = (*spatial, depth[-1], self._output_feature(batch, column))
        return None, _placed(self.sizes.rhs.rank, (*labels.kernel_spatial, *features), values)

    def output(self, batch: Index, row: Index, column: Index) -> Index:
        dimensions = (*sorted(self._row_dimensions), self.sizes.labels.output_feature)
        return _placed(self.result_rank, dimensions, (*row, self._output_feature(batch, column)))

    def position(self, at: Index) -> tuple[Index, Index, Index]:
        labels = self.sizes.labels
        row = tuple(at[d] for d in sorted(self._row_dimensions))
        output, count = at[labels.output_feature], index(self.sizes.output_features)
        if self.sizes.groups == 1:
            return (index(0),), row, (output,)
        return (apply("divide", output, count),), row, (apply("remainder", output, count),)

    def _output_feature(self, batch: Index, column: Index) -> Expr:
        if self.sizes.groups == 1:
            return column[0]
        return _member(batch[0], self.sizes.output_features, column[0])


def convolution_contraction(instruction: Instruction) -> contraction.Contraction:
    """Batch: the groups. Rows, columns and depth as the module's docstring says."""
    sizes = _sizes(instruction)
    places = _Places(sizes, instruction.array_shape.rank)
    return contraction.Contraction(
        batch=(sizes.groups,),
        rows=tuple(places.in_order((sizes.batch, *sizes.output_spatial))),
        columns=(sizes.output_features,),
        depth=(*sizes.kernel_spatial, sizes.input_features),
        lhs_index=places.lhs,
        rhs_index=places.rhs,
        output_index=places.output,
        position=places.position,
    )


def _member(group: Expr, size: int, number: Expr) -> Expr:
    """The number of member `number` of a group among all members."""
    return apply("add", apply("multiply", group, index(size)), number)


def _placed(rank: int, roles: tuple[int, ...], values: Index) -> Index:
    """The values at the dimensions of their roles; unknown dimensions are of size 1."""
    placed = dict(zip(roles, values, strict=True))
    return tuple(placed.get(d, index(0)) for d in range(rank))


def _sizes(instruction: Instruction) -> ConvolutionSizes:
    lhs, rhs = (o.array_shape for o in instruction.operands)
    return ConvolutionSizes(attributes_of(instruction, Convolution), lhs, rhs)


register(
    OpDef(
        "convolution",
        Convolution,
        arity=(2, 2),
        infer=infer,
        evaluate=evaluate,
        element=contraction.element,
    )
)
