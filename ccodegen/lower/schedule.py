"""The order of a computation's instructions: the one of a few that needs the least memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ccodegen.hlo.effects import has_side_effect
from ccodegen.hlo.ir import Computation, Instruction, post_order
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.support import graph


def schedule(computation: Computation) -> tuple[Instruction, ...]:
    """Every instruction after its operands and control predecessors; side effects in their order.

    Depth first, with the operands of each instruction in the order given, or the heaviest subtree
    first, or greedily the instruction that frees most: whichever peaks lowest.
    """
    roots = (*computation.parameters, *computation.side_roots, computation.root)
    before = _Before(computation)
    candidates = [
        computation.instructions,
        _heaviest_first(roots, before),
        _greedy(computation, before),
    ]
    return min(candidates, key=lambda order: peak_bytes(order, computation.root))


def peak_bytes(order: Sequence[Instruction], root: Instruction) -> int:
    """Most bytes of results alive at once, when each dies after its last reader."""
    last = {o: n for n, i in enumerate(order) for o in i.operands}
    last[root] = len(order)
    alive = peak = 0
    dying: dict[int, int] = {}
    for n, instruction in enumerate(order):
        size = own_bytes(instruction)
        alive += size
        peak = max(peak, alive)
        end = last.get(instruction, n)
        dying[end] = dying.get(end, 0) + size
        alive -= dying.pop(n, 0)
    return peak


def own_bytes(instruction: Instruction) -> int:
    """Bytes of memory that an instruction's result takes beyond its operands' memory."""
    if instruction.op in ("parameter", "constant", "tuple", "get-tuple-element", "reshape"):
        return 0
    return sum(s.bytes for s in leaves(instruction.shape) if isinstance(s, ArrayShape))


class _Before:
    """What must run before an instruction although it is no operand: control predecessors, and of
    side effects the one before."""

    def __init__(self, computation: Computation) -> None:
        effects = [i for i in computation.instructions if has_side_effect(i)]
        self._previous = {later: (earlier,) for earlier, later in pairwise(effects)}

    def __call__(self, instruction: Instruction) -> tuple[Instruction, ...]:
        return (*self._previous.get(instruction, ()), *instruction.control_predecessors)


def _heaviest_first(
    roots: Iterable[Instruction], first: _Before
) -> tuple[Instruction, ...]:
    """Depth first, operands with the greatest need of memory first (Sethi and Ullman's order)."""
    roots = tuple(roots)
    need: dict[Instruction, int] = {}
    for instruction in post_order(roots):
        held, most = 0, own_bytes(instruction)
        operands = dict.fromkeys(instruction.operands)
        for operand in sorted(operands, key=lambda o: -_excess(o, need)):
            most = max(most, held + need[operand])
            held += own_bytes(operand)
        need[instruction] = max(most, held + own_bytes(instruction))

    def before(instruction: Instruction) -> list[Instruction]:
        operands = dict.fromkeys(instruction.operands)
        heaviest = sorted(operands, key=lambda o: (-_excess(o, need), o.name))
        return [*first(instruction), *heaviest]

    return graph.post_order(roots, before)


def _excess(instruction: Instruction, need: dict[Instruction, int]) -> int:
    return need[instruction] - own_bytes(instruction)


def _greedy(computation: Computation, first: _Before) -> tuple[Instruction, ...]:
    """Of the instructions that are ready, always the one that frees most bytes, oldest first."""
    order = {i: n for n, i in enumerate(computation.instructions)}
    readers = {i: len(users) for i, users in computation.users.items()}
    readers[computation.root] += 1
    waiting = {i: len({*i.operands, *first(i)}) for i in order}
    followers: dict[Instruction, list[Instruction]] = {i: [] for i in order}
    for instruction in order:
        for before in {*instruction.operands, *first(instruction)}:
            followers[before].append(instruction)
    ready = [i for i in order if not waiting[i]]
    done: list[Instruction] = []

    def gain(instruction: Instruction) -> tuple[int, int]:
        freed = sum(own_bytes(o) for o in set(instruction.operands) if readers[o] == 1)
        return freed - own_bytes(instruction), -order[instruction]

    while ready:
        best = max(ready, key=gain)
        ready.remove(best)
        done.append(best)
        for operand in set(best.operands):
            readers[operand] -= 1
        for follower in followers[best]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    return tuple(done)
