"""Loops of sines take all angles for near ones, and are done again if one of them is not.

    for i < 90: y[i] = sin(x[i])   →   largest = 0
                                       for i < 90: largest = max(largest, bits of |x[i]|)
                                                   y[i] = near_sin(x[i])
                                       if largest is far: for i < 90: y[i] = sin(x[i])

A vector has no branches: it takes all steps that any angle may need, which are six times those of
angles that programs have. What a loop both reads and writes is kept in a block until it is known
to be right. Long loops are cut into blocks: so threads share them, and little is done again.
Angles that are near whatever is in memory, as multiples of a fraction, need no trial.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    Expr,
    For,
    If,
    Let,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.magnitude import Magnitudes
from ccodegen.loop.parts import applied, loads, variables
from ccodegen.loop.rebuild import Body, expressions, is_straight, keep_expr, rebuild
from ccodegen.loop.rename import renamed, stem
from ccodegen.loop.turns import in_blocks, stored_after
from ccodegen.support.element_type import ElementType

_NEAR = {"cosine": "near-cosine", "sine": "near-sine", "tan": "near-tan"}
# CCG_NEAR_ANGLE_F32 and _F64; of an integer type it is known how to find the largest in vectors.
_ENDS = {ElementType.F32: 2.0**17, ElementType.F64: 2.0**20}
_BITS = {ElementType.F32: ElementType.U32, ElementType.F64: ElementType.U64}
_LEAST_TURNS = 8  # fewer are done one by one, where there are branches
_BLOCK = 1024  # turns
_VECTORS = (16, 8)  # turns that are whole ones, the best first


def near_angles(body: Body, fresh: Callable[[str], str]) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint."""

    def tried(statement: Stmt) -> Stmt | Body:
        if not isinstance(statement, For):
            return statement
        statement = _certain(statement)
        if not _is_fit(statement):
            return statement
        assert isinstance(statement.extent, int)
        size = _block(statement.extent)
        return in_blocks(statement, size, lambda loop: _tried(loop, fresh), fresh)

    return rebuild(body, keep_expr, tried)


def _block(extent: int) -> int:
    """How many turns a block has: such that blocks are whole vectors and nothing is left over, if
    that can be. What is left over is as much code again."""
    sizes = [s for s in range(_BLOCK, _BLOCK // 2, -1) if extent % s == 0]
    return next((s for unit in _VECTORS for s in sizes if s % unit == 0), _BLOCK)


def _certain(loop: For) -> For:
    """With near functions of the angles that are near whatever is in memory."""
    if not is_straight(loop.body) or not _has_angles(loop):
        return loop
    magnitudes = Magnitudes(loop.body)

    def near(expr: Expr) -> Expr:
        is_certain = (
            isinstance(expr, Apply)
            and _is_angle(expr)
            and magnitudes.bound(expr.arguments[0]) <= _ENDS[expr.type] / 2
        )
        return _near(expr) if is_certain else expr

    return replace(loop, body=rebuild(loop.body, near))


def _is_fit(loop: For) -> bool:
    """Whether it has such functions, turns that are independent, and nothing that is done may be
    seen by what is not done again."""
    is_vector = loop.kind in (LoopKind.VECTOR, LoopKind.LANES) and is_straight(loop.body)
    if not is_vector or not isinstance(loop.extent, int) or loop.extent < _LEAST_TURNS:
        return False
    if not _has_angles(loop):
        return False
    named = {s.var for s in loop.body if isinstance(s, Let)}
    written: set[Buffer] = set()
    for statement in loop.body:
        if any(load.buffer in written for load in loads(*expressions((statement,)))):
            return False
        if isinstance(statement, Store):
            written.add(statement.buffer)
            if statement.buffer.space is Space.LOCAL and not statement.buffer.dimensions:
                return False
            if not named.isdisjoint(variables(*statement.indices)):
                return False
    return True


def _has_angles(loop: For) -> bool:
    return any(map(_is_angle, applied(*expressions(loop.body))))


def _is_angle(expr: Apply) -> bool:
    return expr.operator in _NEAR and expr.type in _ENDS


def _tried(loop: For, fresh: Callable[[str], str]) -> Body:
    assert isinstance(loop.extent, int)
    angles = {a.type for a in applied(*expressions(loop.body)) if _is_angle(a)}
    largest = {t: Buffer(fresh("largest"), _BITS[t], ()) for t in _ENDS if t in angles}
    read = {load.buffer for load in loads(*expressions(loop.body))}
    stores = [s for s in loop.body if isinstance(s, Store) and s.buffer in read]
    held = {s: Buffer(fresh("held"), s.buffer.type, (loop.extent,)) for s in stores}
    first = replace(loop, body=tuple(_first(loop, largest, held)))
    turn = Var(fresh(stem(loop.var.name)))
    again = replace(loop, var=turn, body=renamed(loop.body, fresh, {loop.var: turn}))
    after = (stored_after(loop, held, fresh),) if held else ()
    decision = If(functools.reduce(_either, map(_is_far, largest.values())), (again,), after)
    sizes = [s for b in largest.values() for s in (Alloc(b), Store(b, (), const(b.type, 0)))]
    return *sizes, *map(Alloc, held.values()), first, decision


def _first(
    loop: For, largest: Mapping[ElementType, Buffer], held: Mapping[Store, Buffer]
) -> Iterator[Stmt]:
    """What a turn does that takes angles for near ones."""
    seen: set[Expr] = set()
    for statement in loop.body:
        (near,) = rebuild((statement,), _near)
        for part in applied(*expressions((near,))):
            if part.operator in _NEAR.values() and part.arguments[0] not in seen:
                seen.update(part.arguments)
                size = largest[part.type]
                larger = apply("maximum", Load(size, ()), _size(part.arguments[0]))
                yield Store(size, (), larger)
        if isinstance(statement, Store) and isinstance(near, Store) and statement in held:
            near = Store(held[statement], (loop.var,), near.value)
        yield near


def _near(expr: Expr) -> Expr:
    if isinstance(expr, Apply) and _is_angle(expr):
        return replace(expr, operator=_NEAR[expr.operator])
    return expr


def _size(angle: Expr) -> Expr:
    """An integer that is larger for a larger absolute value, and largest for NaN."""
    bits = _BITS[angle.type]
    all_but_sign = const(bits, (1 << bits.bits - 1) - 1)
    return apply("and", apply("bitcast-convert", angle, type=bits), all_but_sign)


def _is_far(size: Buffer) -> Expr:
    (angle,) = (t for t, bits in _BITS.items() if bits is size.type)
    largest = apply("bitcast-convert", Load(size, ()), type=angle)
    is_near = apply("compare-lt", largest, const(angle, _ENDS[angle]), type=ElementType.PRED)
    return apply("not", is_near)


def _either(a: Expr, b: Expr) -> Expr:
    return apply("or", a, b)
