"""Loops in chunks that threads share, where each turn needs memory of its own: one a chunk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, LoopKind
from ccodegen.lower.job import Work
from ccodegen.ops.index import plus, times

_MOST = 8  # several for each thread, as some cores are slower


@contextmanager
def in_chunks(
    work: Work, count: int, hint: str, kind: LoopKind = LoopKind.PARALLEL, last: int = 1
) -> Iterator[tuple[Expr, Expr, int]]:
    """A loop over 0 … count - 1: the number of the turn, that of its chunk, and how many chunks
    there are: one if there is one thread. The `last` so many turns are in one chunk."""
    chunks = min(count, most_chunks(work))
    size = -(-count // max(chunks, 1))
    while 0 < count % max(size, 1) < last:
        size += 1
    chunks = -(-count // max(size, 1))
    with work.builder.loop(chunks, "chunk", kind) as chunk:
        first = times(chunk, size)
        with work.builder.loop(remaining(work, count, first, size), hint) as number:
            yield plus(first, number), chunk, chunks


def most_chunks(work: Work) -> int:
    return _MOST if work.job.target.machine.threads > 1 else 1


def remaining(work: Work, total: int, first: Expr, size: int) -> Expr:
    """How many of `size` there are from `first` on, of `total`."""
    left = apply("subtract", index(total), first)
    return work.builder.simplify((apply("minimum", index(size), left),))[0]
