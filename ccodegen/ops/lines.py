"""Which contractions take few columns in lines: along the depth, as the left matrix lies.

What decides is here, as the layout of weights and the loop nest must agree on it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ccodegen.hlo.ir import Instruction
from ccodegen.loop.affine import affine
from ccodegen.loop.builder import index
from ccodegen.loop.ir import Var
from ccodegen.loop.linear import linearize, merged_axes
from ccodegen.loop.simplify import simplify_index
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.contraction import contraction
from ccodegen.ops.convolution import Convolution
from ccodegen.ops.register_tile import panel_types, register_tile
from ccodegen.target.model import Target

MOST_LINES = 8  # more columns are worth a tile
LEAST_VECTORS = 2  # of a line
_VECTORS_TO_ADD_UP = 6  # take as long as to add up the lanes of a sum
_LEAST_RUN = 16  # elements
_FEW = 4  # products of an element and each place of a window
_FEW_COLUMNS = 3  # side by side they fill no vector


def prefers_lines(hero: Instruction, target: Target, strict: bool = False) -> bool:
    """Whether a right matrix of few columns is better laid out along the depth, as the left one
    lies: a tile that they filled in part would take longer, and less than a tile much longer."""
    shape, types = contraction(hero), panel_types(hero, target, strict)
    _, n, k = shape.sizes
    if types is None or not 0 < n <= MOST_LINES or (strict and types[0].is_float):
        return False
    lanes = target.machine.vector_elements(types[0].bytes)
    if lanes == 1 or k < LEAST_VECTORS * lanes:
        return False
    untuned = replace(target, tiles=())  # what was measured changes no bit, so no order of sums
    vectors, tile = _vectors_of_a_line(hero, lanes), register_tile(hero, untuned, strict)
    if tile is None or not vectors:
        return vectors > 0 and n <= _FEW_COLUMNS
    across = -(-n // tile.columns) * max(1, tile.columns / lanes)
    return pays_in_lines(n, k * across, vectors)


def pays_in_lines(few: int, turns: float, vectors: float) -> bool:
    """Whether to add up so many lines of a number of vectors takes less than so many turns, each of
    a vector of sums."""
    return few * (vectors + _VECTORS_TO_ADD_UP) < turns


def reads_floats(convolution: Instruction) -> bool:
    """Whether narrow elements are worth an image of f32s: each is read for all of a window, without
    packing."""
    return reads_runs(convolution) or has_few_features(convolution)


def has_few_features(convolution: Instruction) -> bool:
    """Whether an image and its result have hardly more features than one, so that compilers make
    vectors along the image."""
    shape = contraction(convolution)
    products = shape.depth[-1] * shape.sizes[1]
    return math.prod(shape.batch) == 1 and products <= _FEW and shape.sizes[2] > shape.depth[-1]


def reads_runs(convolution: Instruction) -> bool:
    """Whether few features are made of an image whose own lie last, without packing: the elements
    under a line of the window lie side by side, and are many enough for vectors."""
    shape, window = contraction(convolution), attributes_of(convolution, Convolution).window
    if math.prod(shape.batch) != 1 or not 0 < shape.sizes[1] <= MOST_LINES:
        return False
    if math.prod(shape.depth[:-1]) == 1 or any(d.lhs_dilation > 1 for d in window.dimensions):
        return False
    line, features = window.dimensions[-1], shape.depth[-1]
    run = features * (line.size if line.rhs_dilation == 1 else 1)
    return run >= _LEAST_RUN and features * shape.sizes[1] > 1


def _vectors_of_a_line(hero: Instruction, lanes: int) -> int:
    """How many vectors a line of the left matrix is, the last one of a run counted twice where it
    is not full; 0 where it does not lie along the depth in runs of a vector or more, from each of
    which to the next is the same step."""
    shape = contraction(hero)
    depth = tuple(Var(f"k{n}") for n in range(len(shape.depth)))
    batch, row = (tuple(index(0) for _ in extents) for extents in (shape.batch, shape.rows))
    _, place = shape.lhs_index(batch, row, depth)
    position = linearize(place, hero.operands[0].array_shape.dimensions)
    steps = affine(simplify_index(position, {})).terms
    *outer, (run, step) = merged_axes(shape.depth, [steps.get(k, 0) for k in depth])
    if len(outer) > 1 or run < lanes or step != 1:
        return 0
    return shape.sizes[2] // run * (-(-run // lanes) + (run % lanes > 0))
