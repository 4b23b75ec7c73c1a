"""Names and variables of halves, and choices between them, hold the f32 that each of them is.

    let t: f16 = x * 2; y[i] = t + t
    →   let t: f32 = convert(x * 2); y[i] = narrow(t) + narrow(t)

C computes with halves in f32: what it rounds for a name need not become an f16's bits in between.
And what keeps the order of numbers is done before they are rounded, as it rounds nothing itself:

    y[i] = maximum(x * 2, 0)   →   y[i] = convert(maximum(unrounded(x * 2), 0))

The numbers are the same.
"""

from __future__ import annotations

from ccodegen.loop.builder import apply, const
from ccodegen.loop.ir import Alloc, Apply, Buffer, CallC, Const, Expr, Let, Load, Stmt, Store, Var
from ccodegen.loop.operators import MOVES, computes_in_halves, rounds
from ccodegen.loop.parts import applied, operands, parts, same
from ccodegen.loop.rebuild import Body, expressions, rebuild, statements
from ccodegen.loop.spelling import HALVES
from ccodegen.support.element_type import ElementType

_F32 = ElementType.F32
_IN_ORDER = ("maximum", "minimum", "clamp", "negate", "abs")  # abs of both signs alike


def name_halves(body: Body) -> Body:
    """Statements of equal effect."""
    if not any(part.type in HALVES for expr in expressions(body) for part in applied(expr)):
        return body
    wide = _computed_with(body)

    def on_expr(expr: Expr) -> Expr:
        if isinstance(expr, Apply):
            return _rounded_last(_with_choices(expr)) if takes_numbers(expr) else expr
        held = expr.buffer if isinstance(expr, Load) else expr
        if held not in wide:
            return expr
        own = wide[held]
        return narrow_half(own if isinstance(own, Var) else Load(own, ()), expr.type)

    def on_statement(statement: Stmt) -> Stmt:
        match statement:
            case Let(var, value) if isinstance(own := wide.get(var), Var):
                return Let(own, wide_half(value))
            case Alloc(buffer) if isinstance(own := wide.get(buffer), Buffer):
                return Alloc(own)
            case Store(buffer, _, value) if isinstance(own := wide.get(buffer), Buffer):
                return Store(own, (), wide_half(value))
        return statement

    return rebuild(body, on_expr, on_statement)


def _computed_with(body: Body) -> dict[object, Var | Buffer]:
    """Forms in f32 of the names and variables of halves that are computed, and computed with."""
    values: dict[Var | Buffer, list[Expr]] = {}
    for statement in statements(body):
        match statement:
            case Let(var, value) if value.type in HALVES:
                values[var] = [value]
            case Alloc(buffer) if buffer.type in HALVES and not buffer.dimensions:
                values.setdefault(buffer, [])
            case Store(buffer, _, value) if buffer in values:
                values[buffer].append(value)
            case CallC():
                for buffer in statement.buffers:
                    values.pop(buffer, None)
    used = (part for expr in expressions(body) for part in parts(expr))
    as_numbers = {
        o.buffer if isinstance(o, Load) else o
        for part in used
        if takes_numbers(part)
        for o in operands(part)
    }
    return {
        held: Var(held.name, _F32) if isinstance(held, Var) else Buffer(held.name, _F32, ())
        for held, given in values.items()
        if held in as_numbers and all(map(_is_number, given))
    }


def _with_choices(expr: Apply) -> Apply:
    """What takes numbers, of choices between f32s for those between numbers that are halves."""
    arguments = tuple(map(_chosen, expr.arguments))
    if same(arguments, expr.arguments):
        return expr
    return Apply(expr.operator, arguments, expr.type)


def _chosen(value: Expr) -> Expr:
    match value:
        case Apply("select", (condition, *arms), half) if half in HALVES:
            numbers = [_chosen(arm) for arm in arms]
            if all(map(_is_number, numbers)):
                return narrow_half(apply("select", condition, *map(wide_half, numbers)), half)
    return value


def _rounded_last(expr: Apply) -> Apply:
    """What keeps the order of numbers, of some that are rounded: rounded itself instead."""
    if expr.operator not in _IN_ORDER or not any(map(is_rounded, expr.arguments)):
        return expr
    wide = [unrounded_half(a) if is_rounded(a) else wide_half(a) for a in expr.arguments]
    return Apply("convert", (apply(expr.operator, *wide),), expr.type)


def is_rounded(value: Expr) -> bool:
    """Whether it is a half that C rounds an f32 to."""
    return isinstance(value, Apply) and rounds(
        value.operator, [a.type for a in value.arguments], value.type
    )


def narrow_half(wide: Expr, half: ElementType) -> Expr:
    """An f32 that is such a half, as one."""
    return apply("narrow", wide, type=half)


def wide_half(half: Expr) -> Expr:
    """A half as f32."""
    match half:
        case Apply("narrow", (wide,)):
            return wide
        case Const(_, value):
            return const(_F32, float(value))
    return apply("convert", half, type=_F32)


def unrounded_half(half: Expr) -> Expr:
    """An f32 that rounds to this half: what it is computed as."""
    match half:
        case Apply("narrow") | Const():
            return wide_half(half)
        case Apply("convert", (wide,)) if wide.type is _F32:
            return wide
    return apply("unrounded", half, type=_F32)


def _is_number(value: Expr) -> bool:
    return takes_numbers(value) or isinstance(value, Const)


def takes_numbers(expr: Expr) -> bool:
    """Whether C computes with the f32 that each half of its is."""
    if not isinstance(expr, Apply) or computes_in_halves(expr.operator):
        return False
    return expr.operator not in MOVES
