"""dot and convolution: what does not count becomes zero on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.hlo.attributes import WindowDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.convolution import Convolution
from ccodegen.ops.dot import Dot, free
from ccodegen.passes.dynamic.reductions import window_count
from ccodegen.passes.dynamic.values import Padded, Sizes
from ccodegen.passes.dynamic.writer import Writer, dynamic_among, merged_size


def dot(write: Writer, operands: Sequence[Padded]) -> Padded:
    """Both operands are cleared, as zero times what lies in the padding need not be zero."""
    lhs, rhs = operands
    a = attributes_of(write.plain, Dot)
    pairs = list(zip(a.lhs_contracting_dims, a.rhs_contracting_dims, strict=True))
    common = [merged_size(lhs.sizes[i], rhs.sizes[j]) for i, j in pairs]
    values = [
        _cleared(write, operand, [pair[side] for pair in pairs], common)
        for side, operand in enumerate(operands)
    ]
    batch = (
        merged_size(lhs.sizes[i], rhs.sizes[j])
        for i, j in zip(a.lhs_batch_dims, a.rhs_batch_dims, strict=True)
    )
    rows = free(len(lhs.sizes), a.lhs_batch_dims + a.lhs_contracting_dims)
    columns = free(len(rhs.sizes), a.rhs_batch_dims + a.rhs_contracting_dims)
    sizes = (*batch, *(lhs.sizes[d] for d in rows), *(rhs.sizes[d] for d in columns))
    return Padded(write.over(*values), sizes)


def convolution(write: Writer, operands: Sequence[Padded]) -> Padded:
    """The input's batch and spatial dimensions and the features may be dynamic."""
    lhs, rhs = operands
    a = attributes_of(write.plain, Convolution)
    labels, window = a.dim_labels, a.window.dimensions
    batch = lhs.sizes[labels.input_batch]
    output_features = rhs.sizes[labels.kernel_output_feature]
    features = merged_size(
        lhs.sizes[labels.input_feature], rhs.sizes[labels.kernel_input_feature]
    )
    _check(write, rhs, (batch, features, output_features))
    spatial = [lhs.sizes[d] for d in labels.input_spatial]
    cleared = [None if w == WindowDimension() else s for s, w in zip(spatial, window, strict=True)]
    mixed = (labels.input_feature, *labels.input_spatial)
    left = _cleared(write, lhs, mixed, (features, *cleared))
    right = _cleared(write, rhs, (labels.kernel_input_feature,), (features,))
    sizes: list[Instruction | None] = [None] * write.plain.array_shape.rank
    sizes[labels.output_batch], sizes[labels.output_feature] = batch, output_features
    for d, size, w in zip(labels.output_spatial, spatial, window, strict=True):
        sizes[d] = size and window_count(write, size, w)
    return Padded(write.over(left, right), tuple(sizes))


def _check(write: Writer, kernel: Padded, sizes: Sizes) -> None:
    a = attributes_of(write.plain, Convolution)
    if dynamic_among(kernel.sizes, a.dim_labels.kernel_spatial):
        write.refuse("its window is dynamic")
    if a.feature_group_count > 1 and any(sizes[1:]):
        write.refuse("its feature groups are dynamic")
    if a.batch_group_count > 1 and any(sizes):
        write.refuse("its batch groups are dynamic")


def _cleared(
    write: Writer, operand: Padded, dimensions: Sequence[int], sizes: Sequence[Instruction | None]
) -> Instruction:
    """The operand with zeros beyond these sizes of these dimensions."""
    places = dict(zip(dimensions, sizes, strict=True))
    zero = write.scalar(0, operand.value.array_shape.element_type)
    wanted = tuple(places.get(d) for d in range(len(operand.sizes)))
    return write.filled(operand.value, wanted, zero)
