"""Lays weights out as contractions read them: in panels for register tiles, or in lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.literal import DerivedLiteral, Literal
from ccodegen.hlo.rewrite import map_computations, rewrite_with_old
from ccodegen.ops.build import constant, transpose
from ccodegen.ops.contraction import contraction
from ccodegen.ops.creation import Constant
from ccodegen.ops.lines import prefers_lines
from ccodegen.ops.register_tile import with_panels
from ccodegen.passes.context import PassContext
from ccodegen.passes.panels import Panels, matrix_order, panels_of
from ccodegen.support.immutable import immutable
from ccodegen.support.pieces import Array
from ccodegen.target import Target

_PIECE = 1 << 20  # bytes


def lay_out_weights(module: Module, context: PassContext) -> Module:
    """Packs constant right matrices into panels as wide as a tile, zeros after the last column.

        w = f32[100,40] constant(…)    →    p = f32[2,100,32] constant(…)
                                            w = slice(reshape(transpose(p)))

    The kernel that multiplies reads w through these ops, which is p in order. Panels of pairs have
    a row more, for what is asked of their elements in each call. A few columns become lines along
    the depth: `transpose(constant)`. Left alone is what others read too, as it would be there
    twice. Late: folding would undo it.
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
        if old.op not in ("dot", "convolution"):
            return new
        new = with_panels(new, None)  # whatever a module says that has been laid out before
        if len(computation.users[old.operands[1]]) > 1:
            return new
        weights = new.operands[1]
        if not isinstance(weights.attributes, Constant) or weights.array_shape.size == 0:
            return new
        return _over_laid_out(new, target, strict)

    return rewrite_with_old(computation, visit, callees)


def _over_laid_out(hero: Instruction, target: Target, strict: bool) -> Instruction:
    """The contraction over its right matrix, a constant, in the form that suits it best."""
    weights, shape = hero.operands[1], contraction(hero)
    order = matrix_order(shape)
    if order is None:
        return hero
    if prefers_lines(hero, target, strict):
        lines = _in_lines(weights, order, len(shape.depth), len(shape.columns))
        return _over(hero, lines)
    panels = panels_of(hero, target, strict)
    if panels is None:
        return hero
    panels = replace(panels, noted=panels.tile.adds_pairs)
    return with_panels(_over(hero, _packed(weights, panels)), panels.noted)


def _over(hero: Instruction, right: Instruction) -> Instruction:
    return hero.with_operands((hero.operands[0], right, *hero.operands[2:]))


def _in_lines(
    weights: Instruction, order: Sequence[int], depth: int, columns: int
) -> Instruction:
    """The weights as a transposed constant, in which the dimensions of the depth come last."""
    assert isinstance(weights.attributes, Constant)
    first = len(order) - depth - columns
    lines = (*order[:first], *order[first + depth :], *order[first : first + depth])
    array = np.ascontiguousarray(weights.attributes.literal.array.transpose(lines))
    return transpose(weights, constant(weights, array), tuple(int(d) for d in np.argsort(lines)))


def _packed(weights: Instruction, panels: Panels) -> Instruction:
    """The weights as ops on a constant of panels."""
    assert isinstance(weights.attributes, Constant)
    shape = weights.array_shape.with_dimensions(panels.matrix)
    packed = DerivedLiteral(shape, _PackedWeights(weights.attributes.literal, panels))
    return panels.unpack(weights, constant(weights, packed))


@immutable
class _PackedWeights:
    """See `_packed`."""

    weights: Literal
    panels: Panels

    def __call__(self) -> Iterator[Array]:
        """Some panels at a time: whole words (see Pieces), as many as the caches hold."""
        _, count, turns, width, group = self.panels.dimensions
        ordered = self.weights.array.transpose(self.panels.order)
        matrices = ordered.reshape(self.panels.sizes)
        some = 8 * max(1, _PIECE // (8 * turns * group * width * matrices.itemsize))
        for matrix in matrices:
            for first in range(0, count, some):
                last = min(first + some, count)
                columns = matrix[:, first * width : last * width]
                missing = turns * group - len(columns), (last - first) * width - columns.shape[1]
                if any(missing):
                    columns = np.pad(columns, [(0, more) for more in missing])
                parts = columns.reshape(turns, group, last - first, width)
                packed = np.ascontiguousarray(parts.transpose(2, 0, 3, 1))
                packed = packed.reshape(last - first, turns, width * group)
                if self.panels.noted:
                    packed[:, -1, 0] = _least(packed[:, :-1])
                yield packed


def _least(panels: Array) -> Array:
    """The magnitude of each one's least element that is not zero; zero where all are."""
    magnitudes = panels.view(np.uint16) & 0x7FFF
    least: Array = (magnitudes - 1).min(axis=(1, 2)) + 1
    return least.view(panels.dtype)
