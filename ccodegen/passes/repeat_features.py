"""Depthwise convolutions with several results for each feature become such with one."""

from __future__ import annotations

from dataclasses import replace

from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import broadcast, reshape
from ccodegen.ops.convolution import Convolution, is_depthwise
from ccodegen.passes.context import PassContext


def repeat_features(module: Module, context: PassContext) -> Module:
    """`f32[1,9,9,8] convolution(f32[1,9,9,4] %x, %k), feature_group_count=4` →
    `convolution(%twice, %k), feature_group_count=8`, where each feature of x stands twice in turn.

    Vectors then run along the features of the result; before they would along the few of a group.
    The sums stay what they are. Not on processors without vectors, nor where features are not last.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _repeated)


def _repeated(instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Convolution) or not is_depthwise(instruction):
        return instruction
    lhs, *kernel = instruction.operands
    sizes, labels = lhs.array_shape.dimensions, attributes.dim_labels
    features, results = sizes[-1], instruction.array_shape.dimensions[-1]
    is_last = labels.input_feature == labels.output_feature == len(sizes) - 1
    if not is_last or results == features:
        return instruction
    each = broadcast(instruction, lhs, (*sizes, results // features), range(len(sizes)))
    repeated = reshape(instruction, each, (*sizes[:-1], results))
    wide = replace(attributes, feature_group_count=results)
    return replace(instruction, operands=(repeated, *kernel), attributes=wide)
