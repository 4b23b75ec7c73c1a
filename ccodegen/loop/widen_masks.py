"""Masks of small blocks, and of short rows that read the same again and again, are read before,
into words.

    for i < 16: for j < 16: y[16 i + j] = m[j] ? x[16 i + j] : 0
    →   for j < 16: w[j] = convert(m[j])
        for i < 16: for j < 16: y[16 i + j] = w[j] != 0 ? x[16 i + j] : 0

A compiler takes as many turns at a time as fill a vector with what is narrowest; where there are
fewer, it may find no vectors for what is chosen between, or short ones. So the masks of a short row
of functions are read before, too, if no other row has the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ccodegen.loop.affine import affine
from ccodegen.loop.builder import apply, compare, const, index
from ccodegen.loop.cost import FUNCTIONS
from ccodegen.loop.cse import computed
from ccodegen.loop.ir import (
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
)
from ccodegen.loop.parts import applied, loads, parts, variables
from ccodegen.loop.rebuild import (
    Body,
    expressions,
    is_straight,
    keep_expr,
    rebuild,
    written_buffers,
)
from ccodegen.loop.rename import renamed
from ccodegen.loop.turns import in_blocks, most_turns
from ccodegen.support.element_type import ElementType

_WORD = ElementType.S32
_ROWS = 64  # of a block: what is read before them takes little of their time
_LEAST_ROWS = 8


def widen_block_masks(
    block: For, size: int, fresh: Callable[[str], str], vector_bytes: int
) -> Body:
    """Statements of equal effect as a loop over another one alone, both of so many independent
    turns over flat buffers. `fresh` gives names that the kernel does not have yet, after a hint."""
    (inner,) = block.body
    assert isinstance(inner, For)
    if size >= vector_bytes or not _stores_words(inner.body):
        return (block,)
    before: list[Stmt] = []
    words: dict[Expr, Expr] = {}
    for load in _masks(inner.body):
        loops = [loop for loop in (block, inner) if loop.var in parts(*load.indices)]
        words[load], read = _in_words(load, loops, size, fresh)
        before += read
    return (*before, *rebuild((block,), lambda expr: words.get(expr, expr)))


def widen_row_masks(body: Body, fresh: Callable[[str], str], vector_bytes: int) -> Body:
    """Statements of equal effect, once loops are marked. What reads a row's mask for many others is
    a block of rows, so that threads may share the blocks."""

    def before(rows: For) -> Body:
        return _behind_masks(rows, _row_masks(rows, vector_bytes), fresh)

    def widened(statement: Stmt) -> Stmt | Body:
        if not isinstance(statement, For):
            return statement
        if _row_masks(statement, vector_bytes):
            return in_blocks(statement, _ROWS, before, fresh)
        return _behind_masks(statement, _own_masks(statement, vector_bytes), fresh)

    return rebuild(body, keep_expr, widened)


def _behind_masks(
    loop: For, masks: Sequence[tuple[For, Load]], fresh: Callable[[str], str]
) -> Body:
    """The loop behind what reads these masks into words, each for that loop or one in it."""
    if not masks:
        return (loop,)
    before: list[Stmt] = []
    words: dict[Expr, Expr] = {}
    for row, load in masks:
        words[load], read = _in_words(load, [row], most_turns(row.extent), fresh)
        before += read
    return (*before, *rebuild((loop,), lambda expr: words.get(expr, expr)))


def _row_masks(rows: For, vector_bytes: int) -> list[tuple[For, Load]]:
    """What short loops in one of many turns read of masks, all turns the same."""
    many = isinstance(rows.extent, int) and rows.extent >= _LEAST_ROWS
    if not many or rows.kind is not LoopKind.PARALLEL:
        return []
    written = written_buffers((rows,))
    return [
        (row, load)
        for row in rows.body
        if isinstance(row, For) and _is_short(row, vector_bytes)
        for load in _masks(row.body)
        if set(variables(load)) == {row.var} and load.buffer not in written
    ]


def _own_masks(row: For, vector_bytes: int) -> list[tuple[For, Load]]:
    """What a short row reads of masks that no other row has, if it calls functions, which take
    longer in short vectors than the masks to read."""
    if not _is_short(row, vector_bytes // 2):
        return []
    if not any(a.operator in FUNCTIONS for a in applied(*expressions(row.body))):
        return []
    return [(row, load) for load in _masks(row.body) if {row.var} < set(variables(load))]


def _is_short(row: For, vector_bytes: int) -> bool:
    """Whether it is a straight loop of too few turns for vectors of bytes, that stores none."""
    is_short = isinstance(row.extent, int) and row.extent < vector_bytes
    is_row = is_short and row.kind is LoopKind.VECTOR and is_straight(row.body)
    return is_row and _stores_words(row.body)


def _stores_words(body: Body) -> bool:
    stored = (s.buffer.type.bytes for s in body if isinstance(s, Store))
    return min(stored, default=0) >= _WORD.bytes


def _masks(body: Body) -> list[Load]:
    """Truth values that are read; not what depends on names, nor, in an arm of a choice, what may
    be outside of its array."""
    bound = {s.var for s in body if isinstance(s, Let)}
    written = written_buffers(body)
    certain = {part for statement in body for part in computed(statement)}

    def fits(load: Load) -> bool:
        is_there = load in certain or load.buffer.space is Space.LOCAL
        is_free = load.buffer not in written and bound.isdisjoint(parts(*load.indices))
        return load.type is ElementType.PRED and is_there and is_free

    return [load for load in dict.fromkeys(loads(*expressions(body))) if fits(load)]


def _in_words(
    load: Load, loops: Sequence[For], size: int, fresh: Callable[[str], str]
) -> tuple[Expr, Body]:
    """What a mask says, of words for so many turns of each loop, and what reads it into these."""
    wide = Buffer(fresh("wide"), _WORD, (size ** len(loops),))
    place = affine(index(0))
    for loop in loops:
        place = place.scaled(size) + affine(loop.var)
    store = Store(wide, (place.expr,), apply("convert", load, type=_WORD))
    said = compare("ne", Load(wide, (place.expr,)), const(_WORD, 0))
    return said, (Alloc(wide), *_around(store, loops, fresh))


def _around(store: Store, loops: Sequence[For], fresh: Callable[[str], str]) -> Body:
    """The loops around the store alone, with names of their own."""
    body: Body = (store,)
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return renamed(body, fresh, {})
