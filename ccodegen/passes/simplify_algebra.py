"""Replaces arithmetic, logic and conversions by something shorter that gives the same bits."""

from __future__ import annotations

from ccodegen.hlo.ir import Module
from ccodegen.passes.context import PassContext
from ccodegen.passes.rules import apply_rules, arithmetic, convert, logic, merged, tuples

_RULES = merged([arithmetic.RULES, logic.RULES, convert.RULES, tuples.RULES])


def simplify_algebra(module: Module, context: PassContext) -> Module:
    """`%z = multiply(%x, %one)` → `%x`; `not(compare(a, b), direction=EQ)` → `compare(…NE)`.

    The rules of `passes/rules/` say which; each states what makes it exact.
    """
    return apply_rules(module, context, _RULES)
