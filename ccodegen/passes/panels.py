"""A right matrix in panels, as register tiles read it without packing."""

from __future__ import annotations

import math

import numpy as np

from ccodegen.hlo.attributes import PaddingDimension, SliceDimension
from ccodegen.hlo.ir import Instruction
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Var
from ccodegen.loop.simplify import simplify_index
from ccodegen.ops.build import constant, derived, reshape, slice_of, transpose
from ccodegen.ops.contraction import Contraction, contraction
from ccodegen.ops.movement import Pad
from ccodegen.ops.register_tile import RegisterTile, register_tile
from ccodegen.support.immutable import immutable
from ccodegen.target import Target


@immutable
class Panels:
    """`order`: operand 1's dimensions as those of batch × depth × columns, of these `sizes`.
    `noted`: a row more stands behind each panel (see `register_tile.with_panels`)."""

    order: tuple[int, ...]
    sizes: tuple[int, int, int]
    tile: RegisterTile
    noted: bool = False

    @property
    def dimensions(self) -> tuple[int, int, int, int, int]:
        """In each batch the panels, in those the groups of the depth, in those the columns, in
        those the elements; zeros after the last column and the last element."""
        (batch, depth, columns), width = self.sizes, self.tile.columns
        turns = self.tile.padded_depth(depth) // self.tile.group + self.noted
        return batch, -(-columns // width), turns, width, self.tile.group

    @property
    def matrix(self) -> tuple[int, int, int]:
        """The dimensions of the array in which they lie."""
        batch, count, turns, width, group = self.dimensions
        return batch * count, turns, width * group

    def pack(self, matrix: Instruction) -> Instruction:
        """The ops that put the operand into panels."""
        batch, count, turns, width, group = self.dimensions
        lines = reshape(matrix, transpose(matrix, matrix, self.order), self.sizes)
        missing = turns * group - self.sizes[1], count * width - self.sizes[2]
        if any(missing):
            edges = [PaddingDimension(0, more, 0) for more in (0, *missing)]
            zero = constant(matrix, np.zeros((), matrix.array_shape.element_type.dtype))
            shape = lines.array_shape.with_dimensions((batch, turns * group, count * width))
            lines = derived(matrix, "pad", shape, (lines, zero), Pad(tuple(edges)))
        groups = reshape(matrix, lines, (batch, turns, group, count, width))
        return reshape(matrix, transpose(matrix, groups, (0, 3, 1, 4, 2)), self.matrix)

    def unpack(self, origin: Instruction, panels: Instruction) -> Instruction:
        """The operand, which `origin` is, as ops on its panels: a kernel that multiplies by it
        reads the panels in order."""
        batch, count, turns, width, group = self.dimensions
        groups = reshape(origin, panels, self.dimensions)
        first = 1 if batch == 1 else 0  # else the last columns' places were not simple
        padded = (batch, turns * group, count * width)
        lines = reshape(origin, transpose(origin, groups, (0, 2, 4, 1, 3)), padded[first:])
        whole = [SliceDimension(0, size) for size in self.sizes[first:]]
        ordered = tuple(origin.array_shape.dimensions[d] for d in self.order)
        kept = reshape(origin, slice_of(origin, lines, whole), ordered)
        return transpose(origin, kept, tuple(int(d) for d in np.argsort(self.order)))


def panels_of(hero: Instruction, target: Target, strict: bool) -> Panels | None:
    """Those of operand 1 of a dot or convolution; None where it is multiplied in another way, or
    by elements of another type."""
    shape = contraction(hero)
    order, tile = matrix_order(shape), register_tile(hero, target, strict)
    element_type = hero.operands[1].array_shape.element_type
    if order is None or tile is None or tile.right is not element_type:
        return None
    sizes = math.prod(shape.batch), math.prod(shape.depth), math.prod(shape.columns)
    return Panels(order, sizes, tile)


def matrix_order(shape: Contraction) -> tuple[int, ...] | None:
    """The dimensions of operand 1 as matrices batch × depth × columns have them; None where they
    are no such matrices, as they are read backwards."""
    depth = tuple(Var(f"k{n}") for n in range(len(shape.depth)))
    column = tuple(Var(f"n{n}") for n in range(len(shape.columns)))
    batch = tuple(Var(f"b{n}") if size != 1 else index(0) for n, size in enumerate(shape.batch))
    axes = (*(b for b in batch if isinstance(b, Var)), *depth, *column)
    _, place = shape.rhs_index(batch, depth, column)
    found = [simplify_index(part, {}) for part in place]
    if not set(axes) <= set(found):
        return None
    rest = [d for d, part in enumerate(found) if part not in axes]  # of size 1
    return (*rest, *(found.index(axis) for axis in axes))
