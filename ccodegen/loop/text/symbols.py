"""How operators are written, and which type they have unless the text says another one."""

from __future__ import annotations

from collections.abc import Sequence

from ccodegen.loop.ir import Apply, Expr
from ccodegen.support.element_type import ElementType

SYMBOLS = {
    "or": "or",
    "and": "and",
    "compare-lt": "<",
    "compare-le": "<=",
    "compare-gt": ">",
    "compare-ge": ">=",
    "compare-eq": "==",
    "compare-ne": "!=",
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "remainder": "%",
}
OPERATORS = {symbol: operator for operator, symbol in SYMBOLS.items()}

BINDING = {"or": 1, "and": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
BINDING |= dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 3)

RESERVED = frozenset(
    [
        *("and", "or", "true", "false"),
        *("for", "if", "else", "let", "local", "call"),
        *("yield", "serial", "parallel", "apart", "vector", "lanes"),
    ]
)
"""Names that stand in quotes."""


def usual_type(operator: str, arguments: Sequence[Expr]) -> ElementType:
    """PRED for a comparison, else the last argument's type."""
    if operator.startswith("compare-"):
        return ElementType.PRED
    return arguments[-1].type


def is_infix(expr: Apply) -> bool:
    """Whether it is written with a symbol: both arguments and the result have one type, or it is a
    comparison; `and` and `or` only of conditions."""
    if expr.operator not in SYMBOLS or len(expr.arguments) != 2:
        return False
    a, b = expr.arguments
    if expr.operator in ("and", "or") and expr.type is not ElementType.PRED:
        return False
    return a.type is b.type and expr.type is usual_type(expr.operator, expr.arguments)
