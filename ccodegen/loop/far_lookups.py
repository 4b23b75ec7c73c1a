"""Elements that are looked up in a far array are read one by one.

    for i < 4096 vector: y[i] = x[clamp(at[i])]
    →   for run < 16: { for i < 256 lanes: place[i] = clamp(at[run * 256 + i])
                        for i < 256 single: y[run * 256 + i] = x[place[i]] }

Where most of them come from beyond the second-level cache, an instruction that gathers a vector of
them is slower than to read each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ccodegen.loop.affine import affine
from ccodegen.loop.cost import GATHERED, cost
from ccodegen.loop.ir import (
    INDEX,
    Alloc,
    Apply,
    Buffer,
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
from ccodegen.loop.rebuild import Body, OnExpr, keep_expr, rebuild, rebuild_expr, replacing
from ccodegen.loop.rename import stem

_LEAST_FAR = 1 << 22  # bytes of an array
_RUN = 256  # elements, whose places stay near
_LEAST_RUNS = 4
_MOST_OPERATIONS = 2  # with what is read, of which no vectors are made then


def read_singly(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint."""
    return rebuild(body, keep_expr, lambda statement: _by_places(statement, fresh))


def _by_places(loop: Stmt, fresh: Callable[[str], str]) -> Stmt:
    if not isinstance(loop, For) or loop.kind is not LoopKind.VECTOR:
        return loop
    store, extent = loop.body[0], loop.extent
    if not isinstance(extent, int) or extent % _RUN or extent < _LEAST_RUNS * _RUN:
        return loop
    if len(loop.body) > 1 or not isinstance(store, Store):
        return loop
    places = set(_places(store.value))
    if len(places) != 1 or None in places:
        return loop
    (place,) = (place for place in places if place)
    run, turn = Var(fresh("run")), Var(fresh(stem(loop.var.name)))
    near = Buffer(fresh("place"), place.type, (_RUN,))

    def inside(lane: Var) -> OnExpr:
        return replacing({loop.var: (affine(run).scaled(_RUN) + affine(lane)).expr})

    def known(expr: Expr) -> Expr:
        return Load(near, (turn,)) if expr == place else expr

    rest = rebuild(rebuild(loop.body, known), inside(turn))
    counts = cost(rest)
    if counts.transcendental or counts.operations > _MOST_OPERATIONS:
        return loop
    before = (Store(near, (loop.var,), rebuild_expr(place, inside(loop.var))),)
    found = For(loop.var, _RUN, before, LoopKind.LANES)
    read = For(turn, _RUN, rest, LoopKind.SINGLE)
    return For(run, extent // _RUN, (Alloc(near), found, read), LoopKind.PARALLEL)


def _places(value: Expr) -> Iterator[Expr | None]:
    """Where far arrays are read whose places are data; None: another array, or not just there."""
    for load in loads(value):
        buffer, indices = load.buffer, load.indices
        if not list(loads(*indices)):
            continue
        far = buffer.space is not Space.LOCAL and buffer.bytes >= _LEAST_FAR
        is_word = buffer.type.bytes >= GATHERED and not buffer.type.is_complex
        match indices:
            case (Apply("convert", (place,), type),) if type is INDEX and far and is_word:
                yield place
            case _:
                yield None
