"""Why a group's kernel cannot compute an instruction that it reads, or should not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ccodegen.hlo import opdef
from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.shape import ArrayShape
from ccodegen.loop.cost import FAR
from ccodegen.ops.attributes_of import attributes_of
from ccodegen.ops.contraction import contraction
from ccodegen.ops.cost import DEAR, function_size, work
from ccodegen.ops.gather import Gather
from ccodegen.ops.lines import has_few_features
from ccodegen.ops.movement import Broadcast
from ccodegen.ops.pad import is_frame
from ccodegen.passes.fusion_cuts import asks_for_places
from ccodegen.passes.fusion_graph import Graph
from ccodegen.passes.fusion_group import (
    CONTRACTIONS,
    Group,
    Rows,
    is_fusible,
    is_written_out,
    result_dimensions,
    rows_of,
)
from ccodegen.passes.fusion_readings import Readings
from ccodegen.passes.fusion_reads import (
    MOVEMENT,
    OFTEN,
    fits_before,
    interleaves,
    is_along_rows,
    is_dear_to_repeat,
    is_far_columns,
    is_free,
    is_looked_up,
    is_moved,
    is_narrow,
    is_per_row,
    is_read_in_part,
    is_scattered,
    is_window,
    joins_coordinates,
    lies_apart,
    makes_alone,
    reads_nothing,
    repeats_rows,
    row_length,
    spreads_rows,
    turns_last,
    work_to_make,
)
from ccodegen.support.element_type import ElementType

# Readers that take each part of a concatenate in a range of their own indices.
_BY_RANGES = MOVEMENT | {"concatenate", "pad", "reduce"}
_MOST_MEMBERS = 400
# Members that are not straight are evaluated by recursion, of so many levels.
_DEEPEST = 64
_MOST_INPUTS = 24
_SMALL_CONCATENATE = 1024
_MOST_CONCATENATED = 8
_SHORT_ROW = 32  # elements: such rows are turned into lanes, from wherever they lie
_LONG_ROW = 512  # elements, from which on it does not matter what takes long once a row
_MANY_ROWS = 64
_FEW_SUMS = 16  # side by side: fewer fill no vector
# Elements of rows that a gather takes, up to which vectors of what is computed of them are better
# made of several rows: of narrow ones, of functions, and of functions of narrow ones.
_NARROW_ROW = 16
_ROW_OF_FUNCTIONS = 24
_NARROW_ROW_OF_FUNCTIONS = 64
# How often the code of a kernel may hold a member. Slices of concatenates of slices … would
# double it with each. Twice as often what is only moved.
_MOST_PLACES = 6
# What a kernel may compute again of an element, in cheap ops: a dear op once, as differences do,
# and little more; more where caches do not keep what is stored.
_MOST_AGAIN = 1.25 * DEAR
_MOST_AGAIN_FAR = 5 * DEAR
# All become part of one loop, or there are no vectors; compilers take more than in proportion to
# its length: gcc took 4.5 s for 48 in one kernel, and takes one for the same in two.
_MOST_FUNCTIONS = 30
_AS_FUNCTIONS = 3 * DEAR
_OTHER_WIDTH = "its readers are of another width, and vectors would be of neither"


class Obstacles:
    """`is_placed`: whether an instruction has been given its groups. `vectors`: whether the target
    has any."""

    def __init__(
        self,
        graph: Graph,
        readings: Readings,
        is_placed: Callable[[Instruction], bool],
        vectors: bool,
    ) -> None:
        self._graph, self._readings, self._vectors = graph, readings, vectors
        self._is_placed = is_placed

    def between(self, instruction: Instruction, group: Group) -> str:
        """Why the group's plan cannot compute the instruction too, at no undue cost; nothing where
        it can."""
        is_deep = self._readings.depth(instruction, group) > _DEEPEST
        if (len(group.members) >= _MOST_MEMBERS or is_deep) and not is_free(instruction):
            return "the reader's kernel has too many members, or they read each other too deep"
        most = _MOST_PLACES * (2 if instruction.op in _BY_RANGES else 1)
        if len(self._readings.places(instruction, group)) > most:
            return "its readers' code would hold it in too many places"
        own = (o for o in instruction.operands if not is_written_out(o))
        if self._count_inputs(group.read.union(own)) > _MOST_INPUTS:
            return "the reader's kernel would have too many inputs"
        if instruction.op in CONTRACTIONS:
            if not self._fits_as_hero(instruction, group):
                return "what reads it is no epilogue of a contraction"
            if self._vectors and _calls_for_few_sums(instruction, group):
                return "its readers would call functions for few sums at a time"
            return _OTHER_WIDTH if self._vectors and _changes_width(instruction, group) else ""
        if instruction.op == "reduce":
            if not self._fits_as_reduce(instruction, group):
                return "what reads it is not over the same rows"
            calls = self._vectors and _calls_for_each_row(instruction, group)
            return "its readers would call functions for one row at a time" if calls else ""
        if instruction.op == "dynamic-update-slice":
            return "it is done in place"
        if instruction.op == "concatenate" and not self._fits_as_parts(instruction, group):
            return "each element would ask in which operand it lies"
        if self._vectors and (slow := self._of_vectors(instruction, group)):
            return slow
        again = not is_moved(instruction) or (self._vectors and _widens_float(instruction))
        if again and self._readings.is_in_window(instruction, group):
            return "a window would compute its elements again"
        readers = self._readings.readers(instruction, group)
        dear = next((u for u in readers if not self._may_read(u, instruction, group)), None)
        return "" if dear is None else f"{dear.name} would compute its elements again"

    def _of_vectors(self, instruction: Instruction, group: Group) -> str:
        """Why vectors of the group's elements would be slow to make; nothing where they are not."""
        readings = self._readings
        if self._is_dear_to_compute_again(instruction, group):
            return "its readers would compute it several times"
        if self._functions(instruction, group) > _MOST_FUNCTIONS:
            return "its readers' kernel calls many functions"
        if is_looked_up(instruction):
            return "its elements are looked up one by one"
        if instruction.op == "reduce-window" and readings.is_turned(instruction, group):
            return "its rows are columns of what reads it"
        if _changes_width(instruction, group):
            return _OTHER_WIDTH
        is_apart = instruction.op == "gather" or lies_apart(instruction)
        if is_apart and (slow := self._of_apart(instruction, group)):
            return slow
        if asks_for_places(instruction, readings.cut(instruction, group)):
            return "a reshape that reads it cuts its rows"
        return ""

    def _of_apart(self, instruction: Instruction, group: Group) -> str:
        """The same, of elements that do not lie side by side in the operand."""
        if instruction.op == "gather" and _makes_short_vectors(instruction, group):
            return "its rows are short, and vectors are made of several that lie side by side"
        if self._is_read_often(instruction):
            return "its elements do not lie side by side, and are read many times"
        is_long = is_scattered(instruction) and row_length(instruction) > _SHORT_ROW
        if (is_long or turns_last(instruction)) and _reads_rows_again(group):
            return "its elements do not lie side by side, and are read more than once"
        if instruction.op != "gather" and self._is_in_epilogue(instruction, group):
            return "its elements, of which an epilogue makes vectors, do not lie side by side"
        return ""

    def _is_dear_to_compute_again(self, instruction: Instruction, group: Group) -> bool:
        """Whether to compute its elements as often as they are read takes longer than to store and
        load them."""
        again = self._readings.times(instruction, group) - 1
        if again <= 0 or is_moved(instruction):
            return False
        most = _MOST_AGAIN_FAR if instruction.array_shape.bytes >= FAR else _MOST_AGAIN
        return again * work_to_make(instruction) > most

    def _functions(self, new: Instruction, group: Group) -> int:
        """The size of those that the kernel's code would call with a new one; 0 if that is none."""
        if not function_size(new):
            return 0
        calls = {**group.places, new: self._readings.places(new, group)}
        return sum(function_size(m) * len(places) for m, places in calls.items())

    def _count_inputs(self, inputs: Iterable[Instruction]) -> int:
        """How many arrays a group reads that has these inputs now: those that are yet to be placed
        may become members themselves, if they are cheap to compute element by element."""
        count = sources = 0
        for value in inputs:
            is_placed = self._is_placed(value)
            count += not reads_nothing(value)  # those will be members
            sources |= 1 << self._graph.number(value) if is_placed else self._graph.sources[value]
        return min(count, sources.bit_count())

    def _is_read_often(self, value: Instruction) -> bool:
        """Whether a broadcast repeats the rows many times."""
        size = value.array_shape.size
        pending, seen = [value], {value}
        while pending:
            for user in self._graph.users[pending.pop()]:
                if user in seen or not isinstance(user.shape, ArrayShape):
                    continue
                seen.add(user)
                count = user.array_shape.size
                if repeats_rows(user) and count >= OFTEN * size:
                    return True
                pending += [user] if count == size else []
        return False

    def _fits_as_hero(self, hero: Instruction, group: Group) -> bool:
        """A contraction takes what is computed elementwise from its result as an epilogue, with
        edges around it, of what lies side by side."""
        plain = group.hero is None and group.rows is None
        asks = any(_is_large_concatenate(member) for member in group.members)
        apart = self._vectors and any(map(lies_apart, group.members))
        fits = self._readings.is_straight(hero, group) or self._is_framed(hero, group)
        return plain and not asks and not apart and fits

    def _is_in_epilogue(self, instruction: Instruction, group: Group) -> bool:
        if group.hero is None or group.hero.op not in CONTRACTIONS:
            return False
        readers = self._readings.readers(instruction, group)
        return any(u is not group.hero and u not in group.before for u in readers)

    def _is_framed(self, hero: Instruction, group: Group) -> bool:
        """Whether the group stores nothing but what is made elementwise of it, with edges."""
        root = group.roots[0]
        if len(group.roots) > 1 or not is_frame(root):
            return False
        pending, seen = [hero], {hero, root}
        while pending:
            value = pending.pop()
            readers = self._readings.readers(value, group)
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
        if rows.are_in_pieces and any(self._spreads(m, reduce, rows) for m in group.members):
            return False
        return self._reads_by_rows(reduce, group, rows)

    def _waits(self, member: Instruction, reduce: Instruction) -> bool:
        """Whether a reduce needs the result of another one."""
        is_reduce = member.op == "reduce" and member is not reduce
        return is_reduce and self._graph.holds(self._graph.ancestors[member], [reduce])

    def _spreads(self, member: Instruction, reduce: Instruction, rows: Rows) -> bool:
        """Whether it makes whole rows of the result of a reduce."""
        makes_rows = result_dimensions(member) == rows.dimensions
        return makes_rows and self._graph.holds(self._graph.ancestors[member], [reduce])

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
            for user in self._graph.users[value]:
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
            for user in self._graph.users[value]:
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
        is_broadcast = isinstance(user.attributes, Broadcast)
        if is_broadcast and is_dear_to_repeat(value, user, self._vectors):
            return is_per_row(value, user)
        if user.op in ("gather", "dynamic-update-slice"):
            return is_moved(value) or joins_coordinates(value, user) or is_read_in_part(value, user)
        again = self._vectors and not is_moved(value) and self._is_looked_at(user, value, group)
        return not again

    def _is_looked_at(self, user: Instruction, value: Instruction, group: Group) -> bool:
        """Whether a reader hands the value on as coordinates of a gather, which would make them one
        by one, or again and again."""
        pending, seen = [user], {user}
        while pending:
            moved = pending.pop()
            if moved.op not in MOVEMENT and moved.op != "concatenate":
                continue
            for reader in self._readings.readers(moved, group):
                is_asked = reader.op == "gather" and reader.operands[1] is moved
                if is_asked and makes_alone(reader, value):
                    return True
                if reader not in seen:
                    seen.add(reader)
                    pending.append(reader)
        return False

    def _reads_overwritten(self, update: Instruction, hero: Instruction) -> bool:
        """Whether making the update reads elements that dynamic-update-slice may have overwritten
        before. Not so where it is made elementwise of the very window that is updated."""
        target = self._graph.ancestors[hero.operands[0]]
        pending = [update]
        while pending:
            part = pending.pop()
            if part is hero.operands[0]:
                return True
            reads = self._graph.ancestors[part] & target == target
            if not reads or not is_fusible(part) or is_window(part, hero):
                continue
            same = part.array_shape.dimensions == update.array_shape.dimensions
            if not same or not opdef.is_elementwise(part):
                return True
            pending += part.operands
        return False


