"""Short rows of narrow elements, or of functions, end with a vector that overlaps the one before.

    for i < 254: y[i] = x[i] + 1   →   for i < 192: y[i] = x[i] + 1
                                       for i < 64: y[i + 190] = x[i + 190] + 1

Compilers make half a vector of what is left over, and go on one by one: with 64 elements in a
vector, or with functions like exp, or as many operations, that takes most of the time of such a
row. A row of less than a vector is one of half vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ccodegen.loop.affine import affine
from ccodegen.loop.cost import FUNCTIONS, cost
from ccodegen.loop.ir import Alloc, For, If, Let, LoopKind, Note, Stmt, Store, Var
from ccodegen.loop.operators import computes_in_halves
from ccodegen.loop.parts import applied, loads
from ccodegen.loop.rebuild import Body, expressions, written_buffers
from ccodegen.loop.spelling import HALVES
from ccodegen.loop.turns import piece

_NARROW = 2  # bytes of an element: of wider ones few are left over
_MOST_VECTORS = 16  # of a row, of which the end is worth code of its own
_LEAST_REST = 8  # elements
_LEAST_DEAR_REST = 2
_MANY = 32  # operations on an element, which take as long as a function
_TO_ROUND = 6  # operations that round an f32 to an f16 or bf16


def overlap_tails(body: Body, fresh: Callable[[str], str], vector_bytes: int) -> Body:
    """Statements of equal effect. `fresh` gives names that the kernel does not have yet, after a
    hint."""
    return _block(body, fresh, vector_bytes, inside=False)


def _block(body: Body, fresh: Callable[[str], str], vector_bytes: int, inside: bool) -> Body:
    result: list[Stmt] = []
    for statement in body:
        match statement:
            case For():
                lanes = _lanes(statement, vector_bytes) if inside else 0
                if lanes:
                    result += _split(statement, lanes, fresh)
                else:
                    inner = _block(statement.body, fresh, vector_bytes, inside=True)
                    result.append(replace(statement, body=inner))
            case If(condition, then, orelse):
                arms = (_block(arm, fresh, vector_bytes, inside) for arm in (then, orelse))
                result.append(If(condition, *arms))
            case _:
                result.append(statement)
    return tuple(result)


def _lanes(loop: For, vector_bytes: int) -> int:
    """Elements of a vector, where the loop's end pays to be one; else 0."""
    if loop.kind is not LoopKind.VECTOR or not isinstance(loop.extent, int):
        return 0
    if not all(isinstance(s, Alloc | Let | Store | Note) for s in loop.body):
        return 0
    own = {s.buffer for s in loop.body if isinstance(s, Alloc)}
    read = {load.buffer for load in loads(*expressions(loop.body))} - own
    written = written_buffers(loop.body) - own
    stores = (s for s in loop.body if isinstance(s, Store) and s.buffer not in own)
    moves = all(_moves(store, loop.var) for store in stores)
    if not moves or not read.isdisjoint(written):  # a turn may not be done twice
        return 0
    narrowest = min((b.type.bytes for b in read | written if b.dimensions), default=vector_bytes)
    lanes = vector_bytes // narrowest
    operators = applied(*expressions(loop.body))
    rounded = sum(a.type in HALVES and not computes_in_halves(a.operator) for a in operators)
    calls = any(a.operator in FUNCTIONS for a in operators)
    if calls or cost(loop.body).operations + _TO_ROUND * rounded >= _MANY:
        lanes = min(lanes, 1 << max(loop.extent, 1).bit_length() - 1)
        least_rest = _LEAST_DEAR_REST
    elif narrowest <= _NARROW:
        least_rest = _LEAST_REST
    else:
        return 0
    rest, vectors = loop.extent % lanes, loop.extent // lanes
    pays = rest >= least_rest and rest != lanes // 2 and 1 <= vectors <= _MOST_VECTORS
    return lanes if pays else 0


def _moves(store: Store, var: Var) -> bool:
    return any(abs(affine(index).terms.get(var, 0)) == 1 for index in store.indices)


def _split(loop: For, lanes: int, fresh: Callable[[str], str]) -> Body:
    extent = loop.extent
    assert isinstance(extent, int)
    whole = extent // lanes * lanes
    return piece(loop, 0, whole, fresh), piece(loop, extent - lanes, extent, fresh)
