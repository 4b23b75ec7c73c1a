"""Windows without the parts that never come to an element of the operand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ccodegen.hlo.attributes import SliceDimension, Window, WindowDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.ops.build import is_static, slice_of
from ccodegen.ops.convolution import Convolution
from ccodegen.passes.constants import array_of
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import Rules
from ccodegen.support.element_type import from_dtype


def trim(instruction: Instruction, _: PassContext) -> Instruction | None:
    """convolution(x, k), window={size=3 pad=24_24 rhs_dilate=24} of 14 elements
    → convolution(x, slice(k)), window={size=1}.

    Only where the factors of zeros are constants and finite, so that zeros are all they make.
    """
    attributes = instruction.attributes
    if not isinstance(attributes, Convolution) or not is_static(instruction):
        return None
    lhs, rhs = instruction.operands
    weights, labels = array_of(rhs), attributes.dim_labels
    if weights is None:
        return None
    factors = [SliceDimension(0, n) for n in rhs.array_shape.dimensions]
    window = list(attributes.window.dimensions)
    for n, dimension in enumerate(window):
        first, end = _used(dimension, lhs.array_shape.dimensions[labels.input_spatial[n]])
        window[n] = _part(dimension, first, end)
        place = first if not dimension.reversal else dimension.size - end
        factors[labels.kernel_spatial[n]] = SliceDimension(place, place + end - first)
    kernel = slice_of(instruction, rhs, factors)
    if kernel is rhs or not _is_finite(weights):
        return None
    trimmed = replace(attributes, window=Window(tuple(window)))
    return replace(instruction, operands=(lhs, kernel), attributes=trimmed)


def _is_finite(array: np.ndarray[Any, Any]) -> bool:
    element_type = from_dtype(array.dtype)
    has_others = element_type.is_float or element_type.is_complex
    return not has_others or bool(np.isfinite(array).all())


def _used(window: WindowDimension, size: int) -> tuple[int, int]:
    """From where to where the window's elements lie among those of the operand, at some place of
    the window; all of them where none does."""
    last = (size - 1) * window.lhs_dilation
    way = (window.output_size(size) - 1) * window.stride
    begins = [n * window.rhs_dilation - window.pad_low for n in range(window.size)]
    used = [n for n, begin in enumerate(begins) if begin <= last and begin + way >= 0]
    return (used[0], used[-1] + 1) if used and size else (0, window.size)


def _part(window: WindowDimension, first: int, end: int) -> WindowDimension:
    return replace(
        window,
        size=end - first,
        pad_low=window.pad_low - first * window.rhs_dilation,
        pad_high=window.pad_high - (window.size - end) * window.rhs_dilation,
        rhs_dilation=window.rhs_dilation if end - first > 1 else 1,
    )


RULES: Rules = {"convolution": (trim,)}
