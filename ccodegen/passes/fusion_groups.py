"""Decides which instructions become one kernel. Changes nothing.

Consumers first: an instruction joins the group of its readers where all of them are in one group
that can take it; it is copied into several groups where it costs nothing to compute; otherwise it
begins a group of its own, as its output. What a group may hold is what `lower` has a plan for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from operator import or_

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Computation, Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.pad import is_frame
from ccodegen.passes.fusion_cuts import asks_for_places, cuts_rows, last_run
from ccodegen.passes.fusion_group import (
    CONTRACTIONS,
    Group,
    Rows,
    is_fusible,
    is_written_out,
    result_dimensions,
    rows_of,
)
from ccodegen.passes.fusion_reads import (
    MOVEMENT,
    elementwise_cone,
    fits_before,
    interleaves,
    is_along_rows,
    is_dear_to_repeat,
    is_far_columns,
    is_free,
    is_per_row,
    is_scattered,
    is_window,
    joins_coordinates,
    reads_nothing,
    row_length,
    spreads_rows,
    turns_last,
)
from ccodegen.support.decisions import decided

# Readers that take each part of a concatenate in a range of their own indices.
_BY_RANGES = MOVEMENT | {"concatenate", "pad", "reduce"}
_MOST_MEMBERS = 400
# Members that are not straight are evaluated by recursion, of so many levels.
_DEEPEST = 64
_MOST_INPUTS = 24
_SMALL_CONCATENATE = 1024
_MOST_CONCATENATED = 8
_OFTEN = 16
_SHORT_ROW = 32  # elements: such rows are turned into lanes, from wherever they lie
# How often the code of a kernel may hold a member. Slices of concatenates of slices … would
# double it with each. Twice as often what is only moved.
_MOST_PLACES = 6


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
        self._vectors = vectors
        self._users = computation.users
        self._kept = {computation.root, *computation.side_roots}
        self._groups_with: dict[Instruction, list[Group]] = {}
        self._ancestors = _ancestor_sets(computation)
        self._sources = _source_sets(computation)
        self.groups: list[Group] = []

    def place(self, instruction: Instruction) -> None:
        users = self._users[instruction]
        groups = list(dict.fromkeys(g for u in users for g in self._groups_with.get(u, ())))
        obstacles = [self._obstacle(instruction, group) for group in groups]
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
        group.members[instruction] = None
        group.straight.add(instruction)
        group.places[instruction] = frozenset({0})
        if instruction.op in CONTRACTIONS | {"dynamic-update-slice", "concatenate"}:
            group.hero = instruction
        if instruction.op == "reduce":
            group.rows = rows_of(instruction)
        self._groups_with.setdefault(instruction, []).append(group)
        self.groups.append(group)

    def _join(self, instruction: Instruction, group: Group) -> None:
        group.places[instruction] = self._places(instruction, group)
        group.members[instruction] = None
        self._groups_with.setdefault(instruction, []).append(group)
        if self._is_straight(instruction, group):
            group.straight.add(instruction)
        else:
            group.depths[instruction] = self._depth(instruction, group)
        if any(u is group.hero or u in group.before for u in self._users[instruction]):
            group.before.add(instruction)
        cut = self._cut(instruction, group)
        if instruction.op == "reshape":
            cut = self._cut_by(instruction, group, bool(cut))
        if cut:
            group.cut[instruction] = cut
        if instruction.op in CONTRACTIONS:
            group.hero = instruction
        if instruction.op == "reduce":
            group.rows = rows_of(instruction)

    def _is_straight(self, instruction: Instruction, group: Group) -> bool:
        if instruction.array_shape.dimensions != group.dimensions:
            return False
        readers = [u for u in self._users[instruction] if u in group.members]
        return all(u in group.straight and opdef.is_elementwise(u) for u in readers)

    def _depth(self, instruction: Instruction, group: Group) -> int:
        return 1 + max(group.depths.get(u, 0) for u in self._users[instruction])

    def _places(self, instruction: Instruction, group: Group) -> frozenset[int]:
        """The indices at which the group would read the instruction: those of its elementwise
        readers, and one of its own for each index of each other reader."""
        if isinstance(instruction.shape, ArrayShape) and instruction.array_shape.rank == 0:
            return frozenset({0})
        found: set[int] = set()
        for user in self._users[instruction]:
            places = group.places.get(user, frozenset())
            if opdef.is_elementwise(user):
                found |= places
            else:
                found.update(hash((self._number(user), place)) for place in places)
        return frozenset(found)

    def _obstacle(self, instruction: Instruction, group: Group) -> str:
        """Why the group's plan cannot compute the instruction too, at no undue cost; nothing where
        it can."""
        is_deep = self._depth(instruction, group) > _DEEPEST
        if (len(group.members) >= _MOST_MEMBERS or is_deep) and not is_free(instruction):
            return "the reader's kernel has too many members, or they read each other too deep"
        most = _MOST_PLACES * (2 if instruction.op in _BY_RANGES else 1)
        if len(self._places(instruction, group)) > most:
            return "its readers' code would hold it in too many places"
        own = (o for o in instruction.operands if not is_written_out(o))
        if self._count_inputs({*group.inputs(), *own}) > _MOST_INPUTS:
            return "the reader's kernel would have too many inputs"
        if instruction.op in CONTRACTIONS:
            fits = self._fits_as_hero(instruction, group)
            return "" if fits else "what reads it is no epilogue of a contraction"
        if instruction.op == "reduce":
            fits = self._fits_as_reduce(instruction, group)
            return "" if fits else "what reads it is not over the same rows"
        if instruction.op == "dynamic-update-slice":
            return "it is done in place"
        if instruction.op == "concatenate" and not self._fits_as_parts(instruction, group):
            return "each element would ask in which operand it lies"
        reads_again = self._vectors and _reads_rows_again(group)
        if self._vectors and is_scattered(instruction):
            is_long = row_length(instruction) > _SHORT_ROW
            if (reads_again and is_long) or self._is_read_often(instruction):
                return "its elements do not lie side by side, and are read more than once"
        if reads_again and turns_last(instruction):
            return "its rows, which are read more than once, are columns of its operand"
        if self._vectors and asks_for_places(instruction, self._cut(instruction, group)):
            return "a reshape that reads it cuts its rows"
        readers = [u for u in self._users[instruction] if u in group.members]
        dear = next((u for u in readers if not self._may_read(u, instruction, group)), None)
        return "" if dear is None else f"{dear.name} would compute its elements again"

    def _cut(self, instruction: Instruction, group: Group) -> frozenset[int]:
        """The dimensions of an instruction that its readers in the group cut."""
        none = frozenset[int]()
        return none.union(*(group.cut.get(u, none) for u in self._users[instruction]))

    def _cut_by(self, reshape: Instruction, group: Group, is_cut: bool) -> frozenset[int]:
        """The dimensions of the operand that a reshape cuts, which its readers may cut already."""
        if reshape in group.before and group.hero and group.hero.op in CONTRACTIONS:
            return frozenset()  # whose loops are its own
        readers = [u for u in self._users[reshape] if u in group.members]
        if is_cut or cuts_rows(reshape, readers, reduces=group.rows is not None):
            return last_run(reshape)
        return frozenset()

    def _count_inputs(self, inputs: Iterable[Instruction]) -> int:
        """How many arrays a group reads that has these inputs now: those that are yet to be placed
        may become members themselves, if they are cheap to compute element by element."""
        count = sources = 0
        for value in inputs:
            is_placed = value in self._groups_with
            count += not reads_nothing(value)  # those will be members
            sources |= 1 << self._number(value) if is_placed else self._sources[value]
        return min(count, sources.bit_count())

    def _is_read_often(self, value: Instruction) -> bool:
        """Whether a broadcast repeats the elements many times."""
        size = value.array_shape.size
        pending, seen = [value], {value}
        while pending:
            for user in self._users[pending.pop()]:
                if user in seen or not isinstance(user.shape, ArrayShape):
                    continue
                seen.add(user)
                count = user.array_shape.size
                if isinstance(user.attributes, Broadcast) and count >= _OFTEN * size:
                    return True
                pending += [user] if count == size else []
        return False

    def _fits_as_hero(self, hero: Instruction, group: Group) -> bool:
        """A contraction takes what is computed elementwise from its result as an epilogue, with
        edges around it."""
        plain = group.hero is None and group.rows is None
        asks = any(_is_large_concatenate(member) for member in group.members)
        fits = self._is_straight(hero, group) or self._is_framed(hero, group)
        return plain and not asks and fits

    def _is_framed(self, hero: Instruction, group: Group) -> bool:
        """Whether the group stores nothing but what is made elementwise of it, with edges."""
        root = group.roots[0]
        if len(group.roots) > 1 or not is_frame(root):
            return False
        pending, seen = [hero], {hero, root}
        while pending:
            value = pending.pop()
            readers = [u for u in self._users[value] if u in group.members]
            for user in readers:
                same = result_dimensions(user) == result_dimensions(hero)
                straight = same and opdef.is_elementwise(user)
                if not straight and (user is not root or value is root.operands[1]):
                    return False
            new = [u for u in readers if u not in seen]
            seen.update(new)
            pending += new
        return True

    def _fits_as_reduce(self, reduce: Instruction, group: Group) -> bool:
        """A reduce joins readers over the same rows, or over its own result elementwise."""
        rows = rows_of(reduce)
        if group.hero is not None or (group.rows is not None and group.rows != rows):
            return False
        if any(result_dimensions(r) not in rows.output_dimensions for r in group.roots):
            return False
        if is_far_columns(reduce) and any(self._waits(m, reduce) for m in group.members):
            return False
        return self._reads_by_rows(reduce, group, rows)

    def _waits(self, member: Instruction, reduce: Instruction) -> bool:
        """Whether a reduce needs the result of another one."""
        is_reduce = member.op == "reduce" and member is not reduce
        return is_reduce and bool(self._ancestors[member] >> self._number(reduce) & 1)

    def _fits_as_parts(self, concatenate: Instruction, group: Group) -> bool:
        """Whether an element may ask in which operand it lies: where there are few elements, or
        where loops are cut so that none asks, which those around a hero are not."""
        if not _is_large_concatenate(concatenate):
            return True
        if not self._vectors or len(concatenate.operands) > _MOST_CONCATENATED:
            return False
        if group.hero is not None and group.hero.op in CONTRACTIONS:
            return False
        pending, seen = [concatenate], {concatenate}
        while pending:
            value = pending.pop()
            for user in self._users[value]:
                known = user in seen or joins_coordinates(value, user)
                if known or user not in group.members:
                    continue
                if user.op not in _BY_RANGES and not opdef.is_elementwise(user):
                    return False
                if turns_last(user) and interleaves(concatenate):
                    return False  # each vector would be gathered from several operands
                seen.add(user)
                pending.append(user)
        return True

    def _reads_by_rows(self, reduce: Instruction, group: Group, rows: Rows) -> bool:
        """Whether all that the group computes from the reduce is per row, or spread over rows."""
        pending, seen = [reduce], {reduce}
        while pending:
            value = pending.pop()
            for user in self._users[value]:
                if user not in group.members or user in seen:
                    continue
                if not (spreads_rows(user, rows) or is_along_rows(user, rows)):
                    return False
                seen.add(user)
                pending.append(user)
        return True

    def _may_read(self, user: Instruction, value: Instruction, group: Group) -> bool:
        """Whether a reader may compute the value itself each time it needs an element."""
        if group.hero is not None and (user is group.hero or user in group.before):
            is_update = user.op == "dynamic-update-slice" and value is user.operands[1]
            if is_update and self._reads_overwritten(value, user):
                return False
            if not fits_before(group.hero, value):
                return False
        if user.op == "reduce":
            rank = value.array_shape.rank
            return rank == 0 or value.array_shape.dimensions == rows_of(user).dimensions
        if isinstance(user.attributes, Broadcast) and is_dear_to_repeat(value, user):
            return is_per_row(value, user)
        if user.op in ("gather", "reduce-window", "dynamic-update-slice"):
            moved = value.op in MOVEMENT or value.op == "iota"
            return moved or joins_coordinates(value, user)
        return True

    def _reads_overwritten(self, update: Instruction, hero: Instruction) -> bool:
        """Whether making the update reads elements that dynamic-update-slice may have overwritten
        before. Not so where it is made elementwise of the very window that is updated."""
        target = self._ancestors[hero.operands[0]]
        pending = [update]
        while pending:
            part = pending.pop()
            if part is hero.operands[0]:
                return True
            reads = self._ancestors[part] & target == target
            if not reads or not is_fusible(part) or is_window(part, hero):
                continue
            same = part.array_shape.dimensions == update.array_shape.dimensions
            if not same or not opdef.is_elementwise(part):
                return True
            pending += part.operands
        return False

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
            if not alike or not self._shares(reduce, group) or self._obstacle(reduce, group):
                continue
            if not self._makes_cycle(reduce, group):
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
            return dimensions == group.dimensions and self._is_straight(instruction, group)
        if dimensions == rows.row_dimensions:
            return True
        readers = [u for u in self._users[instruction] if u in group.members]
        along = all(u.op == "reduce" or opdef.is_elementwise(u) for u in readers)
        return along and dimensions in rows.output_dimensions

    def _makes_cycle(self, instruction: Instruction, group: Group) -> bool:
        """Whether the group needs anything that a reader outside of it makes of the value."""
        needed = self._needed(group)
        readers = [u for u in self._users[instruction] if u not in group.members]
        # A reader inside may be copied into other groups too.
        groups = {g for u in self._users[instruction] for g in self._groups_with.get(u, ())}
        readers += [root for g in groups - {group} for root in g.roots]
        return any(needed >> self._number(r) & 1 for r in readers)

    def _needed(self, group: Group) -> int:
        """A bit set of what must be there before the group can run. Where one root of another
        group is needed, all of its roots are."""
        needed = self._all_ancestors(group.members)
        waiting = [g for g in self.groups if len(g.roots) > 1 and g is not group]
        while True:
            found = [g for g in waiting if any(needed >> self._number(r) & 1 for r in g.roots)]
            if not found:
                return needed
            for other in found:
                needed |= self._all_ancestors(other.roots)
            waiting = [g for g in waiting if g not in found]

    def _all_ancestors(self, instructions: Iterable[Instruction]) -> int:
        return functools.reduce(or_, (self._ancestors[i] for i in instructions))

    def _number(self, instruction: Instruction) -> int:
        return self._ancestors[instruction].bit_length() - 1


def _reads_rows_again(group: Group) -> bool:
    """Whether it has several reduces, or one and stores rows that it reads for it."""
    if group.rows is None:
        return False
    reduces = sum(member.op == "reduce" for member in group.members)
    stored = sum(result_dimensions(root) == group.rows.dimensions for root in group.roots)
    return reduces + stored > 1


def _is_large_concatenate(instruction: Instruction) -> bool:
    return (
        instruction.op == "concatenate" and instruction.array_shape.size > _SMALL_CONCATENATE
    )


def _ancestor_sets(computation: Computation) -> dict[Instruction, int]:
    """Per instruction a bit set of itself, which is the highest bit, and all it depends on."""
    found: dict[Instruction, int] = {}
    for number, instruction in enumerate(computation.instructions):
        bits = 1 << number
        for before in (*instruction.operands, *instruction.control_predecessors):
            bits |= found[before]
        found[instruction] = bits
    return found


def _source_sets(computation: Computation) -> dict[Instruction, int]:
    """Per instruction a bit set, by the same numbers, of the arrays that it is made of element by
    element, or of itself alone."""
    found: dict[Instruction, int] = {}
    for number, instruction in enumerate(computation.instructions):
        moved = instruction.op in MOVEMENT or instruction.op == "concatenate"
        cheap = moved or opdef.is_elementwise(instruction)
        if is_written_out(instruction) or reads_nothing(instruction):
            found[instruction] = 0
        elif cheap and is_fusible(instruction):
            found[instruction] = functools.reduce(or_, (found[o] for o in instruction.operands), 0)
        else:
            found[instruction] = 1 << number
    return found
