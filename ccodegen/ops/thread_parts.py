"""The turns of a loop that one of several threads takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from ccodegen.loop.builder import Builder
from ccodegen.loop.ir import Expr
from ccodegen.ops.index import less, plus, times


@contextmanager
def turns_of(builder: Builder, part: Expr, parts: int, count: int) -> Iterator[Expr]:
    """A loop over the numbers below `count` of one of so many parts, which are as large as each
    other, but for the last ones."""
    each = -(-count // parts)
    with builder.loop(each, "line") as turn:
        number = plus(times(part, each), turn)
        is_whole = parts * each == count
        with nullcontext() if is_whole else builder.when(less(number, count)):
            yield number
