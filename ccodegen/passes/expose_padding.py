"""Writes the padding of convolutions as an op of its own, where vectors then read whole lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ccodegen.hlo.attributes import PaddingDimension, Window
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import constant, derived
from ccodegen.ops.convolution import Convolution, is_depthwise
from ccodegen.ops.movement import Pad
from ccodegen.passes.context import PassContext

_NO_EDGE = PaddingDimension(0, 0)
_MOST_GROWTH = 3
# Of one feature there is no matrix product, whose packing may ask instead.
_MOST_GROWTH_OF_DEPTHWISE = 16


def expose_padding(module: Module, context: PassContext) -> Module:
    """`convolution(%x, %k), window={size=3x3 pad=1_1x1_1}` →
    `convolution(pad(%x, 0), %k), window={size=3x3}`.

    The zeros take part in the sum either way. A window that may reach beyond an edge asks at each
    element; the padded copy is read in runs. Not on processors without vectors, which have more
    time than memory, and not where the copy is much larger than the operand.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _exposed)


def _exposed(instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Convolution):
        return instruction
    operand, *kernel = instruction.operands
    places = attributes.dim_labels.input_spatial
    padding = {
        place: PaddingDimension(d.pad_low, d.pad_high)
        for place, d in zip(places, attributes.window.dimensions, strict=True)
        if d.lhs_dilation == 1 and (d.pad_low or d.pad_high)
    }
    edges = tuple(padding.get(d, _NO_EDGE) for d in range(operand.array_shape.rank))
    sizes = zip(operand.array_shape.dimensions, edges, strict=True)
    shape = operand.array_shape.with_dimensions(tuple(n + e.low + e.high for n, e in sizes))
    most = _MOST_GROWTH_OF_DEPTHWISE if is_depthwise(instruction) else _MOST_GROWTH
    if not padding or shape.size > most * operand.array_shape.size:
        return instruction
    zero = constant(instruction, np.zeros((), shape.element_type.dtype))
    padded = derived(instruction, "pad", shape, (operand, zero), Pad(edges))
    window = Window(
        tuple(
            replace(d, pad_low=0, pad_high=0) if place in padding else d
            for place, d in zip(places, attributes.window.dimensions, strict=True)
        )
    )
    unpadded = replace(attributes, window=window)
    return replace(instruction, operands=(padded, *kernel), attributes=unpadded)
