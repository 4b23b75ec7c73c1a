"""Takes the windows of f16 and bf16 in f32, which vectors hold."""

from __future__ import annotations

import math

from ccodegen.hlo.attributes import Window
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.fold import operator_name
from ccodegen.ops.reduce_window import ReduceWindow
from ccodegen.ops.select_and_scatter import SelectAndScatter
from ccodegen.passes.context import PassContext
from ccodegen.passes.fold_in_f32 import EXTREMA, in_f32

_FEW = 4


def windows_in_f32(module: Module, context: PassContext) -> Module:
    """`reduce-window(%x, %z)` of a bf16[1000] → `convert(reduce-window(convert(%x), convert(%z)))`,
    and select-and-scatter likewise.

    All but extrema are rounded once, not for each element, by which long windows and cumulative
    sums would come to a halt: not in strict mode. Not on processors without vectors, which would
    gain nothing.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, lambda instruction: _widened(instruction, context.strict))


def _widened(instruction: Instruction, strict: bool) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, ReduceWindow | SelectAndScatter):
        return instruction
    is_extremum = isinstance(attributes, ReduceWindow) and (
        operator_name(attributes.to_apply) in EXTREMA
    )
    if _is_few_rows(attributes.window) if is_extremum else strict:
        return instruction
    return in_f32(instruction) or instruction


def _is_few_rows(window: Window) -> bool:
    """Whether it takes so few elements, and none side by side, that the result is of vectors as
    they are."""
    sizes = [d.size for d in window.dimensions]
    return math.prod(sizes) <= _FEW and sizes[-1] == 1
