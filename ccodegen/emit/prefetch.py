"""What a loop asks memory for some turns before it reads it.

    for r < 16: for l < 64: lanes[l] += x[r * 64 + l]   →   CCG_PREFETCH(x, r * 64 + 4096, 64); …

Processors follow such a reader by themselves, but in no page that it has not entered yet; and what
comes between the rows, or elements that straddle lines of the cache, stops them early.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from ccodegen.loop.affine import Affine, affine
from ccodegen.loop.cost import FAR
from ccodegen.loop.ir import INDEX, Apply, Buffer, Expr, For, Let, LoopKind, Space
from ccodegen.loop.parts import loads, parts, variables
from ccodegen.loop.rebuild import expressions, statements, written_buffers
from ccodegen.support.immutable import immutable

_DISTANCE = 1 << 14  # bytes: some pages, half of a small cache
_DISTANCE_OF_SEVERAL = 1 << 13  # of readers at several places, together
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


def prefetches(loop: For, around: For | None, written: Container[Buffer]) -> Iterator[Prefetch]:
    """For a loop around one over lanes, which reads dense arrays that no cache keeps, in order, and
    writes nothing but local variables. Readers at several places at once ask for less each, so that
    what they ask for stays; what the kernel has `written` itself is near. Where the loop `around`
    it leaps between its turns, as from row to row of a few columns, whole turns are gone ahead.
    """
    inner = [s for s in loop.body if isinstance(s, For)]
    if len(inner) != 1 or inner[0].kind is not LoopKind.VECTOR:
        return
    (lanes,) = inner
    if any(buffer.space is not Space.LOCAL for buffer in written_buffers(loop.body)):
        return
    own = {s.var for s in statements(loop.body) if isinstance(s, For | Let)}
    readers: list[tuple[Buffer, Affine]] = []
    for load in dict.fromkeys(loads(*expressions(lanes.body))):
        if load.buffer in written or load.buffer.bytes < FAR:
            continue
        place = affine(load.indices[0])
        if place.terms.get(loop.var) == lanes.extent and place.terms.get(lanes.var) == 1:
            first = place - affine(lanes.var)
            if own.isdisjoint(variables(first.expr)) and not list(loads(first.expr)):
                readers.append((load.buffer, first))
    distance = _DISTANCE if len(readers) < 2 else _DISTANCE_OF_SEVERAL // len(readers)
    for buffer, first in readers:
        count, ahead = first.terms[loop.var], distance // buffer.type.bytes
        if around and isinstance(loop.extent, int):
            turn = first.terms.get(around.var, 0)
            read = count * loop.extent * len(readers)
            if read * buffer.type.bytes <= _MOST_OF_A_TURN and turn >= read * _LEAP:
                ahead = turn * math.ceil(ahead / turn)
        slowly = _operations(lanes) > _FEW_OPERATIONS * len(readers)
        yield Prefetch(buffer, (first + ahead).expr, count, slowly)


def _operations(lanes: For) -> int:
    """On elements, in a turn."""
    inside = parts(*expressions(lanes.body))
    return sum(isinstance(e, Apply) and e.type is not INDEX for e in inside)
