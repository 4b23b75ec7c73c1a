"""Short loops compute in words what they store in bytes, and store it after that.

    for j < 16 vector: y[j] = convert(x[j] * s)    →    for j < 16 vector: w[j] = saturate(x[j] * s)
                                                        for j < 16 vector: y[j] = convert(w[j])

What is a byte only until it is a word or a float again stays a word.

A compiler takes as many turns at a time as fill a vector with what is narrowest; where there are
fewer, it takes a narrower vector for all that is computed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ccodegen.loop.builder import apply, const
from ccodegen.loop.cost import WORD
from ccodegen.loop.ir import (
    Alloc,
    Apply,
    Buffer,
    Const,
    Expr,
    For,
    Let,
    Load,
    LoopKind,
    Space,
    Stmt,
    Store,
    Var,
)
from ccodegen.loop.parts import applied, loads, variables
from ccodegen.loop.ranges import of_type
from ccodegen.loop.rebuild import Body, expressions, is_straight, keep_expr, rebuild
from ccodegen.loop.rename import stem
from ccodegen.loop.spelling import HALVES
from ccodegen.loop.turns import most_turns, stored_after
from ccodegen.loop.unroll_rows import MOST_ELEMENTS
from ccodegen.support.element_type import ElementType

_LEAST_TURNS = 4  # fewer are unrolled, and vectors are made of the loop around them
WORDS = (ElementType.S32, ElementType.U32)


def widen_narrow_stores(body: Body, fresh: Callable[[str], str], vector_bytes: int) -> Body:
    """Statements of equal effect, once loops are marked. `fresh` gives names that the kernel does
    not have yet, after a hint."""

    def widened(statement: Stmt) -> Stmt | Body:
        if isinstance(statement, For) and _is_plain(statement):
            most = most_turns(statement.extent)
            passed = _passed(statement.body) if most >= _LEAST_TURNS else []
            loop = replace(statement, body=_named_in_words(statement.body, bool(passed), fresh))
            stores = _stored_words(loop.body) if most > MOST_ELEMENTS else {}
            narrow = [*(s.buffer.type for s in stores), *passed]
            if narrow and most * min(t.bytes for t in narrow) < vector_bytes:
                return _widened(loop, most, stores, fresh) if stores else loop
        return statement

    return rebuild(body, keep_expr, widened)


def _is_plain(loop: For) -> bool:
    """Whether it is a loop of independent turns, whose stores depend on nothing else that they
    name."""
    named = {s.var for s in loop.body if isinstance(s, Let)}
    places = [i for s in loop.body if isinstance(s, Store) for i in s.indices]
    is_vector = loop.kind is LoopKind.VECTOR and is_straight(loop.body)
    return is_vector and named.isdisjoint(variables(*places)) and not _reads_as_narrow(loop.body)


def _reads_as_narrow(body: Body) -> bool:
    """Whether halves become what is no narrower than what is read, so that nothing is gained."""
    everything = tuple(expressions(body))
    least = min((load.type.bytes for load in loads(*everything)), default=WORD)
    made = (e for e in applied(*everything) if e.operator == "convert" and _is_narrow(e.type))
    return any(e.arguments[0].type in HALVES and least <= e.type.bytes for e in made)


def _passed(body: Body) -> list[ElementType]:
    """The narrow integers that floats become, and then words or floats at once."""
    made = {s.var: s.value for s in body if isinstance(s, Let)}
    values = (e.arguments[0] for e in applied(*expressions(body)) if _widens(e))
    given = (made.get(v, v) if isinstance(v, Var) else v for v in values)
    return [value.type for value in given if _saturated(value) is not None]


def _widens(expr: Apply) -> bool:
    """Whether a narrow integer becomes a word or a float."""
    is_number = expr.type.is_integer or expr.type.is_float
    if expr.operator != "convert" or not is_number or expr.type.bytes < WORD:
        return False
    return _is_narrow(expr.arguments[0].type)


def _named_in_words(body: Body, pass_on: bool, fresh: Callable[[str], str]) -> Body:
    """What is narrowed and has a name is named before. `pass_on`: what is wide again at once does
    not become narrow."""
    words: dict[Var, Expr] = {}
    within: set[Expr] = set()  # names of words that the narrow type has

    def on_expr(expr: Expr) -> Expr:
        if pass_on and isinstance(expr, Apply) and _widens(expr):
            match expr.arguments:
                case (Apply("convert", (Var() as own,)),) if own in within:
                    return _converted(own, expr.type)
                case (narrow,) if (word := _saturated(narrow)) is not None:
                    return _converted(word, expr.type)
        return words.get(expr, expr) if isinstance(expr, Var) else expr

    result: list[Stmt] = []
    for statement in body:
        (changed,) = rebuild((statement,), on_expr)
        if isinstance(changed, Let) and (word := _word(changed.value)) is not None:
            own = Var(fresh(stem(changed.var.name)), word.type)
            words[changed.var] = apply("convert", own, type=changed.value.type)
            if _saturated(changed.value) is not None:
                within.add(own)
            changed = Let(own, word)
        result.append(changed)
    return tuple(result)


def _stored_words(body: Body) -> dict[Store, Expr]:
    """What stores narrow, by these."""
    stores = [s for s in body if isinstance(s, Store) and s.buffer.space is not Space.LOCAL]
    return {s: word for s in stores if (word := _word(s.value)) is not None}


def _is_narrow(element_type: ElementType) -> bool:
    return element_type.is_integer and element_type.bytes < WORD


def _converted(word: Expr, element_type: ElementType) -> Expr:
    return word if word.type is element_type else apply("convert", word, type=element_type)


def _word(value: Expr) -> Expr | None:
    """What is narrowed to integers of fewer bytes, in a word; None for other values."""
    match value:
        case Apply("convert", (wide,), narrow) if _is_narrow(narrow) and wide.type in WORDS:
            return None if isinstance(wide, Load) else wide
    return _saturated(value)


def _saturated(value: Expr) -> Expr | None:
    """The word of what is narrowed from an f32 or a half; None for other values."""
    match value:
        case Apply("convert", (wide,), narrow) if _is_narrow(narrow):
            if wide.type in (ElementType.F32, *HALVES) and not isinstance(wide, Load):
                reach = of_type(narrow)
                value, *ends = _unlimited(wide, reach.low, reach.high)
                value = _converted(value, ElementType.F32)
                limits = (const(ElementType.F32, end) for end in ends)
                return apply("saturate", value, *limits, type=ElementType.S32)
    return None


def _unlimited(value: Expr, least: float, largest: float) -> tuple[Expr, float, float]:
    """A value that is limited by constants and then to these, without that, and limits for both."""
    match value:
        case Apply("minimum", (inner, Const(_, most)) | (Const(_, most), inner)):
            if least <= most:
                return _unlimited(inner, least, min(largest, float(most)))
        case Apply("maximum", (inner, Const(_, most)) | (Const(_, most), inner)):
            if most <= largest:
                return _unlimited(inner, max(least, float(most)), largest)
        case Apply("clamp", (Const(_, low), inner, Const(_, high))):
            if least <= low <= high <= largest:
                return _unlimited(inner, float(low), float(high))
    return value, least, largest


def _widened(
    loop: For, most: int, stores: Mapping[Store, Expr], fresh: Callable[[str], str]
) -> Body:
    wide = {s: Buffer(fresh("wide"), word.type, (most,)) for s, word in stores.items()}
    inner = tuple(
        Store(wide[s], (loop.var,), stores[s]) if s in wide else s for s in loop.body
    )
    after = stored_after(loop, wide, fresh)
    return (*map(Alloc, wide.values()), replace(loop, body=inner), after)
