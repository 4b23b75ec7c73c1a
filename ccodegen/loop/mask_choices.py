"""Conditions in vector loops are made of "and" and "or", for which compilers have masks, and chosen
by, not converted.

They have none for a choice between conditions, and make one of a choice that is compared if one of
its arms is a constant: they compare the arms first.
"""

from __future__ import annotations

from dataclasses import replace

from ccodegen.loop.builder import apply, const
from ccodegen.loop.conditions import conjunction, disjunction, negation
from ccodegen.loop.cost import WORD
from ccodegen.loop.ir import Apply, Buffer, Const, Expr, For, Let, Load, LoopKind, Stmt
from ccodegen.loop.parts import loads
from ccodegen.loop.rebuild import Body, keep_expr, rebuild, written_buffers
from ccodegen.loop.simplify import simplify
from ccodegen.support.element_type import ElementType


def mask_choices(body: Body) -> Body:
    """Before: `for i < 4 vector { let v = c ? x[i] : 1; y[i] = (v < 3 ? a : x[i] < 5) ? v : 2 }`.
    After: `for i < 4 vector { let v = c ? x[i] : 1;
    y[i] = ((c and x[i] < 3 or not c) and a or not (…) and x[i] < 5) ? v : 2 }`,
    where what follows an "and" is evaluated on that condition alone, as an arm is."""
    return rebuild(body, keep_expr, _in_vectors)


def _in_vectors(statement: Stmt) -> Stmt:
    if isinstance(statement, For) and statement.kind is LoopKind.VECTOR:
        masks = _Masks(written_buffers(statement.body))
        return replace(statement, body=rebuild(statement.body, masks.expr, masks.named))
    return statement


class _Masks:
    def __init__(self, written: set[Buffer]) -> None:
        self._written = written
        self._choices: dict[Expr, Expr] = {}  # by name

    def named(self, statement: Stmt) -> Stmt:
        if not isinstance(statement, Let):
            return statement
        stays = self._written.isdisjoint(load.buffer for load in loads(statement.value))
        if stays and _asks_for_constant(statement.value):
            self._choices[statement.var] = statement.value
        return Let(statement.var, _mask(statement.value))

    def expr(self, expr: Expr) -> Expr:
        """With masks for its conditions."""
        if not isinstance(expr, Apply):
            return expr
        if expr.operator == "select":
            condition, *arms = expr.arguments
            return replace(expr, arguments=(_mask(condition), *arms))
        if expr.operator in ("and", "or", "not"):
            return replace(expr, arguments=tuple(map(_mask, expr.arguments)))
        if expr.operator.startswith("compare"):
            return self._compared(expr)
        return _number(expr) if expr.operator == "convert" else expr

    def _compared(self, expr: Apply) -> Expr:
        """With the arms of a choice compared where they are chosen."""
        values = [self._choices.get(a, a) for a in expr.arguments]
        choice = next(filter(_asks_for_constant, values), None)
        if not isinstance(choice, Apply):
            return expr
        condition, *arms = choice.arguments
        chosen, refused = (
            replace(expr, arguments=tuple(arm if v == choice else v for v in values))
            for arm in arms
        )
        return simplify(_either(condition, chosen, refused), {})


def _number(conversion: Apply) -> Expr:
    """A condition as a choice of one or zero, as gcc may find no vectors for its conversion."""
    (value,), to = conversion.arguments, conversion.type
    is_mask = value.type is ElementType.PRED and not isinstance(value, Load)
    if not is_mask or to.is_complex or to.bytes < WORD:
        return conversion
    return apply("select", value, const(to, 1), const(to, 0))


def _asks_for_constant(value: Expr) -> bool:
    """Whether it is a choice between a constant and what takes no work."""
    if not isinstance(value, Apply) or value.operator != "select":
        return False
    arms = value.arguments[1:]
    return any(isinstance(a, Const) for a in arms) and not any(isinstance(a, Apply) for a in arms)


def _mask(value: Expr) -> Expr:
    if not isinstance(value, Apply) or value.operator != "select":
        return value
    return _either(*value.arguments) if value.type is ElementType.PRED else value


def _either(condition: Expr, chosen: Expr, refused: Expr) -> Expr:
    otherwise = conjunction(negation(condition), refused)
    return disjunction(conjunction(condition, chosen), otherwise)