def _widens_float(instruction: Instruction) -> bool:
    """Whether it makes words of narrow floats, which compilers do one by one where a window reads
    them."""
    if instruction.op != "convert":
        return False
    narrow = instruction.operands[0].array_shape
    return narrow.element_type.is_float and is_narrow(narrow)


def _changes_width(fold: Instruction, group: Group) -> bool:
    """Whether the group makes floats that loops add up narrower or wider, which compilers do not do
    in vectors around such a loop. Truth values are masks of any width."""
    if not isinstance(fold.shape, ArrayShape) or not fold.shape.element_type.is_float:
        return False
    is_loop = fold.op == "convolution" and has_few_features(fold)
    if not is_loop and fold.op != "reduce-window":
        return False
    for member in group.members:
        if member.op == "convert":
            source, to = (v.array_shape.element_type for v in (member.operands[0], member))
            if source is not ElementType.PRED and source.bytes != to.bytes:
                return True
    return False


def _reads_rows_again(group: Group) -> bool:
    """Whether it has several reduces, or one and stores rows that it reads for it."""
    if group.rows is None:
        return False
    reduces = sum(member.op == "reduce" for member in group.members)
    stored = sum(result_dimensions(root) == group.rows.dimensions for root in group.roots)
    return reduces + stored > 1


