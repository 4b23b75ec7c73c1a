"""Short folds inside of a loop along memory are written out, so that the loop becomes vectors.

Compilers unroll short loops only after they have looked for vectors, or when it is too late for
them: a maximum over windows of 3 × 3 ran one element after the other.
"""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.loop.affine import affine
from ccodegen.loop.ir import (
    Alloc,
    For,
    Let,
    LoopKind,
    Note,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import Body, expressions, keep_expr, rebuild
from ccodegen.loop.turns import unrolled_inside

_MOST_TURNS = 16  # of a fold: 4 × 4, or 2 × 2 × 2
_LEAST_EXTENT = 4


def unroll_folds(body: Body, fresh: Callable[[str], str]) -> Body:
    """Before: `for i < 64 { local m = x[i]; for w < 2 { m = max(m, x[i + 64 * w + 64]) } … }`.
    After: `for i < 64 { local m = x[i]; m = max(m, x[i + 64]); m = max(m, x[i + 128]); … }`.

    Over flat buffers. `fresh` gives names that the kernel does not have yet, after a hint.
    """

    def unrolled(statement: Stmt) -> Stmt:
        if not isinstance(statement, For) or not _folds_along_memory(statement):
            return statement
        return unrolled_inside(statement, statement.kind, fresh)

    return rebuild(body, keep_expr, unrolled)


def _folds_along_memory(loop: For) -> bool:
    """Whether it is independent, reads side by side what differs from turn to turn, and has loops
    in it that are short and change variables only."""
    short = isinstance(loop.extent, int) and loop.extent >= _LEAST_EXTENT
    inner = [s for s in loop.body if isinstance(s, For)]
    if loop.kind is not LoopKind.PARALLEL or not short or not inner:
        return False
    return all(_turns(s) <= _MOST_TURNS for s in inner) and _is_along_memory(loop.body, loop.var)


def _turns(statement: Stmt) -> float:
    """Of the innermost statements of a fold; no number of turns for anything else."""
    match statement:
        case For(_, int() as extent, body, LoopKind.SERIAL):
            return extent * max(map(_turns, body), default=1)
        case Store(buffer) if buffer.space is Space.LOCAL and not buffer.dimensions:
            return 1
        case Let() | Alloc() | Note():
            return 1
    return float("inf")


def _is_along_memory(body: Body, var: Var) -> bool:
    used = {load for e in expressions(body) for load in loads(e)}
    steps = [affine(i).terms.get(var, 0) for load in used for i in load.indices]
    return 1 in steps and {*steps} <= {0, 1}
