"""Rows of two to four elements are written out, so that the loop over rows becomes vectors.

    for i < 1000: for j < 3: y[i * 3 + j] = x[i * 3 + j] / norm[i]

has no loop that is as long as a vector but the outer one, and compilers make vectors of that only
if there is none inside: of elements three apart, which they take out of whole vectors.
"""

from __future__ import annotations

from collections.abc import Callable

from ccodegen.loop.affine import affine
from ccodegen.loop.ir import INDEX, Expr, For, Let, LoopKind, Stmt, Store, Var
from ccodegen.loop.parts import loads, variables
from ccodegen.loop.rebuild import Body, expressions, is_straight, keep_expr, rebuild, statements
from ccodegen.loop.turns import unrolled_inside

MOST_ELEMENTS = 4  # of a row
_LEAST_ROWS = 16
_MOST_STATEMENTS = 200  # of the loop over rows


def unroll_rows(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, once loops are marked and what a row has in common stands before
    it. `fresh` gives names that the kernel does not have yet, after a hint."""

    def unrolled(statement: Stmt) -> Stmt:
        if not isinstance(statement, For) or not has_short_rows(statement):
            return statement
        return unrolled_inside(statement, LoopKind.VECTOR, fresh)

    return rebuild(body, keep_expr, unrolled)


def has_short_rows(loop: For) -> bool:
    """Whether its turns are independent, and rows lie one behind the other, at places that are not
    looked up: elements in a vector of several rows would each be."""
    many = isinstance(loop.extent, int) and loop.extent >= _LEAST_ROWS
    rows = [s for s in loop.body if isinstance(s, For)]
    if loop.kind is not LoopKind.PARALLEL or not many or not rows or not all(map(_turns, rows)):
        return False
    others = [s for s in loop.body if not isinstance(s, For)]
    count = len(others) + sum(_turns(row) * len(row.body) for row in rows)
    looked_up = any(isinstance(s, Let) and s.var.type is INDEX and loads(s.value) for s in others)
    if looked_up or not is_straight(others) or count > _MOST_STATEMENTS:
        return False
    places = [i for load in loads(*expressions(loop.body)) for i in load.indices]
    places += [i for s in statements(loop.body) if isinstance(s, Store) for i in s.indices]
    return all(_is_near(place, loop.var) for place in places)


def _is_near(place: Expr, var: Var) -> bool:
    """Whether it is a few elements further on in the next turn."""
    terms = affine(place).terms
    others = variables(*(t for t in terms if t != var))
    return abs(terms.get(var, 0)) <= MOST_ELEMENTS and var not in others


def _turns(row: For) -> int:
    """Of a short loop of independent turns; else 0."""
    short = isinstance(row.extent, int) and row.extent <= MOST_ELEMENTS
    if not short or row.kind is LoopKind.SERIAL or not is_straight(row.body):
        return 0
    assert isinstance(row.extent, int)
    return row.extent
