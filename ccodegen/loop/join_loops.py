"""One loop for a nest of independent ones, where the outermost has too few turns to share out."""

from __future__ import annotations

import math
from dataclasses import replace

from ccodegen.loop.independence import independent
from ccodegen.loop.ir import For, Let, LoopKind, Stmt, Var
from ccodegen.loop.linear import delinearize


def join_loops(loop: For, turns: int) -> For:
    """A loop of equal effect, of a loop whose turns are independent: with so many turns, if the
    loops right inside have them.

    Before: `for i < 3: for j < 7: y[i * 7 + j] = x[j]`. After: `for i.j < 21: let i = i.j / 7;
    let j = i.j % 7; y[i * 7 + j] = x[j]`. The turns come in the same order.
    """
    nest = [loop]
    while math.prod(_extents(nest)) < turns and (inner := _loop_alone(nest[-1].body)):
        nest.append(inner)
    if len(nest) == 1:
        return loop
    extents = _extents(nest)
    # No other name in the kernel has a dot.
    both = Var(".".join(each.var.name for each in nest))
    count = math.prod(extents)
    position = delinearize(both, extents, {both: count})
    lets = [Let(each.var, value) for each, value in zip(nest, position, strict=True)]
    return replace(loop, var=both, extent=count, body=(*lets, *nest[-1].body))


def _extents(nest: list[For]) -> list[int]:
    return [loop.extent for loop in nest if isinstance(loop.extent, int)]


def _loop_alone(body: tuple[Stmt, ...]) -> For | None:
    """The loop that is all of it, if its turns are independent and more than a vector's lanes."""
    match body:
        case (For(_, int(), _, LoopKind.SERIAL | LoopKind.PARALLEL) as loop,):
            return loop if independent(loop, calls=True) else None
    return None