def _makes_short_vectors(gather: Instruction, group: Group) -> bool:
    """Whether the group computes so much of each row that a gather takes that it pays to have the
    rows side by side first. Columns are added up row by row in any case."""
    if group.rows is not None and group.rows.keeps_last:
        return False
    (row,) = attributes_of(gather, Gather).slice_sizes[-1:] or (1,)
    if row < 2:
        return False
    narrow = is_narrow(gather.array_shape)
    if _computes_much(group):
        return row <= (_NARROW_ROW_OF_FUNCTIONS if narrow else _ROW_OF_FUNCTIONS)
    return narrow and row <= _NARROW_ROW and any(map(work, group.members))


def _calls_for_each_row(reduce: Instruction, group: Group) -> bool:
    """Whether the group makes nothing but values per row, with functions that vectors take many of,
    and rows are not so long that one at a time does not matter."""
    rows = rows_of(reduce)
    if group.rows is not None or rows.keeps_last:
        return False
    if any(result_dimensions(root) != rows.row_dimensions for root in group.roots):
        return False
    count = math.prod(rows.row_dimensions)
    is_short = _SHORT_ROW * count <= math.prod(rows.dimensions) < _LONG_ROW * count
    return is_short and count >= _MANY_ROWS and _computes_much(group)


def _calls_for_few_sums(hero: Instruction, group: Group) -> bool:
    """The same of a contraction, in whose kernel so few sums lie side by side that they fill no
    vector."""
    if hero.array_shape.size < _MANY_ROWS:
        return False
    shape = contraction(hero)
    is_column = hero.op == "dot" and bool(shape.rows) and not shape.columns
    is_narrow = is_column or hero.array_shape.dimensions[-1] < _FEW_SUMS
    return is_narrow and math.prod(shape.depth) < _LONG_ROW and _computes_much(group)


def _computes_much(group: Group) -> bool:
    """Whether it calls functions, or takes as long as if it did."""
    members = group.members
    return any(map(function_size, members)) or sum(map(work, members)) >= _AS_FUNCTIONS


def _is_large_concatenate(instruction: Instruction) -> bool:
    return (
        instruction.op == "concatenate" and instruction.array_shape.size > _SMALL_CONCATENATE
    )
