"""Takes windows over several dimensions apart, and long ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from ccodegen.hlo.attributes import Window, WindowDimension
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.loop.cost import GATHERED
from ccodegen.ops import running_fold
from ccodegen.ops.build import derived
from ccodegen.ops.reduce_window import ReduceWindow
from ccodegen.ops.shape_checks import window_dimensions
from ccodegen.passes.constants import uniform
from ccodegen.passes.context import PassContext
from ccodegen.passes.simple_reduce import operator_of
from ccodegen.support.element_type import ElementType

_Dimensions: TypeAlias = Sequence[WindowDimension]

_GAIN_OF_CHEAP = 1.5  # in elements, at least: what is between lies in memory
_SHORT = 8  # elements of a window that vectors combine one after the other
_LANES = 8
_IDEMPOTENT = frozenset({"maximum", "minimum", "and", "or"})


def split_windows(module: Module, context: PassContext) -> Module:
    """`reduce-window(%x), window={size=5x5 pad=2_2x2_2}` of a maximum  →  one of
    `{size=5x1 pad=2_2x0_0}`, then one of `{size=1x5 pad=0_0x2_2}`; `{size=31}`  →  one of
    `{size=6}`, then one of `{size=6 rhs_dilate=5}`, which overlap.

    Also of sums from zero, over several dimensions, where their order is free: of integers, or not
    in strict mode. Not on processors without vectors, which have more time than memory.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, lambda i: _split(i, context.strict))


def _split(instruction: Instruction, strict: bool) -> Instruction:
    attributes, found = instruction.attributes, operator_of(instruction)
    if not isinstance(attributes, ReduceWindow) or found is None:
        return instruction
    operator, element_type = found
    parts = _parts(instruction, attributes, operator, element_type, strict)
    if parts is None:
        return instruction
    value, initial = instruction.operands
    first, second = (replace(attributes, window=Window(tuple(part))) for part in parts)
    shape = value.array_shape.with_dimensions(_output_sizes(first, value))
    inner = derived(instruction, "reduce-window", shape, (value, initial), first)
    gain = 1 if operator in _IDEMPOTENT and element_type.is_float else _GAIN_OF_CHEAP
    work = _work(attributes, value)
    if not work or gain * (_work(first, value) + _work(second, inner)) > work:
        return instruction
    operands = _split(inner, strict), initial
    return _split(replace(instruction, operands=operands, attributes=second), strict)


def _parts(
    instruction: Instruction,
    attributes: ReduceWindow,
    operator: str,
    element_type: ElementType,
    strict: bool,
) -> tuple[_Dimensions, _Dimensions] | None:
    """Two windows that together are as good as the instruction's."""
    dimensions = attributes.window.dimensions
    value, initial = instruction.operands
    if any(d.lhs_dilation > 1 for d in dimensions):
        return None
    if running_fold.find(attributes.window, attributes.to_apply, value.array_shape.dimensions):
        return None
    places = [d for d, w in enumerate(dimensions) if w.size > 1]
    if operator in _IDEMPOTENT and len(places) == 1:
        return _in_steps(dimensions, places[0])
    sums = operator == "add" and uniform(initial) == 0 and not (strict and element_type.is_float)
    if len(places) > 1 and (sums or operator in _IDEMPOTENT):
        return _by_dimension(dimensions, places[0])
    return None


def _by_dimension(dimensions: _Dimensions, place: int) -> tuple[_Dimensions, _Dimensions]:
    first, second = [WindowDimension()] * len(dimensions), list(dimensions)
    first[place], second[place] = second[place], first[place]
    return first, second


def _in_steps(dimensions: _Dimensions, place: int) -> tuple[_Dimensions, _Dimensions] | None:
    """A window of `size` elements is `count` shorter ones, each `step` further than the last."""
    whole = dimensions[place]
    if whole.size <= _SHORT:
        return None
    best = whole.size * whole.stride + 1, 0, 0
    for size in range(2, whole.size):
        if size * whole.stride >= best[0]:
            break
        rest = whole.size - size
        step = next(n for n in range(size, 0, -1) if rest % n == 0)
        best = min(best, (size * whole.stride + rest // step + 1, size, step))
    _, size, step = best
    count = (whole.size - size) // step + 1
    first, second = list(dimensions), [WindowDimension()] * len(dimensions)
    first[place] = replace(whole, size=size, stride=1)
    apart = step * whole.rhs_dilation
    second[place] = WindowDimension(size=count, stride=whole.stride, rhs_dilation=apart)
    return first, second


def _output_sizes(attributes: ReduceWindow, value: Instruction) -> tuple[int, ...]:
    return window_dimensions("reduce-window", attributes.window, value.array_shape.dimensions)


def _work(attributes: ReduceWindow, value: Instruction) -> float:
    """How many elements are combined, or vectors of such where results side by side are made of
    elements side by side, or of every other word."""
    dimensions, sizes = attributes.window.dimensions, _output_sizes(attributes, value)
    steps = [d.stride for d, size in zip(dimensions, sizes, strict=True) if size > 1]
    densest = 2 if value.array_shape.element_type.bytes >= GATHERED else 1
    lanes = _LANES if steps and steps[-1] <= densest else 1
    return math.prod(sizes) * math.prod(d.size for d in dimensions) / lanes
