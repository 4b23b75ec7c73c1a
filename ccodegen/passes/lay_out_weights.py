"""Lays weights out as contractions read them: in panels for register tiles, or in lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.literal import DerivedLiteral, Literal
from ccodegen.hlo.rewrite import map_computations, rewrite_with_old
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Var
from ccodegen.loop.simplify import simplify_index
from ccodegen.ops.build import constant, reshape, slice_of, transpose
from ccodegen.ops.contraction import Contraction, contraction
from ccodegen.ops.creation import Constant
from ccodegen.ops.lines import prefers_lines
from ccodegen.ops.register_tile import RegisterTile, register_tile
from ccodegen.passes.context import PassContext
from ccodegen.support.immutable import immutable
from ccodegen.support.pieces import Array
from ccodegen.target import Target

_PIECE = 1 << 20  # bytes


def lay_out_weights(module: Module, context: PassContext) -> Module:
    """Packs constant right matrices into panels as wide as a tile, zeros after the last column.

        w = f32[100,40] constant(…)    →    p = f32[2,100,32] constant(…)
                                            w = slice(reshape(transpose(p)))

    The kernel that multiplies reads w through these ops, which is p in order. A few columns become
    lines along the depth: `transpose(constant)`. Left alone is what others read too, as it would be
    there twice. Late: folding would undo it.
    """
    target = context.target
    if target is None:
        return module
    strict = context.strict
    return map_computations(module, lambda c, callees: _laid_out(c, callees, target, strict))


def _laid_out(
    computation: Computation,
    callees: dict[Computation, Computation],
    target: Target,
    strict: bool,
) -> Computation:
    def visit(old: Instruction, new: Instruction) -> Instruction:
        if old.op not in ("dot", "convolution") or len(computation.users[old.operands[1]]) > 1:
            return new
        weights = new.operands[1]
        if not isinstance(weights.attributes, Constant) or weights.array_shape.size == 0:
            return new
        laid_out = _laid_out_weights(new, target, strict)
        return new.with_operands((new.operands[0], laid_out, *new.operands[2:]))

    return rewrite_with_old(computation, visit, callees)


def _laid_out_weights(hero: Instruction, target: Target, strict: bool) -> Instruction:
    """The right matrix, a constant, in the form that suits the contraction best."""
    weights, shape = hero.operands[1], contraction(hero)
    order = _matrix_order(shape)
    if order is None:
        return weights
    if prefers_lines(hero, target, strict):
        return _in_lines(weights, order, len(shape.depth), len(shape.columns))
    tile = register_tile(hero, target, strict)
    if tile is None or tile.right is not weights.array_shape.element_type:
        return weights
    sizes = math.prod(shape.batch), math.prod(shape.depth), math.prod(shape.columns)
    return _packed(weights, order, sizes, tile)


def _matrix_order(shape: Contraction) -> tuple[int, ...] | None:
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


def _in_lines(
    weights: Instruction, order: Sequence[int], depth: int, columns: int
) -> Instruction:
    """The weights as a transposed constant, in which the dimensions of the depth come last."""
    assert isinstance(weights.attributes, Constant)
    first = len(order) - depth - columns
    lines = (*order[:first], *order[first + depth :], *order[first : first + depth])
    array = np.ascontiguousarray(weights.attributes.literal.array.transpose(lines))
    return transpose(weights, constant(weights, array), tuple(int(d) for d in np.argsort(lines)))


def _packed(
    weights: Instruction, order: Sequence[int], sizes: tuple[int, int, int], tile: RegisterTile
) -> Instruction:
    """The weights as ops on a constant of panels: in each the groups of the depth, in those the
    columns, in those the elements. `sizes`: batch, depth and columns."""
    assert isinstance(weights.attributes, Constant)
    panels = _Panels(weights.attributes.literal, tuple(order), sizes, tile)
    batch, count, turns, width, group = panels.shape
    shape = weights.array_shape.with_dimensions((batch * count, turns, width * group))
    packed = constant(weights, DerivedLiteral(shape, panels))
    groups = reshape(weights, packed, panels.shape)
    first = 1 if batch == 1 else 0  # else the last columns' places were not simple
    padded = (batch, turns * group, count * width)
    lines = reshape(weights, transpose(weights, groups, (0, 2, 4, 1, 3)), padded[first:])
    whole = [SliceDimension(0, size) for size in sizes[first:]]
    ordered = tuple(weights.array_shape.dimensions[d] for d in order)
    kept = reshape(weights, slice_of(weights, lines, whole), ordered)
    return transpose(weights, kept, tuple(int(d) for d in np.argsort(order)))


@immutable
class _Panels:
    """See `_packed`."""

    weights: Literal
    order: tuple[int, ...]
    sizes: tuple[int, int, int]
    tile: RegisterTile

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        (batch, depth, columns), width = self.sizes, self.tile.columns
        turns = self.tile.padded_depth(depth) // self.tile.group
        return batch, -(-columns // width), turns, width, self.tile.group

    def __call__(self) -> Iterator[Array]:
        """Some panels at a time: whole words (see Pieces), as many as the caches hold."""
        _, count, turns, width, group = self.shape
        matrices = self.weights.array.transpose(self.order).reshape(self.sizes)
        some = 8 * max(1, _PIECE // (8 * turns * group * width * matrices.itemsize))
        for matrix in matrices:
            for first in range(0, count, some):
                last = min(first + some, count)
                columns = matrix[:, first * width : last * width]
                missing = turns * group - len(columns), (last - first) * width - columns.shape[1]
                if any(missing):
                    columns = np.pad(columns, [(0, more) for more in missing])
                parts = columns.reshape(turns, group, last - first, width)
                panels = np.ascontiguousarray(parts.transpose(2, 0, 3, 1))
                yield panels.reshape(last - first, turns, width * group)
