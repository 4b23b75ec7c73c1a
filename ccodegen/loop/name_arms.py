"""Slow arms of choices are computed in any case, in loops that become vectors.

Vectors compute both arms of a choice. To lanes that do not ask for an arm compilers give one of
the numbers at hand, such as a limit of exp's arguments: its result is denormal, which takes
processors many times as long as what the lane really holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ccodegen.loop.cost import TRANSCENDENTAL
from ccodegen.loop.cse import computed
from ccodegen.loop.ir import INDEX, Apply, Expr, For, Let, Load, LoopKind, Stmt, Store, Var
from ccodegen.loop.parts import loads, parts
from ccodegen.loop.rebuild import Body, keep_expr, rebuild


def name_arms(body: Body, fresh: Callable[[str], str]) -> Body:
    """Before: `for i < 4 vector { y[i] = x[i] > 0 ? exp(x[i]) : 1 }`. After: `for i < 4 vector
    { let arm = exp(x[i]); y[i] = x[i] > 0 ? arm : 1 }`.

    Only arms that read what is read in any case. `fresh` gives names that the kernel does not have
    yet, after a hint.
    """

    def on_statement(statement: Stmt) -> Stmt:
        if not isinstance(statement, For) or statement.kind is not LoopKind.VECTOR:
            return statement
        inside = (new for inner in statement.body for new in _with_names(inner, fresh))
        return replace(statement, body=tuple(inside))

    return rebuild(body, keep_expr, on_statement)


def _with_names(statement: Stmt, fresh: Callable[[str], str]) -> Iterator[Stmt]:
    """The statement, behind names for the slow arms that it chooses from."""
    if isinstance(statement, Let | Store):
        while arm := next(_slow_arms(statement), None):
            name = Var(fresh("arm"), arm.type)
            yield from _with_names(Let(name, arm), fresh)
            (statement,) = rebuild((statement,), _replacer(arm, name))
    yield statement


def _replacer(arm: Expr, name: Var) -> Callable[[Expr], Expr]:
    return lambda expr: name if expr == arm else expr


def _slow_arms(statement: Stmt) -> Iterator[Expr]:
    certain = list(computed(statement))
    read = {expr for expr in certain if isinstance(expr, Load)}
    for choice in certain:
        if isinstance(choice, Apply) and choice.operator == "select":
            arms = choice.arguments[1:]
            yield from (arm for arm in arms if _is_slow(arm) and read.issuperset(loads(arm)))


def _is_slow(arm: Expr) -> bool:
    """And defined for all arguments, which divisions of indices are not."""
    applied = [part for part in parts(arm) if isinstance(part, Apply)]
    divides = any(a.type is INDEX and a.operator in ("divide", "remainder") for a in applied)
    return arm.type.is_float and not divides and any(a.operator in TRANSCENDENTAL for a in applied)
