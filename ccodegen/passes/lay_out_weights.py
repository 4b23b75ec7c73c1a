"""Lays weights out as the register tiles of contractions read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import map_computations, rewrite_with_old
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Var
from ccodegen.loop.simplify import simplify_index
from ccodegen.ops.build import constant, reshape, slice_of, transpose
from ccodegen.ops.contraction import Contraction, contraction
from ccodegen.ops.creation import Constant
from ccodegen.ops.register_tile import RegisterTile, register_tile
from ccodegen.passes.context import PassContext
from ccodegen.target import Target


def lay_out_weights(module: Module, context: PassContext) -> Module:
    """Packs constant right matrices into panels as wide as a tile, zeros after the last column.

        w = f32[100,40] constant(…)    →    p = f32[2,100,32] constant(…)
                                            w = slice(reshape(transpose(p)))

    The kernel that multiplies reads w through these ops, which is p in order. Left alone is what
    others read too, as it would be there twice. Late: folding would undo it.
    """
    target = context.target
    if target is None:
        return module
    return map_computations(module, lambda c, callees: _laid_out(c, callees, target))


def _laid_out(
    computation: Computation, callees: dict[Computation, Computation], target: Target
) -> Computation:
    def visit(old: Instruction, new: Instruction) -> Instruction:
        if old.op not in ("dot", "convolution") or len(computation.users[old.operands[1]]) > 1:
            return new
        tile = _tile_of_weights(new, target)
        if tile is None:
            return new
        shape = contraction(new)
        order = _matrix_order(shape)
        if order is None:
            return new
        panels = _packed(new.operands[1], order, math.prod(shape.columns), tile)
        return replace(new, operands=(new.operands[0], panels, *new.operands[2:]))

    return rewrite_with_old(computation, visit, callees)


def _tile_of_weights(hero: Instruction, target: Target) -> RegisterTile | None:
    """The tile whose panels the right matrix is packed for; None where it is not to be packed."""
    weights = hero.operands[1]
    if not isinstance(weights.attributes, Constant):
        return None
    tile = register_tile(hero, target)
    is_read_as_stored = tile and tile.right is weights.array_shape.element_type
    return tile if is_read_as_stored else None


def _matrix_order(shape: Contraction) -> tuple[int, ...] | None:
    """The dimensions of operand 1 as a matrix depth × columns has them; None where they are no
    such matrix: several batches, or read backwards."""
    if math.prod(shape.batch) != 1:
        return None
    axes = [Var(f"a{n}") for n in range(len(shape.depth) + len(shape.columns))]
    depth, column = axes[: len(shape.depth)], axes[len(shape.depth) :]
    zeros = tuple(index(0) for _ in shape.batch)
    _, place = shape.rhs_index(zeros, tuple(depth), tuple(column))
    found = [simplify_index(part, {}) for part in place]
    if not set(axes) <= set(found):
        return None
    rest = [d for d, part in enumerate(found) if part not in axes]  # of size 1
    return (*rest, *(found.index(axis) for axis in axes))


def _packed(
    weights: Instruction, order: Sequence[int], columns: int, tile: RegisterTile
) -> Instruction:
    """The weights as ops on a constant of panels: in each the groups of the depth, in those the
    columns, in those the elements."""
    assert isinstance(weights.attributes, Constant)
    array = weights.attributes.literal.array
    ordered = array.transpose(order)
    matrix = ordered.reshape(-1, columns)
    depth, width, group = len(matrix), tile.columns, tile.group
    padded = np.pad(matrix, ((0, -depth % group), (0, -columns % width)))
    parts = padded.reshape(len(padded) // group, group, padded.shape[1] // width, width)
    panels = np.ascontiguousarray(parts.transpose(2, 0, 3, 1))
    packed = constant(weights, panels.reshape(*panels.shape[:2], width * group))
    groups = reshape(weights, packed, panels.shape)
    lines = reshape(weights, transpose(weights, groups, (1, 3, 0, 2)), padded.shape)
    whole = SliceDimension(0, depth, 1), SliceDimension(0, columns, 1)
    kept = reshape(weights, slice_of(weights, lines, whole), ordered.shape)
    return transpose(weights, kept, tuple(int(d) for d in np.argsort(order)))
