"""Rows of a far array are read from two places at once.

    for row < 4096: { sum = 0; for r < 64: sum += x[row * 64 + r]; y[row] = sum }

reads one place after the other, which a processor that fetches ahead of readers by itself does for
several at a time:

    for row < 2048: { sum = 0; other = 0
                      for r < 64: { sum += x[row * 64 + r]; other += x[(row + 2048) * 64 + r] }
                      y[row] = sum; y[row + 2048] = other }

Each row is added up in the same order as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ccodegen.loop.affine import affine
from ccodegen.loop.cost import FAR
from ccodegen.loop.independence import independent
from ccodegen.loop.ir import CallC, For, If, LoopKind, Space, Stmt
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import Body, expressions, rebuild, replacing, statements
from ccodegen.loop.rename import renamed

_MOST_STATEMENTS = 40  # of a row: more take a compiler longer than reading is worth


def read_far_rows(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint."""
    return tuple(_by_twos(s, fresh) if isinstance(s, For) else s for s in body)


def _by_twos(loop: For, fresh: Callable[[str], str]) -> Stmt:
    extent = loop.extent
    if loop.kind is not LoopKind.PARALLEL or not isinstance(extent, int) or extent % 2:
        return loop
    inside = statements(loop.body)
    if len(inside) > _MOST_STATEMENTS or any(isinstance(s, If | CallC) for s in inside):
        return loop
    if sum(_reads_far_row(s, loop) for s in loop.body) != 1 or not independent(loop):
        return loop
    half = extent // 2
    other = renamed(loop.body, fresh, {loop.var: (affine(loop.var) + half).expr})
    pairs = zip(loop.body, other, strict=True)
    both = [s for first, second in pairs for s in _together(first, second, loop)]
    return replace(loop, extent=half, body=tuple(both), kind=LoopKind.APART)


def _together(first: Stmt, second: Stmt, rows: For) -> Body:
    """A statement of both rows; the loop that reads them is one."""
    if not _reads_far_row(first, rows):
        return first, second
    assert isinstance(first, For) and isinstance(second, For)
    turn = replacing({second.var: first.var})
    return (replace(first, body=(*first.body, *rebuild(second.body, turn))),)


def _reads_far_row(statement: Stmt, rows: For) -> bool:
    """Whether it is a loop over vectors that reads a whole row of one far array, where one row
    begins behind the other."""
    if not isinstance(statement, For) or not isinstance(statement.extent, int):
        return False
    inner = [s for s in statement.body if isinstance(s, For)]
    if len(inner) != 1 or inner[0].kind is not LoopKind.VECTOR:
        return False
    (lanes,) = inner
    read = [x for x in loads(*expressions((lanes,))) if x.buffer.space is not Space.LOCAL]
    far = [load for load in read if load.buffer.bytes >= FAR]
    if len({load.buffer for load in far}) != 1:
        return False
    step = affine(far[0].indices[0]).terms.get(statement.var, 0)
    along = {rows.var: statement.extent * step, statement.var: step, lanes.var: 1}
    return step > 0 and all(affine(load.indices[0]).terms == along for load in far)
