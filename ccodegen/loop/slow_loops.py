"""Loops that compute much with what they read from memory go in blocks, so that each can ask for
what a later one reads (see emit/prefetch.py).

    for i < 4096 vector: y[i] = exp(x[i])
    →   for block < 64: for i < 64 lanes: y[block * 64 + i] = exp(x[block * 64 + i])

Processors read ahead of a loop by themselves, but not from one page into the next: there a loop
that had been computing while they read waits as long as one that only copies.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace

from ccodegen.loop.affine import affine
from ccodegen.loop.cost import WORD, cost
from ccodegen.loop.ir import Buffer, For, Load, LoopKind, Space, Stmt
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import (
    Body,
    expressions,
    is_straight,
    keep_expr,
    rebuild,
    written_buffers,
)
from ccodegen.loop.turns import fills_blocks, in_blocks

LEAST_FAR = 1 << 20  # bytes of an array that a second-level cache may not keep
_BLOCK = 64  # elements: four lines of a cache for each array of words
_LEAST_BLOCKS = 4
_LEAST_OPERATIONS = 10  # for each element that is read


def divide_slow_loops(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint."""
    written = written_buffers(body)
    return rebuild(body, keep_expr, lambda statement: _divided(statement, written, fresh))


def is_slow(loop: For, written: Container[Buffer]) -> bool:
    """Whether a loop over vectors, of one statement after the other, does much with each element
    that it reads one after the other from far arrays, of words: narrower ones take no time beside
    what it does to convert them. What is `written` is near."""
    readers = {load.buffer for load in far_readers(loop, written, LEAST_FAR)}
    if not readers or min(buffer.type.bytes for buffer in readers) < WORD:
        return False
    return cost(loop.body).work >= _LEAST_OPERATIONS * len(readers)


def far_readers(loop: For, written: Container[Buffer], least: int) -> Iterator[Load]:
    """What it reads one after the other of arrays of `least` bytes or more."""
    for load in dict.fromkeys(loads(*expressions(loop.body))):
        buffer = load.buffer
        if buffer.space is Space.LOCAL or buffer.bytes < least or buffer in written:
            continue
        if affine(load.indices[0]).terms.get(loop.var) == 1:
            yield load


def _divided(
    statement: Stmt, written: Container[Buffer], fresh: Callable[[str], str]
) -> Stmt | Body:
    if not fills_blocks(statement, _BLOCK, _LEAST_BLOCKS):
        return statement
    if not is_straight(statement.body) or not is_slow(statement, written):
        return statement
    return in_blocks(statement, _BLOCK, lambda turns: (replace(turns, kind=LoopKind.LANES),), fresh)
