"""How a group would read an instruction that joins it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.movement import SAME_VALUES
from ccodegen.passes.fusion_cuts import cuts_rows, last_run
from ccodegen.passes.fusion_graph import Graph
from ccodegen.passes.fusion_group import CONTRACTIONS, Group, rows_of
from ccodegen.passes.fusion_reads import MOVEMENT, is_moved, turns_last


class Readings:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def join(self, instruction: Instruction, group: Group) -> None:
        """Makes it a member, and says in the group how it is read."""
        group.places[instruction] = self.places(instruction, group)
        group.times[instruction] = self.times(instruction, group)
        group.add(instruction)
        if self.is_straight(instruction, group):
            group.straight.add(instruction)
        else:
            group.depths[instruction] = self.depth(instruction, group)
        if any(u is group.hero or u in group.before for u in self._graph.users[instruction]):
            group.before.add(instruction)
        cut = self.cut(instruction, group)
        if instruction.op == "reshape":
            cut = self._cut_by(instruction, group, bool(cut))
        if cut:
            group.cut[instruction] = cut
        if instruction.op in CONTRACTIONS:
            group.hero = instruction
        if instruction.op == "reduce":
            group.rows = rows_of(instruction)

    def readers(self, instruction: Instruction, group: Group) -> list[Instruction]:
        return [u for u in self._graph.users[instruction] if u in group.members]

    def is_straight(self, instruction: Instruction, group: Group) -> bool:
        if instruction.array_shape.dimensions != group.dimensions:
            return False
        readers = self.readers(instruction, group)
        return all(u in group.straight and opdef.is_elementwise(u) for u in readers)

    def depth(self, instruction: Instruction, group: Group) -> int:
        return 1 + max(group.depths.get(u, 0) for u in self._graph.users[instruction])

    def places(self, instruction: Instruction, group: Group) -> frozenset[int]:
        """The indices at which the group would read the instruction: those of its elementwise
        readers, and what each other reader makes of each of its own."""
        if isinstance(instruction.shape, ArrayShape) and instruction.array_shape.rank == 0:
            return frozenset({0})
        found: set[int] = set()
        for user in self._graph.users[instruction]:
            places = group.places.get(user, frozenset())
            if opdef.is_elementwise(user):
                found |= places
            else:
                found.update(hash((self._map(user), place)) for place in places)
        return frozenset(found)

    def _map(self, user: Instruction) -> object:
        """How a reader makes indices of its operands of its own: known to be the same for two that
        move elements likewise."""
        if user.op not in SAME_VALUES:
            return self._graph.number(user)
        return user.op, user.attributes, user.shape, user.operands[0].shape

    def times(self, instruction: Instruction, group: Group) -> float:
        """How often the group would compute an element, on average. Elementwise readers at the same
        places need it once; slices need a part. What is broadcast is computed outside of a loop."""
        times, size = 0.0, max(instruction.array_shape.size, 1)
        seen: set[int] = set()
        for user in self.readers(instruction, group):
            places = group.places[user]
            if user.op == "broadcast":
                times = max(times, 1)
            elif user.op == "slice":
                times += group.times[user] * user.array_shape.size / size
            elif not opdef.is_elementwise(user):
                times += group.times[user]
            elif not places <= seen:
                times += group.times[user]
                seen |= places
        return times

    def cut(self, instruction: Instruction, group: Group) -> frozenset[int]:
        """The dimensions of an instruction that its readers in the group cut."""
        none = frozenset[int]()
        return none.union(*(group.cut.get(u, none) for u in self._graph.users[instruction]))

    def _cut_by(self, reshape: Instruction, group: Group, is_cut: bool) -> frozenset[int]:
        """The dimensions of the operand that a reshape cuts, which its readers may cut already."""
        if reshape in group.before and group.hero and group.hero.op in CONTRACTIONS:
            return frozenset()  # whose loops are its own
        readers = self.readers(reshape, group)
        if is_cut or cuts_rows(reshape, readers, reduces=group.rows is not None):
            return last_run(reshape)
        return frozenset()

    def is_turned(self, value: Instruction, group: Group) -> bool:
        """Whether a transpose in the group makes columns of its rows."""
        return any(map(turns_last, self._reached(value, group, _keeps_elements)))

    def is_in_window(self, value: Instruction, group: Group) -> bool:
        """Whether a window in the group reads it, or reads what is only moved."""
        return any(u.op == "reduce-window" for u in self._reached(value, group, is_moved))

    def _reached(
        self, value: Instruction, group: Group, through: Callable[[Instruction], bool]
    ) -> Iterator[Instruction]:
        """Members that read the value, or what others make of it."""
        pending, seen = [value], {value}
        while pending:
            new = [u for u in self.readers(pending.pop(), group) if u not in seen]
            yield from new
            seen.update(new)
            pending += filter(through, new)


def _keeps_elements(instruction: Instruction) -> bool:
    """Whether each element is made of one of each operand, wherever that lies."""
    return opdef.is_elementwise(instruction) or instruction.op in MOVEMENT | {"concatenate", "pad"}
