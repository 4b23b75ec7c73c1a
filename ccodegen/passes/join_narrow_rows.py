"""Kernels of narrow rows take several rows at a time, as wide as vectors are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_computation, rewrite_module
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.cost import WORD
from ccodegen.ops.build import constant, is_static, repeated, reshape
from ccodegen.ops.control import Fusion
from ccodegen.ops.cost import function_size
from ccodegen.ops.creation import Constant
from ccodegen.ops.movement import Broadcast
from ccodegen.passes.context import PassContext
from ccodegen.support.element_type import ElementType

_WIDE = 64  # elements of rows that are wide enough
_UNROLLED = range(5, 32)  # elements of rows that compilers neither write out nor make vectors of
_LEAST, _BEST, _MOST = 48, 512, 8192  # elements of joined rows: a few vectors, a page or two


def join_narrow_rows(module: Module, context: PassContext) -> Module:
    """`fusion(%x, %v)` of an f16[1000,7] and an f16[7] that is spread over its rows  →  of the
    f16[20,350] with the same elements in the same order, and %v fifty times.

    Of narrow numbers, from which compilers make no vectors in short loops. Late, as other kernels
    make the rows in their epilogues. Not on processors without vectors.
    """
    if not context.has_vectors:
        return module
    return rewrite_module(module, _joined)


def _joined(fusion: Instruction) -> Instruction:
    attributes = fusion.attributes
    if not isinstance(attributes, Fusion) or not isinstance(fusion.shape, ArrayShape):
        return fusion
    if fusion.shape.rank < 2 or fusion.control_predecessors or not is_static(fusion):
        return fusion
    *rows, width = fusion.shape.dimensions
    count = _rows_together(math.prod(rows), width)
    kernel = attributes.calls
    if not count or not _is_of_rows(kernel, fusion.shape) or not _pays(kernel, width):
        return fusion
    whole = (math.prod(rows) // count, count * width)
    sizes = {fusion.shape.dimensions: whole, (width,): whole[1:], (): ()}
    operands = tuple(_resized(o, sizes[o.array_shape.dimensions]) for o in fusion.operands)
    wide = rewrite_computation(kernel, lambda i: _wider(i, sizes))
    shape = fusion.shape.with_dimensions(whole)
    joined = replace(
        fusion, shape=shape, operands=operands, attributes=replace(attributes, calls=wide)
    )
    return reshape(fusion, joined, fusion.shape.dimensions)


def _rows_together(rows: int, width: int) -> int:
    """How many, of which there is a whole number; none where that gains nothing."""
    if not 1 < width < _WIDE:
        return 0
    fitting = [n for n in _divisors(rows) if _LEAST <= n * width <= _MOST]
    good = [n for n in fitting if n * width <= _BEST]
    return max(good) if good else min(fitting, default=0)


def _divisors(number: int) -> Iterator[int]:
    """Those greater than 1."""
    for n in range(1, math.isqrt(number) + 1):
        if number % n == 0:
            yield from {n, number // n} - {1}


def _is_of_rows(kernel: Computation, shape: ArrayShape) -> bool:
    """Whether it computes its rows element by element, of such and of one row for all."""
    sizes = shape.dimensions
    is_spread = False
    for value in kernel.instructions:
        dimensions = value.array_shape.dimensions
        if dimensions not in (sizes, sizes[-1:], ()):
            return False
        if isinstance(value.attributes, Broadcast):
            (operand,) = value.operands
            if operand.array_shape.rank and value.attributes.dimensions != (shape.rank - 1,):
                return False
            is_spread = is_spread or operand.array_shape.rank == 1
        elif isinstance(value.attributes, Constant):
            if dimensions:
                return False
        elif value.op != "parameter" and not opdef.get(value.op).elementwise:
            return False
    return is_spread


def _pays(kernel: Computation, width: int) -> bool:
    """Conversions of f16 are functions of lines, which all rows are too short for. Not of what
    calls functions: loops put its rows side by side (loop/pack_rows.py)."""
    if any(map(function_size, kernel.instructions)):
        return False
    types = {value.array_shape.element_type for value in kernel.instructions}
    is_narrow = any(t.bytes < WORD and t is not ElementType.PRED for t in types)
    return ElementType.F16 in types or (is_narrow and width in _UNROLLED)


def _resized(value: Instruction, sizes: tuple[int, ...]) -> Instruction:
    """Rows joined, or one row several times."""
    shape = value.array_shape
    if shape.rank != 1:
        return reshape(value, value, sizes)
    count = sizes[0] // shape.size
    if isinstance(value.attributes, Constant):
        return constant(value, np.tile(value.attributes.literal.array, count))
    return repeated(value, count)


def _wider(value: Instruction, sizes: dict[tuple[int, ...], tuple[int, ...]]) -> Instruction:
    shape = value.array_shape
    changed = replace(value, shape=shape.with_dimensions(sizes[shape.dimensions]))
    if isinstance(value.attributes, Broadcast) and value.attributes.dimensions:
        return replace(changed, attributes=Broadcast((1,)))
    return changed
