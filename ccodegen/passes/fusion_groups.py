"""Decides which instructions become one kernel. Changes nothing.

Consumers first: an instruction joins the group of its readers where all of them are in one group
that can take it; it is copied into several groups where it costs nothing to compute; otherwise it
begins a group of its own, as its output. What a group may hold is what `lower` has a plan for.
"""

from __future__ import annotations

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.passes.fusion_graph import Graph
from ccodegen.passes.fusion_group import (
    CONTRACTIONS,
    Group,
    is_fusible,
    result_dimensions,
    rows_of,
)
from ccodegen.passes.fusion_obstacles import Obstacles
from ccodegen.passes.fusion_readings import Readings
from ccodegen.passes.fusion_reads import elementwise_cone, is_free
from ccodegen.support.decisions import decided


def fusion_groups(computation: Computation, vectors: bool = False) -> list[Group]:
    """The groups of more than one instruction, their members after what they read.

    `vectors`: whether the target has any. Then `lower` cuts loops where they come to the next part
    of a concatenate, and elements that do not lie side by side take time to gather.
    """
    decider = _Decider(computation, vectors)
    for instruction in reversed(computation.instructions):
        if is_fusible(instruction):
            decider.place(instruction)
    groups = [g for g in decider.groups if len(g.members) > 1]
    for group in groups:
        # They joined consumers first.
        group.members = dict.fromkeys(reversed(group.members))
    return groups


class _Decider:
    def __init__(self, computation: Computation, vectors: bool) -> None:
        self._graph = Graph(computation)
        self._readings = Readings(self._graph)
        self._kept = {computation.root, *computation.side_roots}
        self._groups_with: dict[Instruction, list[Group]] = {}
        is_placed = self._groups_with.__contains__
        self._obstacles = Obstacles(self._graph, self._readings, is_placed, vectors)
        self.groups: list[Group] = []

    def place(self, instruction: Instruction) -> None:
        users = self._graph.users[instruction]
        groups = list(dict.fromkeys(g for u in users for g in self._groups_with.get(u, ())))
        obstacles = [self._obstacles.between(instruction, group) for group in groups]
        takers = [g for g, obstacle in zip(groups, obstacles, strict=True) if not obstacle]
        # A reader that was copied into several groups reads it in each of them.
        outside = (
            instruction in self._kept
            or len(takers) < len(groups)
            or any(u not in self._groups_with for u in users)
        )
        if not outside and len(takers) == 1:
            self._join(instruction, takers[0])
            return
        if takers and is_free(instruction):
            for group in takers:
                self._join(instruction, group)
            if not outside:
                return
        elif self._joins_as_output(instruction, takers) or self._joins_sibling(instruction):
            return
        if instruction.op == "reshape":
            return  # what it is made of begins one, which runs over its own dimensions
        why = next(filter(None, obstacles), "some readers are in no group, or in several")
        decided(instruction.name, "begins a kernel", why if users else "nothing reads it")
        self._begin(instruction)

    def _begin(self, instruction: Instruction) -> None:
        group = Group([instruction])
        group.add(instruction)
        group.straight.add(instruction)
        group.places[instruction] = frozenset({0})
        group.times[instruction] = 1
        if instruction.op in CONTRACTIONS | {"dynamic-update-slice", "concatenate"}:
            group.hero = instruction
        if instruction.op == "reduce":
            group.rows = rows_of(instruction)
        self._groups_with.setdefault(instruction, []).append(group)
        self.groups.append(group)

    def _join(self, instruction: Instruction, group: Group) -> None:
        self._readings.join(instruction, group)
        self._groups_with.setdefault(instruction, []).append(group)

    def _joins_as_output(self, instruction: Instruction, takers: list[Group]) -> bool:
        """Stored by a group that computes it anyway, where that makes no cycle."""
        for group in takers:
            if self._may_store(instruction, group) and not self._makes_cycle(instruction, group):
                self._join(instruction, group)
                group.roots.append(instruction)
                return True
        return False

    def _joins_sibling(self, reduce: Instruction) -> bool:
        """A reduce joins one over the same rows, where both are made of something as large."""
        if reduce.op != "reduce" or not isinstance(reduce.shape, ArrayShape):
            return False
        rows = rows_of(reduce)
        for group in self.groups:
            alike = group.rows == rows and group.hero is None
            if not alike or not self._shares(reduce, group):
                continue
            if not self._obstacles.between(reduce, group) and not self._makes_cycle(reduce, group):
                self._join(reduce, group)
                group.roots.append(reduce)
                return True
        return False

    def _shares(self, reduce: Instruction, group: Group) -> bool:
        """Whether both read, or compute elementwise, one and the same of the operand's size."""
        size = reduce.operands[0].array_shape.size
        mine = elementwise_cone(reduce.operands, size)
        theirs = (m.operands for m in group.members if m.op == "reduce")
        return any(mine & elementwise_cone(operands, size) for operands in theirs)

    def _may_store(self, instruction: Instruction, group: Group) -> bool:
        """Whether the group's plan has each element of the value at the index where it would be
        stored: at that of its other outputs, or of the rows and elements that it reduces."""
        if group.hero is not None:
            return False
        dimensions = result_dimensions(instruction)
        rows = rows_of(instruction) if instruction.op == "reduce" else group.rows
        if rows is None:
            return dimensions == group.dimensions and self._readings.is_straight(instruction, group)
        if dimensions == rows.row_dimensions:
            return True
        readers = self._readings.readers(instruction, group)
        along = all(u.op == "reduce" or opdef.is_elementwise(u) for u in readers)
        return along and dimensions in rows.output_dimensions

    def _makes_cycle(self, instruction: Instruction, group: Group) -> bool:
        """Whether the group needs anything that a reader outside of it makes of the value."""
        needed = self._needed(group)
        readers = [u for u in self._graph.users[instruction] if u not in group.members]
        # A reader inside may be copied into other groups too.
        groups = {g for u in self._graph.users[instruction] for g in self._groups_with.get(u, ())}
        readers += [root for g in groups - {group} for root in g.roots]
        return self._graph.holds(needed, readers)

    def _needed(self, group: Group) -> int:
        """A bit set of what must be there before the group can run. Where one root of another
        group is needed, all of its roots are."""
        needed = self._graph.all_ancestors(group.members)
        waiting = [g for g in self.groups if len(g.roots) > 1 and g is not group]
        while True:
            found = [g for g in waiting if self._graph.holds(needed, g.roots)]
            if not found:
                return needed
            for other in found:
                needed |= self._graph.all_ancestors(other.roots)
            waiting = [g for g in waiting if g not in found]
