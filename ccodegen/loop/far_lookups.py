"""Elements that are looked up in a far array are read one by one.

    for i < 4096 vector: y[i] = x[clamp(at[i])]
    →   for block < 16: { for i < 256 lanes: place[i] = clamp(at[block * 256 + i])
                          for i < 256 single: y[block * 256 + i] = x[place[i]] }

Where most of them come from beyond the second-level cache, an instruction that gathers a vector of
them is slower than to read each by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ccodegen.loop.cost import GATHERED, cost
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
    Const,
    Expr,
    For,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import Body, keep_expr, rebuild, rebuild_expr, replacing
from ccodegen.loop.rename import stem
from ccodegen.loop.turns import fills_blocks, in_blocks

_LEAST_FAR = 1 << 22  # bytes of an array
_BLOCK = 256  # elements, whose places stay near
_LEAST_BLOCKS = 4
_MOST_OPERATIONS = 2  # with what is read, of which no vectors are made then


def read_singly(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint."""
    return rebuild(body, keep_expr, lambda statement: _by_places(statement, fresh))


def _by_places(loop: Stmt, fresh: Callable[[str], str]) -> Stmt | Body:
    if not fills_blocks(loop, _BLOCK, _LEAST_BLOCKS):
        return loop
    place = _place(loop)
    if place is None:
        return loop
    rest = cost(rebuild(loop.body, lambda e: Const(place.type, 0) if e == place else e))
    if rest.transcendental or rest.operations > _MOST_OPERATIONS:
        return loop
    return in_blocks(loop, _BLOCK, lambda block: _apart(block, fresh), fresh)


def _apart(block: For, fresh: Callable[[str], str]) -> Body:
    """First all places, then what is read there."""
    place = _place(block)
    assert place is not None
    near, turn = Buffer(fresh("place"), place.type, (_BLOCK,)), Var(fresh(stem(block.var.name)))
    known = Load(near, (block.var,))
    body = rebuild(block.body, lambda e: known if e == place else e)
    places = (Store(near, (turn,), rebuild_expr(place, replacing({block.var: turn}))),)
    return (
        Alloc(near),
        For(turn, _BLOCK, places, LoopKind.LANES),
        replace(block, body=body, kind=LoopKind.SINGLE),
    )


def _place(loop: For) -> Expr | None:
    """Where a loop that does no more than to store one value looks it up in far arrays; nothing if
    it reads others at places that are data, or elsewhere too."""
    store = loop.body[0]
    if len(loop.body) > 1 or not isinstance(store, Store):
        return None
    lookups = [load for load in loads(store.value) if list(loads(*load.indices))]
    found = {_place_of(load) for load in lookups}
    return found.pop() if len(found) == 1 else None


def _place_of(lookup: Load) -> Expr | None:
    buffer = lookup.buffer
    if buffer.space is Space.LOCAL or buffer.bytes < _LEAST_FAR:
        return None
    if buffer.type.bytes < GATHERED or buffer.type.is_complex:
        return None
    match lookup.indices:
        case (Apply("convert", (place,), type),) if type is INDEX:
            return place
    return None
