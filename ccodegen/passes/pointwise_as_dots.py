"""Convolutions without a neighbourhood become dots, where features lie behind the batch."""

from __future__ import annotations

from ccodegen.hlo.attributes import WindowDimension
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import broadcast, derived, is_static, reshape
from ccodegen.ops.convolution import Convolution, has_features_behind_batch
from ccodegen.ops.dot import Dot
from ccodegen.passes.context import PassContext

_NO_NEIGHBOURS = (WindowDimension(), WindowDimension(reversal=True))


def pointwise_as_dots(module: Module, context: PassContext) -> Module:
    """`convolution(f32[2,8,9,9] %x, f32[5,8,1,1] %k), dim_labels=bf01_oi01->bf01` → `dot(f32[2,5,8]
    broadcast(%k), %x), lhs_batch_dims={0}, rhs_batch_dims={0}, …`.

    The places of an image lie side by side, in what is read and in the result: as columns they
    need not be turned. The sums run over the same products in the same order, so that all bits
    stay. After the layout of networks, which may put features last.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _as_dot)


def _as_dot(convolution: Instruction) -> Instruction:
    attributes = convolution.attributes
    if not isinstance(attributes, Convolution) or convolution.control_predecessors:
        return convolution
    groups = attributes.feature_group_count * attributes.batch_group_count
    is_pointwise = groups == 1 and all(d in _NO_NEIGHBOURS for d in attributes.window.dimensions)
    labels = attributes.dim_labels
    if not is_pointwise or not has_features_behind_batch(labels) or not is_static(convolution):
        return convolution
    image, kernel = convolution.operands
    is_turned = labels.kernel_input_feature < labels.kernel_output_feature
    features = kernel.array_shape.dimensions
    roles = sorted((labels.kernel_input_feature, labels.kernel_output_feature))
    matrix = reshape(convolution, kernel, [features[d] for d in roles])
    batches = image.array_shape.dimensions[0]
    matrices = broadcast(convolution, matrix, (batches, *matrix.array_shape.dimensions), (1, 2))
    dot = Dot((0,), (1 if is_turned else 2,), (0,), (1,))
    return derived(convolution, "dot", convolution.array_shape, (matrices, image), dot)
