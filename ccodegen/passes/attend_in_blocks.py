"""Attention in blocks of rows: what is made of some rows' scores is used up before the next ones.

Scores are as many as rows times columns, so that no cache keeps those of a long text or a large
image; in blocks they are written and read where they are near, and take little memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from ccodegen.hlo.ir import Computation, Instruction, Module
from ccodegen.hlo.rewrite import rewrite_with_old, transform_computations
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.build import broadcast, converted, derived, splat, transpose
from ccodegen.ops.counted_loop import S64, counted_loop, number
from ccodegen.ops.creation import Iota, Parameter
from ccodegen.ops.dot import mirrored_order
from ccodegen.ops.dynamic_slice import DynamicSlice
from ccodegen.passes.context import PassContext
from ccodegen.passes.panels import Panels, panels_of
from ccodegen.passes.row_chain import (
    Axes,
    RowChain,
    operands_with_axes,
    row_chain,
    stands_in_code,
)
from ccodegen.support.decisions import decided
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

Places: TypeAlias = Mapping[int | None, Instruction]
"""Where a turn's part begins along each axis that is cut."""


@immutable
class Memory:
    """`far`: bytes of scores that are too many to keep, `near`: those to have at a time, in as many
    `rows` at least."""

    far: int
    near: int
    rows: int


# What all rows are multiplied by is read again for each block, so that few rows do not pay.
CACHES = Memory(far=1 << 22, near=1 << 19, rows=64)
# No cache, and little memory.
SMALL = Memory(far=1 << 13, near=1 << 11, rows=1)


def attend_in_blocks(module: Module, context: PassContext) -> Module:
    """`dot(softmax(dot(%q, %k)), %v)` →
    `while` over batches: `while` over blocks of rows: `dot(softmax(dot(slice(%q), %k)), %v)`.

    Where scores are many. Each element is made by the same operations as before. What all blocks of
    a batch are multiplied by is packed before them.
    """
    if context.target is None:
        return module
    return transform_computations(module, lambda c: _attended(c, context))


def _attended(computation: Computation, context: PassContext) -> Computation:
    memory = CACHES if context.has_vectors else SMALL
    found = {i: row_chain(computation, i, memory.far) for i in computation.instructions}
    made: dict[Instruction, Instruction] = {}

    def visit(old: Instruction, new: Instruction) -> Instruction:
        chain = found[old]
        loops = chain and _Loops(chain, memory, context)
        if loops and loops.turns > 1:
            new = loops.result(made)
            if loops.hero is not old:
                new = transpose(old, new, mirrored_order(loops.hero))
        made[old] = new
        return new

    return rewrite_with_old(computation, visit)


