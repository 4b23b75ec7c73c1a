"""Long kernels as several: the outermost loops one after the other, where they share no names.

    for i: …; for j: …   →   for i: …   and   for j: …

A compiler can begin with the first while the next is made, and two share them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ccodegen.loop.ir import Alloc, For, Let
from ccodegen.loop.parts import variables
from ccodegen.loop.rebuild import Body, expressions, statements, used_buffers

_LONG = 100  # statements: a compiler takes twice as long for them as to begin


def separate(body: Body) -> Iterator[Body]:
    """The statements in order, in runs that are long and share no names."""
    start, rest = 0, len(statements(body))
    if rest >= 2 * _LONG:
        length = 0
        for n, statement in enumerate(body, 1):
            count = len(statements((statement,)))
            length, rest = length + count, rest - count
            ends = isinstance(statement, For) and length >= _LONG and rest >= _LONG
            if ends and not _reads_names(body[n:], body[start:n]):
                yield body[start:n]
                start, length = n, 0
    yield body[start:]


def _reads_names(later: Body, earlier: Body) -> bool:
    """Whether names and arrays that statements declare are used later on."""
    names = {s.var for s in earlier if isinstance(s, Let)}
    arrays = {s.buffer for s in earlier if isinstance(s, Alloc)}
    if not names and not arrays:
        return False
    used = variables(*expressions(later))
    return not names.isdisjoint(used) or not arrays.isdisjoint(used_buffers(later))
