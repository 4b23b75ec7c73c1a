"""Loops in chunks that threads share, where each turn needs memory of its own: one a chunk; and in
strips, of some turns at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Expr, LoopKind
from ccodegen.lower.job import Work
from ccodegen.ops.index import minus, plus, quotient, times

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


@contextmanager
def in_strips(
    work: Work, count: Expr | int, most: int, kind: LoopKind = LoopKind.SERIAL
) -> Iterator[tuple[Expr, Expr]]:
    """A loop over so many, at most `most` at a time: the first of these, and how many they are."""
    total = index(count) if isinstance(count, int) else count
    with work.builder.loop(quotient(plus(total, most - 1), most), "strip", kind) as strip:
        first = times(strip, most)
        yield first, remaining(work, total, first, most) if most > 1 else index(1)


def remaining(work: Work, total: Expr | int, first: Expr, size: int) -> Expr:
    """How many of `size` there are from `first` on, of `total`."""
    left = minus(index(total) if isinstance(total, int) else total, first)
    return work.builder.simplify((apply("minimum", index(size), left),))[0]
