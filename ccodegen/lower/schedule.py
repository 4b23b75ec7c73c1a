"""The order of a computation's instructions: the one of a few that needs the least memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ccodegen.hlo.ir import Computation, Instruction, post_order
from ccodegen.hlo.shape import ArrayShape, leaves
from ccodegen.support import graph


def schedule(computation: Computation) -> tuple[Instruction, ...]:
    """Every instruction after its operands and control predecessors.

    Depth first, with the operands of each instruction in the order given, or the heaviest subtree
    first, or greedily the instruction that frees most: whichever peaks lowest.
    """
    roots = (*computation.parameters, *computation.side_roots, computation.root)
    candidates = [
        computation.instructions,
        _heaviest_first(roots),
        _greedy(computation),
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


def _heaviest_first(roots: Iterable[Instruction]) -> tuple[Instruction, ...]:
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
        return [*instruction.control_predecessors, *heaviest]

    return graph.post_order(roots, before)


def _excess(instruction: Instruction, need: dict[Instruction, int]) -> int:
    return need[instruction] - own_bytes(instruction)


def _greedy(computation: Computation) -> tuple[Instruction, ...]:
    """Of the instructions that are ready, always the one that frees most bytes, oldest first."""
    order = {i: n for n, i in enumerate(computation.instructions)}
    readers = {i: len(users) for i, users in computation.users.items()}
    readers[computation.root] += 1
    waiting = {i: len({*i.operands, *i.control_predecessors}) for i in order}
    followers: dict[Instruction, list[Instruction]] = {i: [] for i in order}
    for instruction in order:
        for before in {*instruction.operands, *instruction.control_predecessors}:
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
