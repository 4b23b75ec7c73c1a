"""Rows two at a time, part by part: what a part waits for is ready when its turn comes.

    for row < 100: { total = (sum of x[row]); for i < 64: y[row, i] = x[row, i] / total }

adds up its lanes at the end of a row, a chain of operations during which the rest of the row can
but wait. The same parts of another row do not depend on it, and run meanwhile:

    for pair < 50: { for turn < 2: kept[turn] = (sum of x[pair * 2 + turn])
                     for turn < 2: for i < 64: y[…] = x[…] / kept[turn] }
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ccodegen.loop.affine import affine
from ccodegen.loop.cost import cost
from ccodegen.loop.independence import independent
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
    is_unrolled,
)
from ccodegen.loop.parts import loads, variables
from ccodegen.loop.rebuild import (
    Body,
    expressions,
    keep_expr,
    rebuild,
    replacing,
    statements,
    used_buffers,
)

_TURNS = 2
# Of a turn: more bytes would not stay in a cache, and the wait would be a small part of the time.
_MOST_TRAFFIC = 1 << 15


def pair_turns(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect. `fresh` gives names that the kernel does not have yet, after a
    hint."""
    return rebuild(body, keep_expr, lambda statement: _paired(statement, fresh))


def _paired(statement: Stmt, fresh: Callable[[str], str]) -> Stmt:
    if not isinstance(statement, For) or statement.kind is not LoopKind.PARALLEL:
        return statement
    extent = statement.extent
    if not isinstance(extent, int) or extent % _TURNS or not _has_long_loop(statement.body):
        return statement
    parts = _parts(statement.body)
    if len(parts) == 1 or not _can_be_apart(parts):
        return statement
    traffic = cost(statement.body)
    if traffic.bytes_read + traffic.bytes_written > _MOST_TRAFFIC or not independent(statement):
        return statement
    pair = Var(fresh(f"{statement.var.name}_pair"))
    return replace(
        statement,
        var=pair,
        extent=extent // _TURNS,
        body=_part_by_part(parts, statement.var, pair, fresh),
    )


def _has_long_loop(body: Body) -> bool:
    """Whether anything is left of loops when compilers have unrolled those that are short: else
    they unroll the turns too, and find no vectors."""
    return any(isinstance(s, For) and not is_unrolled(s.extent) for s in statements(body))


def _parts(body: Body) -> list[Body]:
    """The statements, cut behind what loops have accumulated where other loops need it."""
    parts: list[Body] = []
    begin = end = 0  # of what will be a part
    waiting: set[Var] = set()
    for number, statement in enumerate(body):
        needed = set(variables(*expressions((statement,))))
        if _loops(statement) and needed & waiting:
            parts.append(body[begin:end])
            begin, waiting = end, set()
        if isinstance(statement, Let) and (needed & waiting or _is_accumulated(statement.value)):
            waiting.add(statement.var)
            end = number + 1
    return [*parts, body[begin:]]


def _loops(statement: Stmt) -> bool:
    return any(isinstance(s, For) for s in statements((statement,)))


def _is_accumulated(value: Expr) -> bool:
    return any(load.buffer.space is Space.LOCAL for load in loads(value))


def _can_be_apart(parts: list[Body]) -> bool:
    """Whether nothing but numbers goes from part to part."""
    for number, part in enumerate(parts, 1):
        own = {s.buffer for s in part if isinstance(s, Alloc)}
        if any(own & used_buffers(later) for later in parts[number:]):
            return False
        if any(var.type is INDEX for var in _handed_on(part, parts[number:])):
            return False
    return True


def _handed_on(part: Body, later: list[Body]) -> list[Var]:
    """The names that a part binds and a later one reads."""
    needed = {var for after in later for var in variables(*expressions(after))}
    return [s.var for s in part if isinstance(s, Let) and s.var in needed]


def _part_by_part(
    parts: list[Body], row: Var, pair: Var, fresh: Callable[[str], str]
) -> Body:
    kept: dict[Var, Buffer] = {}
    loops: list[Stmt] = []
    for number, part in enumerate(parts, 1):
        turn = Var(fresh("turn"))
        place = (affine(pair).scaled(_TURNS) + affine(turn)).expr
        needed = set(variables(*expressions(part)))
        taken = {var: Var(fresh(var.name), var.type) for var in kept if var in needed}
        inside: list[Stmt] = [Let(new, Load(kept[var], (turn,))) for var, new in taken.items()]
        inside += rebuild(part, replacing({row: place, **taken}))
        for var in _handed_on(part, parts[number:]):
            kept[var] = Buffer(fresh(f"{var.name}_kept"), var.type, (_TURNS,))
            inside.append(Store(kept[var], (turn,), var))
        loops.append(For(turn, _TURNS, tuple(inside)))
    return (*map(Alloc, kept.values()), *loops)
