"""While loops whose state is a tuple that is read element by element."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ccodegen.hlo.attributes import SliceDimension
from ccodegen.hlo.ir import Computation, Instruction, post_order
from ccodegen.hlo.shape import ArrayShape, Shape, TupleShape
from ccodegen.ops.build import element_of, slice_size, tuple_of
from ccodegen.ops.control import While
from ccodegen.ops.elementwise import Compare
from ccodegen.ops.tuples import GetTupleElement
from ccodegen.passes.constants import array_of, integer_range
from ccodegen.passes.effects import is_repeatable
from ccodegen.support.immutable import immutable

_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}


@immutable
class Loop:
    """`next[i]` is what the body makes of state element i."""

    instruction: Instruction
    condition: Computation
    body: Computation

    @property
    def init(self) -> Instruction:
        return self.instruction.operands[0]

    @property
    def next(self) -> tuple[Instruction, ...]:
        return self.body.root.operands

    @property
    def shapes(self) -> tuple[Shape, ...]:
        assert isinstance(self.init.shape, TupleShape)
        return self.init.shape.elements

    def is_invariant(self, index: int) -> bool:
        """Whether each turn hands the element on as it is."""
        return state_index(self.next[index], self.body) == index

    def initial(self, index: int) -> Instruction:
        return element_of(self.instruction, self.init, index)


def as_loop(instruction: Instruction) -> Loop | None:
    """None for other ops, and for loops whose state is used as a whole."""
    attributes = instruction.attributes
    if not isinstance(attributes, While) or instruction.control_predecessors:
        return None
    loop = Loop(instruction, attributes.condition, attributes.body)
    if loop.body.root.op != "tuple" or not isinstance(loop.init.shape, TupleShape):
        return None
    return loop if _reads_elements(loop.condition) and _reads_elements(loop.body) else None


def state_index(instruction: Instruction, computation: Computation) -> int | None:
    """i, if this is element i of the computation's one parameter."""
    attributes = instruction.attributes
    if not isinstance(attributes, GetTupleElement):
        return None
    return attributes.index if instruction.operands[0] is computation.parameters[0] else None


def read_after(computation: Computation, loop: Instruction) -> set[int] | None:
    """The elements that the code behind the loop reads; None: the tuple as a whole."""
    found = set()
    if loop is computation.root or loop in computation.side_roots:
        return None
    for user in computation.users[loop]:
        if not isinstance(user.attributes, GetTupleElement):
            return None
        found.add(user.attributes.index)
    return found


def needed(loop: Loop, wanted: Collection[int], given: Collection[int]) -> set[int]:
    """The elements wanted, and those that the body needs to make them; but for those given."""
    found = set(wanted) - set(given)
    seen: set[Instruction] = set()
    stack = [*loop.body.side_roots, *(loop.next[i] for i in found)]
    while stack:
        instruction = stack.pop()
        if instruction in seen:
            continue
        seen.add(instruction)
        index = state_index(instruction, loop.body)
        if index is None:
            stack.extend((*instruction.operands, *instruction.control_predecessors))
        elif index not in given and index not in found:
            found.add(index)
            stack.append(loop.next[index])
    return found


def with_state(
    computation: Computation,
    shapes: Sequence[Shape],
    stand_in: Callable[[Instruction, Instruction], Instruction | None],
    roots: Sequence[Instruction],
) -> tuple[Computation, tuple[Instruction, ...]]:
    """The computation over a state of other elements, and the new forms of `roots`.

    `stand_in(instruction, new parameter)` replaces an instruction (the reads of state elements
    above all); None: it stays. The new computation's root is the first of the new roots.
    """
    parameter = replace(computation.parameters[0], shape=TupleShape(tuple(shapes)))
    memo = {computation.parameters[0]: parameter}
    for old in post_order((*computation.side_roots, *roots)):
        if old not in memo:
            memo[old] = stand_in(old, parameter) or _over(old, memo)
    new_roots = tuple(memo[r] for r in roots)
    side_roots = tuple(memo[r] for r in computation.side_roots)
    changed = replace(
        computation, parameters=(parameter,), root=new_roots[0], side_roots=side_roots
    )
    return changed, new_roots


def _over(old: Instruction, memo: dict[Instruction, Instruction]) -> Instruction:
    """The instruction over the new forms of its operands."""
    new = old.with_operands(tuple(memo[o] for o in old.operands))
    if not old.control_predecessors:
        return new
    return replace(new, control_predecessors=tuple(memo[c] for c in old.control_predecessors))


