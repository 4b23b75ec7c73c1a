"""What a dot reads row by row: scores, which another dot makes, and what is made of these and of
what their rows come to, such as softmax."""

from __future__ import annotations

import math
from typing import TypeAlias

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.build import is_static
from ccodegen.ops.cost import is_dear
from ccodegen.ops.dot import Dot, free, mirrored
from ccodegen.ops.movement import Broadcast, Transpose
from ccodegen.ops.reduce import Reduce
from ccodegen.passes.fusion_group import is_written_out
from ccodegen.passes.fusion_reads import reads_nothing
from ccodegen.support.immutable import immutable

Axes: TypeAlias = tuple[int | None, ...]
"""For each dimension of an array the one of the result that it runs along with; None for such that
each turn reads whole."""

_COPIED = frozenset({"broadcast", "reshape"})
_MOVED = frozenset({"reshape", "transpose"})


@immutable
class RowChain:
    """A dot, the axes of its result, of which `row` counts rows and the others batches, and what
    its left matrix is made of for it alone, operands first, each with its axes."""

    hero: Instruction
    axes: Axes
    row: int
    members: dict[Instruction, Axes]

    @property
    def batches(self) -> tuple[int, ...]:
        """The dimensions of the result that count batches of more than one."""
        return tuple(d for d in self.axes if d is not None and d != self.row)

    @property
    def inputs(self) -> tuple[Instruction, ...]:
        """The arrays that are read, each once."""
        read = (o for reader in (*self.members, self.hero) for o in reader.operands)
        return tuple(
            dict.fromkeys(o for o in read if o not in self.members and not stands_in_code(o))
        )

    def axes_of(self, dot: Instruction) -> Axes:
        """Of the result of a member or of the hero."""
        return self.axes if dot is self.hero else self.members[dot]

    @property
    def row_bytes(self) -> int:
        """Of a row of what the dot reads."""
        rows = math.prod(self.hero.array_shape.dimensions[d] for d in (*self.batches, self.row))
        return self.hero.operands[0].array_shape.bytes // rows


def row_chain(computation: Computation, dot: Instruction, least: int) -> RowChain | None:
    """The chain of a dot, or of its mirror, whose left matrix has so many bytes or more and is made
    for it alone of other dots' results, as large, and of their rows' sums or the like; None where
    there is none."""
    if dot.op != "dot" or not is_static(dot) or dot.control_predecessors:
        return None
    for hero in (dot, mirrored(dot)):
        row = _only_row(hero)
        if row is not None and hero.operands[0].array_shape.bytes >= least:
            axes = _axes_of_result(hero, row)
            members = _Finder(computation, dot, hero, axes, least).members()
            if {"dot", "reduce"} <= {member.op for member in members}:
                return RowChain(hero, axes, row, members)
    return None


def stands_in_code(value: Instruction) -> bool:
    """Whether it is numbers or indices, which each kernel makes that needs them."""
    return is_written_out(value) or reads_nothing(value)


def operands_with_axes(reader: Instruction, axes: Axes) -> list[tuple[Instruction, Axes]]:
    """Of a member, or of what stands in code, whose own axes these are."""
    return list(zip(reader.operands, _axes_of_operands(reader, axes) or (), strict=True))


def _axes_of_operands(reader: Instruction, axes: Axes) -> list[Axes] | None:
    """Of each operand, where the result has these; None where what is one turn's of the result is
    not made of one turn's of the operands."""
    attributes, operands = reader.attributes, reader.operands
    if opdef.is_elementwise(reader):
        return [axes if o.array_shape.rank else () for o in operands]
    if isinstance(attributes, Broadcast):
        return [tuple(axes[d] for d in attributes.dimensions)]
    if isinstance(attributes, Transpose):
        placed = dict(zip(attributes.dimensions, axes, strict=True))
        return [tuple(placed[d] for d in range(len(axes)))]
    if isinstance(attributes, Reduce) and len(operands) == 2:
        kept = iter(axes)
        rank = operands[0].array_shape.rank
        return [tuple(None if d in attributes.dimensions else next(kept) for d in range(rank)), ()]
    if isinstance(attributes, Dot):
        return _axes_of_matrices(reader, attributes, axes)
    if reader.op == "reshape":
        return _axes_before_reshape(reader, axes)
    return [] if reader.op == "iota" else None


