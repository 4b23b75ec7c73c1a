"""What a loop asks memory for some turns before it reads it.

    for r < 16: for l < 64: lanes[l] += x[r * 64 + l]   →   CCG_PREFETCH(x, r * 64 + 4096, 64); …

Processors follow such a reader by themselves, but in no page that it has not entered yet; and what
comes between the rows, or elements that straddle lines of the cache, stops them early.

    for block < 64: for i < 64: y[block * 64 + i] = exp(x[block * 64 + i])   (loop/slow_loops.py)
    →   CCG_PREFETCH_SLOWLY(x, block * 64 + 256, 64); …

asks for little that is near, as its turns take long; or, where another loop has just read what this
one reads, for what they read in the next turn of the loop around both.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence

from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.cost import FAR
from ccodegen.loop.ir import INDEX, Apply, Buffer, Expr, For, Let, LoopKind, Space
from ccodegen.loop.parts import loads, parts, variables
from ccodegen.loop.rebuild import expressions, statements, written_buffers
from ccodegen.loop.slow_loops import LEAST_FAR, far_readers, is_slow
from ccodegen.support.immutable import immutable

_DISTANCE = 1 << 14  # bytes: some pages, half of a small cache
_DISTANCE_OF_SEVERAL = 1 << 13  # of readers at several places, together
_DISTANCE_OF_SLOW = 1 << 10
# Around a loop that reads so many bytes, one that leaps by so many times what is read.
_MOST_OF_A_TURN = 1 << 15
_LEAP = 1.75
_FEW_OPERATIONS = 2  # for each element: a product, and its sum


@immutable
class Prefetch:
    """So many elements from one on, which may lie behind the end of the buffer. `slowly`: the loop
    does more with each than to add it up."""

    buffer: Buffer
    first: Expr
    count: int
    slowly: bool


def prefetches(
    loop: For,
    around: Sequence[For],
    written: Container[Buffer],
    read: Mapping[Buffer, Sequence[For]],
) -> Iterator[Prefetch]:
    """For a loop around one over lanes, which reads dense arrays that no cache keeps, in order, and
    is slow or writes nothing but local variables; what the kernel has `written` itself is near.
    `around`: the loops around it, the outermost first. `read`: those around the last loop that read
    a buffer before.
    """
    inner = [s for s in loop.body if isinstance(s, For)]
    if len(inner) != 1 or inner[0].kind not in (LoopKind.VECTOR, LoopKind.LANES):
        return
    (lanes,) = inner
    if is_slow(lanes, written):
        for buffer, first in _readers(loop, lanes, written, LEAST_FAR):
            if not all(outer.var in first.terms for outer in around):
                continue  # the same in each turn
            ahead = _turn_of_both(first, around, read.get(buffer, ()))
            ahead = ahead or _DISTANCE_OF_SLOW // buffer.type.bytes
            yield Prefetch(buffer, (first + ahead).expr, first.terms[loop.var], slowly=True)
    elif all(buffer.space is Space.LOCAL for buffer in written_buffers(loop.body)):
        readers = list(_readers(loop, lanes, written, FAR))
        slowly = _operations(lanes) > _FEW_OPERATIONS * len(readers)
        for buffer, first in readers:
            ahead = _distance(loop, around, buffer, first, len(readers))
            yield Prefetch(buffer, (first + ahead).expr, first.terms[loop.var], slowly)


def _readers(
    loop: For, lanes: For, written: Container[Buffer], least: int
) -> Iterator[tuple[Buffer, Affine]]:
    """The arrays of `least` bytes or more, and where a turn of the loop begins to read them."""
    own = {s.var for s in statements(loop.body) if isinstance(s, For | Let)}
    for load in far_readers(lanes, written, least):
        first = affine(load.indices[0]) - affine(lanes.var)
        is_outside = own.isdisjoint(variables(first.expr)) and not list(loads(first.expr))
        if is_outside and first.terms.get(loop.var) == lanes.extent:
            yield load.buffer, first


def _distance(
    loop: For, around: Sequence[For], buffer: Buffer, first: Affine, readers: int
) -> int:
    """Elements. Readers at several places at once ask for less each, so that what they ask for
    stays. Where the next loop around leaps between its turns, as from row to row of a few columns,
    whole turns are gone ahead."""
    distance = _DISTANCE if readers < 2 else _DISTANCE_OF_SEVERAL // readers
    ahead = distance // buffer.type.bytes
    if around and isinstance(loop.extent, int):
        turn = first.terms.get(around[-1].var, 0)
        read = first.terms[loop.var] * loop.extent * readers
        if read * buffer.type.bytes <= _MOST_OF_A_TURN and turn >= read * _LEAP:
            return turn * math.ceil(ahead / turn)
    return ahead


def _turn_of_both(first: Affine, around: Sequence[For], before: Sequence[For]) -> int:
    """Elements from turn to turn of the innermost loop around both readers; 0 without."""
    both = [a for a, b in zip(around, before, strict=False) if a is b]
    return first.terms.get(both[-1].var, 0) if both else 0


def _operations(lanes: For) -> int:
    """On elements, in a turn."""
    inside = parts(*expressions(lanes.body))
    return sum(isinstance(e, Apply) and e.type is not INDEX for e in inside)
