"""How tightly the C spelling of an operator binds, read off its template."""

from __future__ import annotations

import functools
import re

from ccodegen.loop import operators
from ccodegen.loop.ir import Apply, Const, Expr, Var
from ccodegen.loop.operators import HALF, computes_in_halves
from ccodegen.loop.spelling import widened
from ccodegen.support.element_type import ElementType
from ccodegen.support.immutable import immutable

PRIMARY, POSTFIX, UNARY = 16, 15, 14
MULTIPLY, ADD, SHIFT, ORDER, EQUAL, BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE = range(13, 2, -1)

_BINARY = {
    **dict.fromkeys(("*", "/", "%"), MULTIPLY),
    **dict.fromkeys(("+", "-"), ADD),
    **dict.fromkeys(("<<", ">>"), SHIFT),
    **dict.fromkeys(("<", "<=", ">", ">="), ORDER),
    **dict.fromkeys(("==", "!="), EQUAL),
    "&": BIT_AND,
    "^": BIT_XOR,
    "|": BIT_OR,
    "&&": AND,
    "||": OR,
}
# What the operands of a binary operator need: left-associative where that reads well, parentheses
# wherever compilers suggest them.
_OPERANDS = {
    MULTIPLY: (MULTIPLY, UNARY),
    ADD: (ADD, MULTIPLY),
    ORDER: (ADD, ADD),
    EQUAL: (ADD, ADD),
    AND: (AND, EQUAL),
    OR: (EQUAL, EQUAL),
}
_LIMITS = ("maximum", "minimum", "clamp")


@immutable
class Spelling:
    """A template over `{0}`, `{1}`, …; how tightly it binds, and how tightly each argument must."""

    template: str
    strength: int
    binds: tuple[int, ...]
    headers: frozenset[str]


def spell(apply: Apply) -> Spelling:
    """The operator as C. Raises UnsupportedError where C has no spelling for its types."""
    types = tuple([argument.type for argument in apply.arguments])
    usual = _usual(apply.operator, types, apply.type)
    template = _limit(apply) or _pair_choice(apply)
    if not template:
        return usual
    strength, binds = read_template(template, len(types))
    return Spelling(template, strength, binds, usual.headers)


@functools.cache
def _usual(operator: str, types: tuple[ElementType, ...], result: ElementType) -> Spelling:
    """Of arguments that nothing is known of."""
    spelled = operators.spell(operator, types, result)
    strength, binds = read_template(spelled.template, len(types))
    return Spelling(spelled.template, strength, binds, spelled.headers)


def _limit(apply: Apply) -> str:
    """For floats that are compared with known numbers, which takes one comparison."""
    if apply.operator.removeprefix(HALF) not in _LIMITS or not apply.type.is_float:
        return ""
    wide = ElementType.F64 if apply.type is ElementType.F64 else ElementType.F32
    is_native = computes_in_halves(apply.operator)
    template = _limit_of(apply, apply.type if is_native else wide)
    if not template or is_native or apply.type is wide:
        return template
    return widened(template, apply.type, len(apply.arguments), narrow_result=True, exact=True)


def _limit_of(apply: Apply, t: ElementType) -> str:
    """Of arguments of a type that is compared as it is."""
    least, most = f"ccg_at_least_{t.text}", f"ccg_at_most_{t.text}"
    match apply.operator.removeprefix(HALF), *map(_is_number, apply.arguments):
        case "maximum", _, True:
            return f"{least}({{0}}, {{1}})"
        case "maximum", True, _:
            return f"{least}({{1}}, {{0}})"
        case "minimum", _, True:
            return f"{most}({{0}}, {{1}})"
        case "minimum", True, _:
            return f"{most}({{1}}, {{0}})"
        case "clamp", True, _, True:
            return f"{most}({least}({{1}}, {{0}}), {{2}})"
    return ""


def _pair_choice(apply: Apply) -> str:
    """For complex numbers that are at hand: arms that read memory do so on the condition alone."""
    if apply.operator != "select" or not apply.type.is_complex:
        return ""
    if not all(isinstance(arm, Var | Const) for arm in apply.arguments[1:]):
        return ""
    return f"ccg_select_{apply.type.text}({{0}}, {{1}}, {{2}})"


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Const) and bool(expr.value == expr.value)


@functools.cache
def read_template(template: str, arguments: int) -> tuple[int, tuple[int, ...]]:
    """The strength of a template, and what each argument needs so as not to be torn apart.

    `{0} + {1}`: as a sum; its right argument must be a product or tighter. An argument alone
    between parentheses or commas may be anything.
    """
    if template == "{0} ? {1} : {2}":
        return CHOICE, (EQUAL, CHOICE + 1, CHOICE)
    if match := re.fullmatch(r"\{0\} (\S+) \{1\}", template):
        strength = _BINARY[match[1]]
        return strength, _OPERANDS.get(strength, (MULTIPLY, MULTIPLY))
    return _strength(template), tuple(_bind(template, i) for i in range(arguments))


def _strength(template: str) -> int:
    """That of the weakest operator outside of parentheses."""
    outside = _without_parentheses(template)
    symbols = [token for token in outside.split() if token in _BINARY or token == "?"]
    if symbols:
        return min(_BINARY.get(symbol, CHOICE) for symbol in symbols)
    if outside.startswith("!"):
        return ORDER  # compilers warn of `!a == b` and `!a & b`
    return UNARY if outside.startswith(("()", "-", "~")) else POSTFIX


def _bind(template: str, argument: int) -> int:
    place = template.find(f"{{{argument}}}")
    before, after = template[:place].rstrip(), template[place + 3 :]
    if before.endswith(("(", ",")) and after.startswith((")", ",")):
        return 0
    return POSTFIX if before.endswith("-") else UNARY


def is_call(text: str, function: str) -> bool:
    """Whether the whole text is one call of the function."""
    return _without_parentheses(text) == f"{function}()"


def _without_parentheses(text: str) -> str:
    """`f(a, b) + (c)` → `f() + ()`."""
    kept, depth = "", 0
    for character in text:
        depth -= character == ")"
        kept += character if depth == 0 else ""
        depth += character == "("
    return kept
