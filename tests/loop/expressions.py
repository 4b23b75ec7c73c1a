"""Random index expressions, their value in Python, and a spelling to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from ccodegen.loop.builder import apply, index
from ccodegen.loop.ir import Apply, Const, Expr, Var
from ccodegen.support.element_type import ElementType

i, j, k = Var("i"), Var("j"), Var("k")
EXTENTS: dict[Var, int] = {i: 4, j: 3, k: 6}

_SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "remainder": "%",
    "compare-lt": "<",
    "compare-le": "<=",
    "compare-ge": ">=",
    "compare-gt": ">",
    "compare-eq": "==",
    "compare-ne": "!=",
    "and": "and",
    "or": "or",
}
_MEANING: dict[str, Any] = {
    "negate": lambda a: -a,
    "not": lambda a: not a,
    "minimum": min,
    "maximum": max,
    "clamp": lambda low, x, high: min(max(x, low), high),
    "select": lambda c, a, b: a if c else b,
    "divide": lambda a, b: a // b,
}


def spell(expr: Expr) -> str:
    """`i * 12 + j`: for index expressions."""
    match expr:
        case Const(_, value):
            return str(value)
        case Var(name):
            return name
        case Apply(operator, (a, b)) if operator in _SYMBOLS:
            left, right = _operand(a, operator, 0), _operand(b, operator, 1)
            return f"{left} {_SYMBOLS[operator]} {right}"
        case Apply(operator, arguments):
            return f"{operator}({', '.join(map(spell, arguments))})"
    raise AssertionError(expr)


def _operand(expr: Expr, inside: str, number: int) -> str:
    binds = _binding(expr.operator) if isinstance(expr, Apply) else 9
    text = spell(expr)
    return text if binds >= _binding(inside) + number else f"({text})"


def _binding(operator: str) -> int:
    """How tightly a symbol binds, as in C."""
    if operator not in _SYMBOLS:
        return 9
    return {"*": 4, "/": 4, "%": 4, "+": 3, "-": 3}.get(_SYMBOLS[operator], 2)


def value(expr: Expr, values: Mapping[Var, int]) -> Any:
    match expr:
        case Const(_, constant):
            return constant
        case Var():
            return values[expr]
        case Apply(operator, arguments):
            numbers = [value(a, values) for a in arguments]
            if operator in _MEANING:
                return _MEANING[operator](*numbers)
            return eval(f"a {_SYMBOLS[operator]} b", {"a": numbers[0], "b": numbers[1]})
    raise AssertionError(expr)


def compare(direction: str, a: Expr, b: Expr) -> Expr:
    return apply(f"compare-{direction}", a, b, type=ElementType.PRED)


_OPERATORS = ("add", "subtract", "multiply", "divide", "remainder", "min", "max", "clamp")


@st.composite
def _larger(draw: Any, inner: Any) -> Expr:
    operator = draw(st.sampled_from(_OPERATORS))
    a, b = draw(inner), draw(inner)
    match operator:
        case "multiply":
            return apply(operator, a, index(draw(st.integers(-3, 12))))
        case "divide" | "remainder":
            return apply(operator, a, index(draw(st.sampled_from([1, 2, 3, 4, 6, 12]))))
        case "min" | "max":
            return apply(f"{operator}imum", a, b)
        case "clamp":
            return apply(operator, index(0), a, index(draw(st.integers(0, 20))))
    return apply(operator, a, b)


@st.composite
def conditions(draw: Any, inner: Any) -> Expr:
    def comparison() -> Expr:
        direction = draw(st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]))
        return compare(direction, draw(inner), draw(inner))

    joint = draw(st.sampled_from(["", "", "and", "or", "not"]))
    if joint == "not":
        return apply("not", comparison())
    return apply(joint, comparison(), comparison()) if joint else comparison()


@st.composite
def _choice(draw: Any, inner: Any) -> Expr:
    return apply("select", draw(conditions(inner)), draw(inner), draw(inner))


def index_expressions() -> Any:
    leaves = st.sampled_from([i, j, k]) | st.integers(-2, 13).map(index)
    return st.recursive(leaves, lambda inner: _larger(inner) | _choice(inner), max_leaves=8)
