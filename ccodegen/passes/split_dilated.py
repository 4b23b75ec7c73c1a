"""Writes convolutions over spread inputs, as transposed ones are, without the zeros in between.

With a dilation of d, elements of the input stand at every d-th place, and of the window's elements
every d-th meets one: which ones depends on the place of the output, modulo d. So each of the d
phases of the output is a convolution of the input as it is with a d-th of the kernel:

    x 0 y 0 z      output at even places: x·k1, y·k1, z·k1
     k0 k1 k2      at odd ones:           x·k0 + y·k2, y·k0 + z·k2
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from ccodegen.hlo.attributes import SliceDimension, Window, WindowDimension
from ccodegen.hlo.ir import Instruction, Module
from ccodegen.hlo.rewrite import rewrite_module
from ccodegen.ops.build import derived, is_static, reshape, slice_of, splat
from ccodegen.ops.convolution import Convolution
from ccodegen.ops.movement import Concatenate
from ccodegen.passes.context import PassContext
from ccodegen.support.decisions import decided
from ccodegen.support.immutable import immutable

_MOST_PHASES = 16
_LEAST_WORK = 1 << 15  # products: some ten microseconds with the zeros, one without


def split_dilated(module: Module, context: PassContext) -> Module:
    """`convolution(%x, %k), window={size=4x4 pad=2_2x2_2 lhs_dilate=2x2}` → the four convolutions
    of `%x` with `slice(%k), slice={[0:4:2], [0:4:2], …}` and its likes, and their results by turns.

    A product with one of the zeros may be NaN or change a zero's sign: not in strict mode. Not on
    processors without vectors, which have more time than memory.
    """
    if context.strict or not context.has_vectors:
        return module
    return rewrite_module(module, _visit)


def _visit(instruction: Instruction) -> Instruction:
    attributes = instruction.attributes
    if not isinstance(attributes, Convolution) or not _is_eligible(instruction, attributes):
        return instruction
    phases = math.prod(d.lhs_dilation for d in attributes.window.dimensions)
    if phases == 1:
        return instruction
    write = _Writer(instruction, attributes)
    pays = phases <= _MOST_PHASES and write.products >= _LEAST_WORK
    form = f"as {phases} convolutions" if pays else "with the zeros in its input"
    decided(instruction.name, form, f"{write.products:.2g} products with them")
    return write.phases() if pays else instruction


def _is_eligible(instruction: Instruction, attributes: Convolution) -> bool:
    return (
        all(
            d.lhs_dilation == 1 or d.stride == d.rhs_dilation == 1
            for d in attributes.window.dimensions
        )
        and instruction.array_shape.size > 0
        and all(operand.array_shape.size > 0 for operand in instruction.operands)
        and is_static(instruction)
        and not instruction.control_predecessors
    )


@immutable
class _Phase:
    """Of one dimension: the window, over the input as it is, and which elements of the kernel it
    has, none if `taps` is empty."""

    window: WindowDimension
    taps: SliceDimension


@immutable
class _Writer:
    """Writes one convolution."""

    origin: Instruction
    attributes: Convolution

    @property
    def products(self) -> int:
        kernel = self.origin.operands[1].array_shape
        features = kernel.dimensions[self.attributes.dim_labels.kernel_output_feature]
        return self.origin.array_shape.size * kernel.size // features

    def phases(self) -> Instruction:
        """All phases, side by side in dimensions of their own, which then become one with those of
        the output."""
        window = self.attributes.window.dimensions
        choices = [range(d.lhs_dilation) for d in window]
        parts = {numbers: self._part(numbers) for numbers in itertools.product(*choices)}
        spatial = self.attributes.dim_labels.output_spatial
        for n in reversed(range(len(window))):
            beside = spatial[n] + 1 + sum(other < spatial[n] for other in spatial)
            parts = {
                numbers: self._joined([parts[*numbers, p] for p in choices[n]], beside)
                for numbers in itertools.product(*choices[:n])
            }
        sizes = self._sizes([len(choice) for choice in choices])
        whole = reshape(self.origin, parts[()], [math.prod(size) for size in sizes])
        limits = self.origin.array_shape.dimensions
        return slice_of(self.origin, whole, [SliceDimension(0, limit) for limit in limits])

    def _sizes(self, phases: Sequence[int]) -> list[tuple[int, ...]]:
        """Of each dimension of the output: how many places a phase has, and how many phases."""
        sizes: list[tuple[int, ...]] = [(n,) for n in self.origin.array_shape.dimensions]
        spatial, window = self.attributes.dim_labels.output_spatial, self.attributes.window
        for place, d, count in zip(spatial, window.dimensions, phases, strict=True):
            sizes[place] = (-(-sizes[place][0] // d.lhs_dilation), count)
        return sizes

    def _joined(self, parts: Sequence[Instruction], dimension: int) -> Instruction:
        if len(parts) == 1:
            return parts[0]
        sizes = list(parts[0].array_shape.dimensions)
        sizes[dimension] = len(parts)
        shape = parts[0].array_shape.with_dimensions(tuple(sizes))
        return derived(self.origin, "concatenate", shape, tuple(parts), Concatenate((dimension,)))

    def _part(self, numbers: Sequence[int]) -> Instruction:
        """One phase, with a dimension of size 1 behind each spatial one."""
        lhs, rhs = self.origin.operands
        labels, window = self.attributes.dim_labels, self.attributes.window.dimensions
        sizes = self._sizes([1] * len(numbers))
        shape = self.origin.array_shape.with_dimensions(tuple(size[0] for size in sizes))
        found = [
            _phase(d, number, lhs.array_shape.dimensions[place], shape.dimensions[output])
            for d, number, place, output in zip(
                window, numbers, labels.input_spatial, labels.output_spatial, strict=True
            )
        ]
        taps = [SliceDimension(0, size) for size in rhs.array_shape.dimensions]
        for place, phase in zip(labels.kernel_spatial, found, strict=True):
            taps[place] = phase.taps
        kernel = slice_of(self.origin, rhs, taps)
        if kernel.array_shape.size == 0:
            part = splat(self.origin, 0, shape)
        else:
            dimensions = tuple(phase.window for phase in found)
            attributes = replace(self.attributes, window=Window(dimensions))
            part = derived(self.origin, "convolution", shape, (lhs, kernel), attributes)
        return reshape(self.origin, part, list(itertools.chain(*sizes)))


def _phase(d: WindowDimension, number: int, input_size: int, output_size: int) -> _Phase:
    """The places `number`, `number` + dilation, … of the output."""
    step = d.lhs_dilation
    if step == 1:
        return _Phase(d, SliceDimension(0, d.size))
    first = (d.pad_low - number) % step  # of the window's elements
    count = max(0, -(-(d.size - first) // step))
    before = (d.pad_low - number - first) // step
    after = output_size - 1 - before + count - input_size
    window = replace(d, size=count, pad_low=before, pad_high=after, lhs_dilation=1)
    start = d.size - 1 - first - step * (count - 1) if d.reversal else first
    limit = start + step * (count - 1) + 1 if count else start
    return _Phase(window, SliceDimension(start, limit, step))
