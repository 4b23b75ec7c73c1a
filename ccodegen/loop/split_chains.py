"""Loops of long chains of operations become stages, each over a block of turns.

    for i < 1000 vector: { a = f(x[i]); b = f(a); … ; y[i] = f(z) }
    →   for l < 256 vector: line[l] = b of turn l
        for l < 256 vector: line[l] = d of turn l, which takes b
        …
        for l < 256 vector: y[l] = …

Each operation of a chain waits for the one before. A processor fills the time with operations of
the next turns, as far as it sees them: not beyond some hundreds of operations. A stage has few.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from ccodegen.loop.cost import FUNCTIONS
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import applied, variables
from ccodegen.loop.rebuild import Body, expressions, is_straight, keep_expr, rebuild, replacing
from ccodegen.loop.rename import renamed, stem
from ccodegen.loop.turns import in_blocks, shared_lines

_BLOCK = 256  # turns: 1 KB of f32 for each line
_LEAST_TURNS = 64  # some vectors
_SEEN = 256  # operations that a processor looks ahead
_LEAST_OF_STAGE, _MOST_OF_STAGE = 24, 48  # operations: it sees several turns
_MOST_LINES = 4  # between two stages
_SLOW = {"divide", "sqrt", "rsqrt", "remainder"}
_LEAST_GAIN = 1.5


def split_chains(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, with the same operations. `fresh` gives names that the kernel
    does not have yet, after a hint."""

    def split(statement: Stmt) -> Stmt | Body:
        match statement:
            case For(_, int() as extent, inner, LoopKind.VECTOR) if extent >= _LEAST_TURNS:
                cuts = _cuts(inner)
                if cuts:
                    stages = functools.partial(_stages, cuts=cuts, fresh=fresh)
                    return in_blocks(statement, _BLOCK, stages, fresh)
        return statement

    return rebuild(body, keep_expr, split)


def _cuts(body: Body) -> tuple[int, ...]:
    """The numbers of the statements that stages begin with, but for the first one; none where the
    loop is better whole."""
    if not is_straight(body) or any(isinstance(s, Store) and not s.buffer.dimensions for s in body):
        return ()
    steps = [sum(_cycles(a)[1] for a in applied(*expressions((s,)))) for s in body]
    if sum(steps) <= _SEEN // 2:
        return ()
    live = _live(body)
    cuts = _places(steps, live)
    turns = max(1.0, _SEEN / sum(steps))  # that a processor sees
    copied = sum(2 * len(live[cut]) for cut in cuts)
    return cuts if _wait(body) / turns > _LEAST_GAIN * (sum(steps) + copied) else ()


def _places(steps: Sequence[int], live: Sequence[set[Var]]) -> tuple[int, ...]:
    """Of those that a stage may end at the ones with the fewest lines, and of such the last; the
    next one where statements are long."""
    cuts = [0]
    while sum(steps[cuts[-1] :]) > _MOST_OF_STAGE:
        ends = enumerate(accumulate(steps[cuts[-1] : -1]), cuts[-1] + 1)
        fit = [(n, length) for n, length in ends if _may_be_lines(live[n])]
        fit = [(n, length) for n, length in fit if length >= _LEAST_OF_STAGE]
        if not fit:
            break
        near = [n for n, length in fit if length <= _MOST_OF_STAGE] or [fit[0][0]]
        cuts.append(min(near, key=lambda n: (len(live[n]), -n)))
    return tuple(cuts[1:])


def _may_be_lines(names: set[Var]) -> bool:
    """Few numbers, of one size, that lie in memory as they are computed with."""
    types = {name.type for name in names}
    are_plain = all((t.is_float or t.is_integer) and t.bits >= 32 for t in types)
    return len(names) <= _MOST_LINES and len({t.bits for t in types}) == 1 and are_plain


def _live(body: Body) -> list[set[Var]]:
    """For each place before, between and after statements the names that those before it give to
    those behind it."""
    last = {var: n for n, s in enumerate(body) for var in variables(*expressions((s,)))}
    found: list[set[Var]] = [set()]
    for n, statement in enumerate(body):
        given = {statement.var} if isinstance(statement, Let) else set[Var]()
        found.append({var for var in found[-1] | given if last.get(var, 0) > n})
    return found


def _cycles(operation: Apply) -> tuple[int, int]:
    """Until its result is there, and until another operation on a vector may begin."""
    if operation.type is INDEX:
        return 0, 0
    if operation.operator in FUNCTIONS:
        return 60, 25
    return (14, 7) if operation.operator in _SLOW else (4, 1)


def _wait(body: Body) -> int:
    """Cycles from the first operation to the last, where each waits for what it takes."""
    ready: dict[Expr, int] = {}

    def of(value: Expr) -> int:
        if isinstance(value, Apply):
            return max(map(of, value.arguments), default=0) + _cycles(value)[0]
        return ready.get(value, 0)

    for statement in body:
        if isinstance(statement, Let):
            ready[statement.var] = of(statement.value)
    return max(ready.values(), default=0)


def _stages(loop: For, cuts: Sequence[int], fresh: Callable[[str], str]) -> Body:
    assert isinstance(loop.extent, int)
    live = _live(loop.body)
    lines: dict[Var, Buffer] = {}
    stages: list[Body] = []
    made: list[list[Buffer]] = []
    for start, end in pairwise((0, *cuts, len(loop.body))):
        read: dict[Var, Expr] = {v: Load(line, (loop.var,)) for v, line in lines.items()}
        new = sorted(live[end] - lines.keys(), key=lambda var: var.name)
        lines |= {var: Buffer(fresh("line"), var.type, (loop.extent,)) for var in new}
        stores = (Store(lines[var], (loop.var,), var) for var in new)
        stages.append((*rebuild(loop.body[start:end], replacing(read)), *stores))
        made.append([lines[var] for var in new])
    arrays = shared_lines(stages, made)
    result: list[Stmt] = [Alloc(array) for array in dict.fromkeys(arrays.values())]
    for stage in stages:
        turn = Var(fresh(stem(loop.var.name)))
        body = renamed(stage, fresh, {loop.var: turn}, arrays)
        result.append(For(turn, loop.extent, body, loop.kind))
    return tuple(result)
