"""Buffer assignment: offsets in the arena, so that what is alive at once does not overlap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from ccodegen.lower.liveness import Life
from ccodegen.support.immutable import immutable

_ATTEMPTS = 6


@immutable
class Block:
    """Memory to place: `owner` is handed back; alive during any of `lives`."""

    owner: Hashable
    bytes: int
    lives: tuple[Life, ...]

    def meets(self, other: Block) -> bool:
        return any(a.overlaps(b) for a in self.lives for b in other.lives)


@immutable
class Assignment:
    """`offsets` in bytes by owner; `size` of the arena; `lower_bound`: no plan needs less."""

    offsets: dict[Hashable, int]
    size: int
    lower_bound: int


def assign(blocks: Sequence[Block], alignment: int) -> Assignment:
    """The best of several orders of placing each block at the lowest place that is free."""
    orders: list[Callable[[Block], tuple[int, ...]]] = [
        lambda b: (-b.bytes, b.lives[0].first),
        lambda b: (-b.bytes * _length(b), b.lives[0].first),
        lambda b: (-_length(b), -b.bytes),
        lambda b: (b.lives[0].first, -b.bytes),
        lambda b: (-b.lives[-1].last, -b.bytes),
    ]
    bound = lower_bound(blocks, alignment)
    best: Assignment | None = None
    for order in orders:
        for offsets, size in _attempts(sorted(blocks, key=order), alignment):
            if best is None or size < best.size:
                best = Assignment(offsets, size, bound)
            if best.size == bound:
                return best
    assert best is not None
    return best


def _attempts(
    ordered: list[Block], alignment: int
) -> Iterator[tuple[dict[Hashable, int], int]]:
    """Places and their size: in this order first, then with what came to lie at the end before all
    others."""
    for _ in range(_ATTEMPTS):
        offsets = _place(ordered, alignment)
        ends = {b.owner: offsets[b.owner] + _rounded(b.bytes, alignment) for b in ordered}
        size = max(ends.values(), default=0)
        yield offsets, size
        ordered = sorted(ordered, key=lambda b: ends[b.owner] < size)


def lower_bound(blocks: Sequence[Block], alignment: int) -> int:
    """Most bytes alive at one step, each block rounded up to the alignment."""
    changes: dict[int, int] = {}
    for block in blocks:
        size = _rounded(block.bytes, alignment)
        for life in block.lives:
            changes[life.first] = changes.get(life.first, 0) + size
            changes[life.last + 1] = changes.get(life.last + 1, 0) - size
    alive = peak = 0
    for step in sorted(changes):
        alive += changes[step]
        peak = max(peak, alive)
    return peak


def merged(lives: Sequence[Life]) -> tuple[Life, ...]:
    """The same steps as disjoint lives in order."""
    found: list[Life] = []
    for life in sorted(lives, key=lambda i: i.first):
        if found and life.first <= found[-1].last:
            found[-1] = Life(found[-1].first, max(found[-1].last, life.last))
        else:
            found.append(Life(life.first, life.last))
    return tuple(found)


def _place(blocks: Sequence[Block], alignment: int) -> dict[Hashable, int]:
    placed: list[tuple[int, int, Block]] = []
    offsets: dict[Hashable, int] = {}
    for block in blocks:
        offset = 0
        size = _rounded(block.bytes, alignment)
        for start, end, other in placed:
            if start >= offset + size:
                break
            if end > offset and block.meets(other):
                offset = end
        offsets[block.owner] = offset
        placed.append((offset, offset + size, block))
        placed.sort(key=lambda p: p[0])
    return offsets


def _length(block: Block) -> int:
    return sum(life.last - life.first + 1 for life in block.lives)


def _rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