def _axes_of_matrices(dot: Instruction, attributes: Dot, axes: Axes) -> list[Axes]:
    found, after = [], len(attributes.lhs_batch_dims)
    sides = (
        (attributes.lhs_batch_dims, attributes.lhs_contracting_dims),
        (attributes.rhs_batch_dims, attributes.rhs_contracting_dims),
    )
    for operand, (batch, contracting) in zip(dot.operands, sides, strict=True):
        rank = operand.array_shape.rank
        others = free(rank, batch + contracting)
        placed = dict(zip(batch, axes, strict=False))
        placed |= dict(zip(others, axes[after:], strict=False))
        after += len(others)
        found.append(tuple(placed.get(d) for d in range(rank)))
    return found


def _axes_before_reshape(reshape: Instruction, axes: Axes) -> list[Axes] | None:
    """Of one that only adds or drops dimensions of one element."""
    sizes, before = (i.array_shape.dimensions for i in (reshape, reshape.operands[0]))
    long = [axis for axis, size in zip(axes, sizes, strict=True) if size != 1]
    if [n for n in sizes if n != 1] != [n for n in before if n != 1]:
        return None
    rest = iter(long)
    return [tuple(None if n == 1 else next(rest) for n in before)]


def _axes_of_result(hero: Instruction, row: int) -> Axes:
    batches = len(attributes_of(hero, Dot).lhs_batch_dims)
    sizes = hero.array_shape.dimensions
    return tuple(
        d if size > 1 and (d < batches or d == row) else None for d, size in enumerate(sizes)
    )


def _only_row(hero: Instruction) -> int | None:
    """The dimension of the result that alone counts rows."""
    attributes, sizes = attributes_of(hero, Dot), hero.array_shape.dimensions
    columns = hero.operands[0].array_shape.rank - len(attributes.lhs_contracting_dims)
    rows = [d for d in range(len(attributes.lhs_batch_dims), columns) if sizes[d] > 1]
    return rows[0] if len(rows) == 1 else None


class _Finder:
    """Goes from the dot up, readers first."""

    def __init__(
        self,
        computation: Computation,
        dot: Instruction,
        hero: Instruction,
        axes: Axes,
        least: int,
    ) -> None:
        self._computation, self._least = computation, least
        self._kept = {computation.root, *computation.side_roots}
        self._cut = set(axes)
        self._asked: dict[Instruction, set[Axes]] = {}
        self._found: dict[Instruction, Axes] = {}
        self._readers = {dot}
        self._matrices: set[Instruction] = set()  # that dots read, as they are moved
        self._ask(hero, axes)
        self._matrices.discard(hero.operands[0])

    def members(self) -> dict[Instruction, Axes]:
        for instruction in reversed(self._computation.instructions):
            asked = self._asked.get(instruction, set())
            if len(asked) == 1 and self._may_join(instruction, *asked):
                self._found[instruction] = next(iter(asked))
                self._ask(instruction, *asked)
                if self._is_read_here_alone(instruction):
                    self._readers.add(instruction)
        return dict(reversed(self._found.items()))

    def _ask(self, reader: Instruction, axes: Axes) -> None:
        are_matrices = reader.op == "dot" or reader in self._matrices
        for operand, own in operands_with_axes(reader, axes):
            self._asked.setdefault(operand, set()).add(own)
            if are_matrices:
                self._matrices.add(operand)

    def _may_join(self, instruction: Instruction, axes: Axes) -> bool:
        if instruction.op not in _COPIED and not self._is_read_here_alone(instruction):
            return False
        if not isinstance(instruction.shape, ArrayShape) or stands_in_code(instruction):
            return False
        if instruction.control_predecessors or not is_static(instruction):
            return False
        if _axes_of_operands(instruction, axes) is None:
            return False
        if instruction in self._matrices:
            return instruction.op in _MOVED
        if instruction.op == "dot":
            return self._is_cut(axes) and instruction.array_shape.bytes >= self._least
        dear = instruction.op == "reduce" or is_dear(instruction)
        return self._is_cut(axes) or not dear

    def _is_read_here_alone(self, value: Instruction) -> bool:
        readers = self._computation.users[value]
        return value not in self._kept and self._readers.issuperset(readers)

    def _is_cut(self, axes: Axes) -> bool:
        """Whether no two turns would compute the same."""
        return self._cut <= {*axes, None}