def invariant_parts(loop: Loop) -> list[Instruction]:
    """What depends on invariant state alone, operands first; the reads of that state too."""
    found: dict[Instruction, None] = {}
    for instruction in loop.body.instructions:
        index = state_index(instruction, loop.body)
        if index is not None:
            if loop.is_invariant(index):
                found[instruction] = None
        elif _may_move(instruction) and all(o in found for o in instruction.operands):
            found[instruction] = None
    return list(found)


def _may_move(instruction: Instruction) -> bool:
    if instruction.op in ("parameter", "while", "conditional") or instruction.control_predecessors:
        return False
    return isinstance(instruction.shape, ArrayShape) and is_repeatable(instruction)


def with_hoisted(loop: Loop, hoisted: list[Instruction]) -> Loop:
    """The loop with these parts of its body, which are the same in each turn, behind the old
    elements of its state."""
    if not hoisted:
        return loop
    shapes = (*loop.shapes, *(i.shape for i in hoisted))
    condition, _ = _with_more(loop.condition, shapes, [], [loop.condition.root])
    body, following = _with_more(loop.body, shapes, hoisted, [*loop.next, *hoisted])
    body = replace(body, root=tuple_of(loop.body.root, following))
    old = [loop.initial(i) for i in range(len(loop.shapes))]
    new = replace(
        loop.instruction,
        shape=TupleShape(shapes),
        operands=(tuple_of(loop.init, [*old, *_before(loop, hoisted)]),),
        attributes=While(condition, body),
    )
    return Loop(new, condition, body)


def _with_more(
    computation: Computation,
    shapes: tuple[Shape, ...],
    hoisted: list[Instruction],
    roots: list[Instruction],
) -> tuple[Computation, tuple[Instruction, ...]]:
    """The computation with the hoisted instructions read from the last state elements."""
    places = {h: len(shapes) - len(hoisted) + n for n, h in enumerate(hoisted)}

    def stand_in(old: Instruction, parameter: Instruction) -> Instruction | None:
        index = places.get(old, state_index(old, computation))
        return None if index is None else element_of(old, parameter, index)

    return with_state(computation, shapes, stand_in, roots)


def _before(loop: Loop, hoisted: list[Instruction]) -> list[Instruction]:
    """Copies of the hoisted instructions that read the initial state instead."""
    memo: dict[Instruction, Instruction] = {}
    for old in post_order(hoisted):
        index = state_index(old, loop.body)
        if index is not None:
            memo[old] = loop.initial(index)
        elif old is not loop.body.parameters[0]:
            memo[old] = replace(old, operands=tuple(memo[o] for o in old.operands))
    return [memo[h] for h in hoisted]


def trip_count(loop: Loop) -> int | None:
    """The number of turns of `for (i = constant; i < constant; i += constant)`, if it is one."""
    test = loop.condition.root
    if not isinstance(test.attributes, Compare):
        value = array_of(test)
        return 0 if value is not None and not value else None
    left, right = test.operands
    direction = test.attributes.direction
    index, limit = state_index(left, loop.condition), array_of(right)
    if index is None:
        index, limit = state_index(right, loop.condition), array_of(left)
        direction = _MIRRORED.get(direction, "")
    if index is None or limit is None:
        return None
    return _turns(loop, index, direction, int(limit))


def _turns(loop: Loop, index: int, direction: str, limit: int) -> int | None:
    start, step = array_of(loop.initial(index)), step_of(loop, index)
    element_type = loop.initial(index).array_shape.element_type
    if start is None or not step or not element_type.is_integer:
        return None
    first = int(start)
    if direction in ("GT", "GE"):
        first, limit, step = -first, -limit, -step
    if direction not in _MIRRORED or step < 0:
        return None
    end = limit + 1 if direction in ("LE", "GE") else limit
    turns = slice_size(SliceDimension(first, end, step))
    last = int(start) + turns * (step if direction in ("LT", "LE") else -step)
    low, high = integer_range(element_type)
    return turns if low <= last <= high else None


def step_of(loop: Loop, index: int) -> int | None:
    """What each turn adds to a scalar, if it is a constant."""
    following = loop.next[index]
    if following.op not in ("add", "subtract"):
        return None
    left, right = following.operands
    if state_index(left, loop.body) != index and following.op == "add":
        left, right = right, left
    amount = array_of(right)
    if state_index(left, loop.body) != index or amount is None:
        return None
    return int(amount) if following.op == "add" else -int(amount)


def _reads_elements(computation: Computation) -> bool:
    (parameter,) = computation.parameters
    if computation.root is parameter:
        return False
    users = computation.users[parameter]
    return all(u.op == "get-tuple-element" and not u.control_predecessors for u in users)
