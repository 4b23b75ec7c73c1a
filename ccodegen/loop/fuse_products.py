"""Products that are added to become one operation with the sum, where a compiler may do so too.

    p = x[i] * y[i]; z[i] = p + c   →   z[i] = fma(x[i], y[i], c)

Left to a compiler, bits depend on what it does to a loop: of two products it rounds either, in a
vector one and at the loop's end the other, and one that two turns have in common it rounds before
it adds. The loop's end is where a thread's share ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeGuard

from ccodegen.loop.builder import apply
from ccodegen.loop.ir import Apply, Expr, For, If, Let, Stmt, Var
from ccodegen.loop.parts import applied, loads, operands, parts
from ccodegen.loop.rebuild import Body, expressions, keep_expr, rebuild, written_buffers
from ccodegen.support.element_type import ElementType

_FUSED = (ElementType.F32, ElementType.F64)


def fuse_products(body: Body) -> Body:
    """Statements of equal effect, but for roundings. A product that has a name is fused if all that
    reads it are sums next to it."""
    uses = Counter(var for expr in expressions(body) for var in _reads(expr))

    def fused(statement: Stmt) -> Stmt:
        match statement:
            case For():
                return replace(statement, body=_block(statement.body, uses))
            case If():
                then, orelse = (_block(arm, uses) for arm in (statement.then, statement.orelse))
                return replace(statement, then=then, orelse=orelse)
        return statement

    return _block(rebuild(body, keep_expr, fused), uses)


def _block(body: Body, uses: Mapping[Var, int]) -> Body:
    sums = [_sums(statement) for statement in body]
    products = _added_products(body, list(chain(*sums)), uses)
    values: dict[Var, Expr] = {}

    def fused(expr: Expr) -> Expr:
        if not _is_sum(expr):
            return expr
        a, b = (values.get(v, v) if isinstance(v, Var) else v for v in operands(expr))
        negates = expr.operator == "subtract"
        if _is_product(a):
            return apply("fma", *operands(a), apply("negate", b) if negates else b)
        if _is_product(b):
            left, right = operands(b)
            return apply("fma", apply("negate", left) if negates else left, right, a)
        return expr

    result: list[Stmt] = []
    for statement, own in zip(body, sums, strict=True):
        if own:
            (statement,) = rebuild((statement,), fused)
        if isinstance(statement, Let) and statement.var in products:
            values[statement.var] = statement.value
        else:
            result.append(statement)
    return tuple(result)


def _sums(statement: Stmt) -> list[Apply]:
    """In its own expressions."""
    if isinstance(statement, For | If):
        return []
    own = expressions((statement,))
    return [part for expr in own for part in applied(expr) if _is_sum(part)]


def _added_products(body: Body, sums: Sequence[Apply], uses: Mapping[Var, int]) -> set[Var]:
    """The names of products that these sums read, which statements of the body do, and nothing
    else."""
    written = written_buffers(body)
    products = {
        s.var
        for s in body
        if isinstance(s, Let)
        and _is_product(s.value)
        and written.isdisjoint(load.buffer for load in loads(s.value))
    }
    in_sums = Counter(e for part in sums for e in {*operands(part)} if isinstance(e, Var))
    products = {var for var in products if in_sums[var] == uses[var]}
    while True:
        added = Counter(_taken(part, products) for part in sums)
        kept = {var for var in products if added[var] == uses[var]}
        if kept == products:
            return kept
        products = kept


def _reads(expr: Expr) -> list[Var]:
    """The names in it, each as often as it has parts that read it."""
    found = [e for part in parts(expr) for e in operands(part) if isinstance(e, Var)]
    return [expr] if isinstance(expr, Var) else found


def _taken(total: Expr, products: set[Var]) -> Expr | None:
    """The operand of a sum that becomes one with it."""
    return next((e for e in operands(total) if _is_product(e) or e in products), None)


def _is_sum(expr: Expr) -> TypeGuard[Apply]:
    return isinstance(expr, Apply) and expr.operator in ("add", "subtract") and expr.type in _FUSED


def _is_product(expr: Expr) -> TypeGuard[Apply]:
    return isinstance(expr, Apply) and expr.operator == "multiply" and expr.type in _FUSED
