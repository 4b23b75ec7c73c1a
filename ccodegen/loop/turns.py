"""Turns of a loop: how many there are, and some as code of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.builder import apply
from ccodegen.loop.ir import (
    INDEX,
    Apply,
    Buffer,
    Const,
    Expr,
    For,
    Let,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import parts, variables
from ccodegen.loop.rebuild import Body, rebuild_expr, replacing, used_buffers, written_buffers
from ccodegen.loop.rename import renamed, stem
from ccodegen.loop.simplify_body import simplify_body

_LEAST_TURNS = 8
_MOST_APART = 4  # elements, which compilers read as whole vectors


def most_turns(extent: int | Expr) -> int:
    """The most turns of a loop; 0 where constants do not tell."""
    match extent:
        case int():
            return extent
        case Apply("minimum", arguments):
            return min((int(a.value) for a in arguments if isinstance(a, Const)), default=0)
    return 0


def fills_vectors(loop: For) -> bool:
    """Whether its turns are independent, and enough for a vector."""
    is_vector = loop.kind in (LoopKind.VECTOR, LoopKind.LANES)
    return is_vector and not 0 < most_turns(loop.extent) < _LEAST_TURNS


def first_of_run(place: Expr, loop: For) -> Affine | None:
    """Where the first turn finds its element, if each turn's lies behind that of the turn before;
    None where that depends on what a turn names or writes."""
    first = affine(place) + affine(loop.var).scaled(-1)
    found = parts(*first.terms)
    bound = {loop.var, *(s.var for s in loop.body if isinstance(s, Let))}
    written = written_buffers(loop.body)
    depends = any(p.buffer in written if isinstance(p, Load) else p in bound for p in found)
    return None if depends else first


def varying(loop: For) -> set[Var]:
    """The loop's variable and the names that depend on it."""
    found = {loop.var}
    for statement in loop.body:
        if isinstance(statement, Let) and not found.isdisjoint(variables(statement.value)):
            found.add(statement.var)
    return found


def are_near(found: Iterable[Load], loop: For) -> bool:
    """Whether turns find the elements of each near each other, or all of them the same one."""
    others = varying(loop)
    for load in found:
        if load.buffer.dimensions:
            terms = dict(affine(load.indices[-1]).terms)
            step = abs(terms.pop(loop.var, 0))
            if step > _MOST_APART or not others.isdisjoint(variables(*terms)):
                return False
    return True


def piece(loop: For, start: int, end: int, fresh: Callable[[str], str]) -> For:
    """The turns from start to before end, with names of their own but for the first."""
    if start == 0:
        return replace(loop, extent=end)
    var = Var(fresh(stem(loop.var.name)))
    place = Apply("add", (var, Const(INDEX, start)), INDEX)
    return For(var, end - start, renamed(loop.body, fresh, {loop.var: place}), loop.kind)


def fills_blocks(statement: Stmt, size: int, least: int) -> TypeGuard[For]:
    """Whether it is a loop of which compilers make vectors, and its turns are whole blocks of so
    many, at least so many blocks."""
    if not isinstance(statement, For) or statement.kind is not LoopKind.VECTOR:
        return False
    extent = statement.extent
    return isinstance(extent, int) and extent % size == 0 and extent >= least * size


def in_blocks(
    loop: For, size: int, made: Callable[[For], Body], fresh: Callable[[str], str]
) -> Body:
    """The independent turns of a loop of known extent as a loop over blocks of so many, and the
    rest; `made` says what stands for the loop over those of a block."""
    extent = loop.extent
    assert isinstance(extent, int)
    if extent <= size:
        return made(loop)
    block, turn = Var(fresh("block")), Var(fresh(stem(loop.var.name)))
    place = apply("add", apply("multiply", block, Const(INDEX, size)), turn)
    inner = For(turn, size, renamed(loop.body, fresh, {loop.var: place}), loop.kind)
    blocks = For(block, extent // size, made(inner), LoopKind.PARALLEL)
    rest = piece(loop, extent - extent % size, extent, fresh)
    return blocks, *(made(rest) if rest.extent else ())


def shared_lines(
    stages: Sequence[Body], made: Sequence[Sequence[Buffer]]
) -> dict[Buffer, Buffer]:
    """For stages over a block of turns, one after the other, an array for each line that one makes
    for later ones. It is another one's, too, once no stage reads that line any more.

    `made`: the lines of each stage, all of one size.
    """
    last = {line: n for n, stage in enumerate(stages) for line in used_buffers(stage)}
    arrays: dict[Buffer, Buffer] = {}
    free: list[Buffer] = []
    for n, lines in enumerate(made):
        for line in lines:
            fit = [array for array in free if array.type is line.type]
            arrays[line] = fit[-1] if fit else line
            if fit:
                free.remove(fit[-1])
        free += [arrays[line] for line in arrays if last[line] == n]
    return arrays


def stored_after(
    loop: For, blocks: Mapping[Store, Buffer], fresh: Callable[[str], str]
) -> For:
    """A loop that does these stores of another one, whose turns have put each value into a block
    instead, maybe in another type."""
    turn = Var(fresh(stem(loop.var.name)))
    put = replacing({loop.var: turn})
    body = []
    for store, block in blocks.items():
        value: Expr = Load(block, (turn,))
        if block.type is not store.buffer.type:
            value = apply("convert", value, type=store.buffer.type)
        indices = tuple(rebuild_expr(i, put) for i in store.indices)
        body.append(Store(store.buffer, indices, value))
    return For(turn, loop.extent, tuple(body), loop.kind)


def unrolled_inside(loop: For, kind: LoopKind, fresh: Callable[[str], str]) -> For:
    """The loop, of that kind, with the turns of all loops inside, of known number, one after the
    other."""
    body = simplify_body(_written_out(loop.body, fresh))
    return For(loop.var, loop.extent, body, kind)


def _written_out(body: Body, fresh: Callable[[str], str]) -> Body:
    result: list[Stmt] = []
    for statement in body:
        if isinstance(statement, For):
            assert isinstance(statement.extent, int)
            for turn in range(statement.extent):
                values = {statement.var: Const(INDEX, turn)}
                result += _written_out(renamed(statement.body, fresh, values), fresh)
        else:
            result.append(statement)
    return tuple(result)