@immutable
class _Loops:
    """Writes the loops of one chain."""

    chain: RowChain
    memory: Memory
    context: PassContext

    @property
    def hero(self) -> Instruction:
        return self.chain.hero

    @property
    def turns(self) -> int:
        """How many times a part is made."""
        return self._blocks * math.prod(self._batches)

    @property
    def _batches(self) -> list[int]:
        return [self.hero.array_shape.dimensions[d] for d in self.chain.batches]

    @cached_property
    def _blocks(self) -> int:
        rows = self.hero.array_shape.dimensions[self.chain.row]
        return -(-rows // max(self.memory.rows, self.memory.near // self.chain.row_bytes))

    @cached_property
    def _sizes(self) -> dict[int | None, int]:
        """Of what a turn makes, by axis."""
        rows = self.hero.array_shape.dimensions[self.chain.row]
        return {**self._sizes_of_batch, self.chain.row: -(-rows // self._blocks)}

    @property
    def _sizes_of_batch(self) -> dict[int | None, int]:
        return dict.fromkeys(self.chain.batches, 1)

    def result(self, made: Mapping[Instruction, Instruction]) -> Instruction:
        """The dot's result; `made`: what the inputs are."""
        rows = self._sizes[self.chain.row]
        decided(self.hero.name, f"in blocks of {rows} rows", "all rows' scores would be far")
        arrays = [made[i] for i in self.chain.inputs]
        result = splat(self.hero, 0, self.hero.array_shape)
        if not self.chain.batches:
            return self._over_blocks({}, result, arrays)

        def turn(turns: Instruction, state: list[Instruction]) -> list[Instruction]:
            result, *arrays = state
            places = self._split(turns)
            batch: Places = dict(zip(self.chain.batches, places, strict=True))
            return [self._over_blocks(batch, result, arrays), *arrays]

        return counted_loop(self.hero, math.prod(self._batches), [result, *arrays], turn)[0]

    def _over_blocks(
        self, batch: Places, result: Instruction, arrays: Sequence[Instruction]
    ) -> Instruction:
        """The result with one batch's rows in it."""
        given = dict(zip(self.chain.inputs, arrays, strict=True))
        whole = _Turn(self.chain, batch, self._sizes_of_batch, given)
        if self._blocks == 1:
            return whole.stored_in(result)
        packed = {}
        for dot in (*self.chain.members, self.hero):
            panels = self._panels(dot) if dot.op == "dot" else None
            if panels is not None:
                matrix = whole.right_matrix(dot)
                packed[dot.operands[1]] = matrix, panels, panels.pack(matrix)
        state = [result, *batch.values(), *arrays, *(p for _, _, p in packed.values())]

        def turn(turns: Instruction, state: list[Instruction]) -> list[Instruction]:
            result, *rest = state
            batch_now = dict(zip(batch, rest, strict=False))
            given = dict(zip(self.chain.inputs, rest[len(batch) :], strict=False))
            ready = {
                operand: panels.unpack(matrix, now)
                for (operand, (matrix, panels, _)), now in zip(
                    packed.items(), rest[len(batch) + len(arrays) :], strict=True
                )
            }
            places = {**batch_now, self.chain.row: self._first_row(turns)}
            block = _Turn(self.chain, places, self._sizes, given, ready)
            return [block.stored_in(result), *rest]

        return counted_loop(self.hero, self._blocks, state, turn)[0]

    def _panels(self, dot: Instruction) -> Panels | None:
        """Those of the right matrix where it is the same for all blocks of a batch."""
        axes = self.chain.axes_of(dot)
        operands = operands_with_axes(dot, axes)
        if self.chain.row in operands[1][1]:
            return None
        shapes = [_cut(matrix.array_shape, own, self._sizes) for matrix, own in operands]
        matrices = [
            derived(dot, "parameter", shape, (), Parameter(n)) for n, shape in enumerate(shapes)
        ]
        shape = _cut(dot.array_shape, axes, self._sizes)
        block = replace(dot, operands=tuple(matrices), shape=shape)
        assert self.context.target is not None
        return panels_of(block, self.context.target, self.context.strict)

    def _split(self, batch: Instruction) -> list[Instruction]:
        """The index of the batch of this number."""
        places = []
        for size in reversed(self._batches[1:]):
            places.append(self._scalar("remainder", batch, size))
            batch = self._scalar("divide", batch, size)
        return [batch, *reversed(places)]

    def _first_row(self, block: Instruction) -> Instruction:
        """The last block ends with the last row."""
        rows, size = self.hero.array_shape.dimensions[self.chain.row], self._sizes[self.chain.row]
        first = self._scalar("multiply", block, size)
        return first if rows % size == 0 else self._scalar("minimum", first, rows - size)

    def _scalar(self, op: str, value: Instruction, other: int) -> Instruction:
        return derived(self.hero, op, S64, (value, number(self.hero, other)))


@dataclass(eq=False)
class _Turn:
    """What one turn makes: parts of these `sizes` at these `places`, by axis. `given`: what the
    inputs are; `made`: the parts that are known."""

    chain: RowChain
    places: Places
    sizes: Mapping[int | None, int]
    given: Mapping[Instruction, Instruction]
    made: dict[Instruction, Instruction] = field(default_factory=dict)

    def stored_in(self, result: Instruction) -> Instruction:
        for member in self.chain.members:  # operands first: no chain is too long
            self._part(member, self.chain.members[member])
        hero, axes = self.chain.hero, self.chain.axes
        operands = (result, self._rebuilt(hero, axes), *self._starts(axes))
        return derived(hero, "dynamic-update-slice", result.shape, operands)

    def right_matrix(self, dot: Instruction) -> Instruction:
        _, (matrix, axes) = operands_with_axes(dot, self.chain.axes_of(dot))
        return self._part(matrix, axes)

    def _part(self, value: Instruction, axes: Axes) -> Instruction:
        if value in self.made:
            return self.made[value]
        if value in self.chain.members:
            part = self.made[value] = self._rebuilt(value, axes)
            return part
        if stands_in_code(value):
            return self._rebuilt(value, axes)
        return self._slice(self.given[value], axes)

    def _rebuilt(self, member: Instruction, axes: Axes) -> Instruction:
        shape = _cut(member.array_shape, axes, self.sizes)
        if isinstance(member.attributes, Iota):
            place = self.places.get(axes[member.attributes.iota_dimension])
            return replace(member, shape=shape) if place is None else _iota(member, shape, place)
        parts = [self._part(operand, own) for operand, own in operands_with_axes(member, axes)]
        return replace(member, shape=shape, operands=tuple(parts))

    def _slice(self, array: Instruction, axes: Axes) -> Instruction:
        shape = _cut(array.array_shape, axes, self.sizes)
        if shape == array.array_shape:
            return array
        sizes = DynamicSlice(shape.dimensions)
        return derived(array, "dynamic-slice", shape, (array, *self._starts(axes)), sizes)

    def _starts(self, axes: Axes) -> list[Instruction]:
        zero = number(self.chain.hero, 0)
        return [zero if axis is None else self.places.get(axis, zero) for axis in axes]


def _cut(shape: ArrayShape, axes: Axes, sizes: Mapping[int | None, int]) -> ArrayShape:
    """The shape of a part; `sizes`: of what is cut, by axis."""
    dimensions = zip(shape.dimensions, axes, strict=True)
    return shape.with_dimensions(tuple(sizes.get(axis, size) for size, axis in dimensions))


def _iota(iota: Instruction, shape: ArrayShape, first: Instruction) -> Instruction:
    """A part of an iota along the dimension that it counts, in 32 bits as vectors have more of
    these."""
    counts = replace(iota, shape=shape.with_type(ElementType.S32))
    start = converted(iota, first, ElementType.S32)
    starts = broadcast(iota, start, shape.dimensions, ())
    numbers = derived(iota, "add", counts.shape, (counts, starts))
    return converted(iota, numbers, shape.element_type)
