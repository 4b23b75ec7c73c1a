"""A start index that is data and the same in all turns of a loop is bound before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ccodegen.loop.cse import computed, key, replacer
from ccodegen.loop.hoist import Changing
from ccodegen.loop.ir import INDEX, Apply, Expr, For, Let, LoopKind, Stmt, Var
from ccodegen.loop.rebuild import Body, keep_expr, rebuild


def name_starts(body: Body, fresh: Callable[[str], str]) -> Body:
    """Binds clamped indices before the innermost loop that does not change them.

    Before: `for i < 8 { y[i] = x[clamp(0, s[], 56) + i] }`. After: `let start = clamp(0, s[], 56);
    for i < 8 { y[i] = x[start + i] }`. Only in loops that run, and only what every turn computes;
    a PARALLEL loop's body becomes a function of its own and keeps what it needs.
    """

    def named(statement: Stmt) -> Stmt | Body:
        if not isinstance(statement, For) or statement.kind is LoopKind.PARALLEL:
            return statement
        before: list[Stmt] = []
        while start := next(_starts(statement), None):
            var = Var(fresh("start"), INDEX)
            before.append(Let(var, start))
            inner = rebuild(statement.body, replacer(key(start), var))
            statement = For(statement.var, statement.extent, inner, statement.kind)
        return (*before, statement) if before else statement

    return rebuild(body, keep_expr, named)


def _starts(loop: For) -> Iterator[Expr]:
    """The fixed indices that a loop computes from integers of other types in each turn, but for
    those that have a name, which goes out of loops by itself."""
    changing = Changing(loop)
    if changing.may_not_run:
        return
    for statement in loop.body:
        named = statement.value if isinstance(statement, Let) else None
        for expr in computed(statement):
            if expr is not named and _is_start(expr) and changing.is_fixed(expr):
                yield expr


def _is_start(expr: Expr) -> bool:
    """Whether it is a converted result of an operator; a plain load is as good as a name."""
    match expr:
        case Apply("convert", (Apply(),)):
            return expr.type is INDEX
    return False
