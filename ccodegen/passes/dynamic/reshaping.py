"""reshape and dynamic-reshape: rows that end in padding are laid end to end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import reshape as reshaped
from ccodegen.ops.gather import Gather
from ccodegen.ops.movement import Concatenate
from ccodegen.ops.reshape_sizes import Run, derived_dimension, runs
from ccodegen.passes.dynamic.values import Padded, Sizes
from ccodegen.passes.dynamic.writer import Writer
from ccodegen.support.element_type import ElementType


def reshape(write: Writer, operands: Sequence[Padded]) -> Padded:
    """The dynamic sizes follow from the operand's."""
    (x,) = operands
    target = write.plain.array_shape.dimensions
    parts = runs(x.bounds, target)
    sizes: list[Instruction | None] = [None] * len(target)
    dynamic = [size is not None for size in x.sizes]
    for run in parts:
        derived = derived_dimension(write.old, run, dynamic)
        if derived is not None:
            sizes[derived] = _rest(write, x, run, derived)
    if all(_keeps_order(run, x, sizes, target) for run in parts):
        return Padded(write.plain, tuple(sizes))
    return _gathered(write, x, tuple(sizes))


def _rest(write: Writer, x: Padded, run: Run, derived: int) -> Instruction:
    """The size that makes as many elements of the run as its source has."""
    target = write.plain.array_shape.dimensions
    known = math.prod(x.bounds[d] for d in run.source if x.sizes[d] is None)
    others = max(1, math.prod(target[d] for d in run.target if d != derived))
    sizes = [size for size in (x.sizes[d] for d in run.source) if size is not None]
    total = reduce(lambda a, b: write.apply("multiply", a, b), sizes)
    common = math.gcd(known, others)
    if known > common:
        total = write.apply("multiply", total, known // common)
    return total if others == common else write.apply("divide", total, others // common)


def dynamic_reshape(write: Writer, operands: Sequence[Padded]) -> Padded:
    """The sizes are operands."""
    x, *given = operands
    target = write.plain.array_shape.dimensions
    sizes = tuple(clamped(write, size.value, n) for size, n in zip(given, target, strict=True))
    everything = Run(tuple(range(len(x.bounds))), tuple(range(len(target))))
    if _keeps_order(everything, x, sizes, target):
        return Padded(reshaped(write.plain, x.value, target), sizes)
    return _gathered(write, x, sizes)


def clamped(write: Writer, size: Instruction, bound: int) -> Instruction:
    """A size that the program computes, between 0 and the bound, as s32."""
    value = write.converted(size, ElementType.S32)
    return write.apply("minimum", write.apply("maximum", value, 0), bound)


def _keeps_order(
    run: Run, x: Padded, sizes: Sequence[Instruction | None], target: Sequence[int]
) -> bool:
    """Whether padding comes after all that counts, before and after: only the outermost dimension
    is dynamic (those of one element aside)."""
    source = [x.sizes[d] for d in run.source if x.bounds[d] > 1]
    result = [sizes[d] for d in run.target if target[d] > 1]
    return not any(source[1:]) and not any(result[1:])


def _gathered(write: Writer, x: Padded, sizes: Sizes) -> Padded:
    """Each element of the result, counted in the actual sizes of the result, is the element of the
    operand of the same number, counted in those of the operand."""
    shape = write.plain.array_shape
    if not shape.size:
        return Padded(reshaped(write.plain, x.value, shape.dimensions), sizes)
    place = _number(write, shape.dimensions, sizes)
    at: list[Instruction] = []
    for bound, size in reversed(list(zip(x.bounds, x.sizes, strict=True))[1:]):
        extent: Instruction | int = bound if size is None else write.apply("maximum", size, 1)
        divisor = write.spread(extent, shape.dimensions)
        at.append(write.apply("remainder", place, divisor))
        place = write.apply("divide", place, divisor)
    return Padded(_elements(write, x.value, [place, *reversed(at)]), sizes)


def _number(write: Writer, dimensions: Sequence[int], sizes: Sizes) -> Instruction:
    """s32 of these dimensions: each element's number in row-major order of the actual sizes."""
    number = write.iota(dimensions, 0)
    for d, (bound, size) in list(enumerate(zip(dimensions, sizes, strict=True)))[1:]:
        extent = write.spread(bound if size is None else size, dimensions)
        number = write.apply("multiply", number, extent)
        number = write.apply("add", number, write.iota(dimensions, d))
    return number


def _elements(write: Writer, value: Instruction, at: Sequence[Instruction]) -> Instruction:
    """The elements of an array at these indices, one array for each of its dimensions."""
    dimensions, rank = at[0].array_shape.dimensions, len(at)
    vectors = tuple(reshaped(write.plain, index, (*dimensions, 1)) for index in at)
    shape = ArrayShape(ElementType.S32, (*dimensions, rank))
    last = len(dimensions)
    indices = write.make("concatenate", shape, *vectors, attributes=Concatenate((last,)))
    every = tuple(range(rank))
    attributes = Gather(
        offset_dims=(),
        collapsed_slice_dims=every,
        start_index_map=every,
        index_vector_dim=last,
        slice_sizes=(1,) * rank,
    )
    result = value.array_shape.with_dimensions(dimensions)
    return write.make("gather", result, value, indices, attributes=attributes)
