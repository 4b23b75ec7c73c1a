"""A slow operator that a block applies twice to the same values is applied once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.loop.ir import Apply, Const, Expr, For, If, Let, Load, Stmt, Store, Var
from ccodegen.loop.literals import value_text
from ccodegen.loop.parts import loads, operands
from ccodegen.loop.rebuild import Body, keep_expr, rebuild
from ccodegen.support.element_type import ElementType


def share_common(body: Body, fresh: Callable[[str], str]) -> Body:
    """Binds the result of a slow operator (one of TRANSCENDENTAL) that a block needs again.

    Before: `y[i] = tanh(t); z[i] = tanh(t) + 1`. After: `let u = tanh(t); y[i] = u; z[i] = u + 1`.
    Only what is computed in any case (not in an arm of a select), from names and constants, which
    do not change. `fresh` gives names that the kernel does not have yet, after a hint.
    """

    def in_block(statement: Stmt) -> Stmt:
        match statement:
            case For(_, _, inner):
                return replace(statement, body=_shared(inner, fresh))
            case If(condition, then, orelse):
                return If(condition, _shared(then, fresh), _shared(orelse, fresh))
        return statement

    return _shared(rebuild(body, keep_expr, in_block), fresh)


def _shared(body: Body, fresh: Callable[[str], str]) -> Body:
    """One block, where nothing slow is left that it computes twice."""
    while True:
        slow = [(n, expr) for n, statement in enumerate(body) for expr in _slow(statement)]
        counts = Counter(key(expr) for _, expr in slow)
        again = [(n, expr) for n, expr in slow if counts[key(expr)] > 1]
        if not again:
            return body
        first, expr = next((n, e) for n, e in again if not _holds_any(e, counts))
        var = Var(fresh(expr.operator), expr.type)
        rest = rebuild(body[first:], replacer(key(expr), var))
        body = (*body[:first], Let(var, expr), *rest)


def _slow(statement: Stmt) -> Iterator[Apply]:
    """The slow operators that a statement applies once in any case, to what does not change."""
    for expr in computed(statement):
        if isinstance(expr, Apply) and expr.operator in TRANSCENDENTAL and not any(loads(expr)):
            yield expr


def computed(statement: Stmt) -> list[Expr]:
    """The parts of a statement's expressions that are evaluated in any case, the last first."""
    match statement:
        case Let(_, value) | If(value):
            return evaluated(value)
        case Store(_, indices, value):
            return evaluated(*indices, value)
    return []


def evaluated(*expressions: Expr) -> list[Expr]:
    """The parts of expressions that are evaluated in any case, the last first."""
    pending, found = [*expressions], []
    while pending:
        expr = pending.pop()
        found.append(expr)
        if type(expr) is Load:
            pending += expr.indices
        elif type(expr) is Apply:
            pending += expr.arguments[:1] if _is_lazy(expr) else expr.arguments
    return found


def _is_lazy(expr: Apply) -> bool:
    if expr.operator == "select":
        return True
    return expr.type is ElementType.PRED and expr.operator in ("and", "or")


def _holds_any(expr: Apply, counts: Counter[Hashable]) -> bool:
    """Whether a part of it is needed again as well."""
    pending = list(expr.arguments)
    while pending:
        part = pending.pop()
        if counts[key(part)] > 1:
            return True
        pending += operands(part)
    return False


def replacer(of: Hashable, var: Var) -> Callable[[Expr], Expr]:
    return lambda expr: var if isinstance(expr, Apply) and key(expr) == of else expr


def key(expr: Expr) -> Hashable:
    """Equal for expressions of equal value; tells -0 from 0, and one NaN from another."""
    match expr:
        case Const(element_type, value):
            return element_type, value_text(element_type, value)
        case Var():
            return expr
        case Load(buffer, indices):
            return buffer, tuple(map(key, indices))
    return expr.operator, expr.type, tuple(map(key, expr.arguments))
