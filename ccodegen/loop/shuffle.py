"""A loop over the two halves of a buffer that takes elements of both by turns, or back.

    for p < 80: target[2 * p] = source[p], target[2 * p + 1] = source[p + 80]

The upper bit of each place becomes the lowest: four times that, and sixteen rows are turned.
Compilers make shuffles of vectors of it.
"""

from __future__ import annotations

from ccodegen.loop.affine import affine
from ccodegen.loop.ir import INDEX, Buffer, Const, For, Load, LoopKind, Store, Var


def shuffle(source: Buffer, target: Buffer, place: Var, back: bool = False) -> For:
    """Over flat buffers of the same even size. `back`: the lowest bit becomes the upper."""
    half = source.size // 2
    lower, upper = affine(place), affine(place) + affine(Const(INDEX, half))
    even = lower.scaled(2)
    odd = even + affine(Const(INDEX, 1))
    pairs = [(lower, even), (upper, odd)]
    if back:
        pairs = [(taken, put) for put, taken in pairs]
    stores = [Store(target, (put.expr,), Load(source, (taken.expr,))) for taken, put in pairs]
    return For(place, half, tuple(stores), LoopKind.PARALLEL)
