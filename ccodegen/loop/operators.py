"""The scalar operators, one row each: result type, meaning in NumPy, spelling in C.

Names are HLO's opcodes; a comparison carries its direction (`compare-lt`, `compare-total-lt`).
Operands have one type, which is the result's too, unless the row says otherwise. `reduce-precision`
takes the numbers of exponent and mantissa bits as u32 constants. `quotient` is `divide`
with the divisor's reciprocal as third operand, `divide-by-constant` with its reciprocal in two
parts; `decay` is `exponential` of what is not positive; the runtime's functions say for which
operands. `narrow` is `convert` of an f32 that is a half to it; `unrounded` of a half to an f32, any
that rounds to it. `saturate` is `convert` to an integer between two, in an s32. `half-add` is
`add` of f16, computed in f16 itself; so are the others of IN_HALVES. `half-same` is what it is
given, of which compilers do not know whether it is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ccodegen.loop import scalar_numpy as ref
from ccodegen.loop.spelling import (
    HALVES,
    Speller,
    bitcast,
    bitwise,
    converted,
    function,
    headers,
    infix,
    inverted,
    narrowing,
    negated,
    template,
    total_order,
    widened,
    wrapping,
)
from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.errors import UnsupportedError
from ccodegen.support.immutable import immutable

Array: TypeAlias = np.ndarray[Any, Any]

PRED = ElementType.PRED
HALF = "half-"
"""How names of operators begin that compute in f16 itself."""


def _same(t: ElementType) -> ElementType:
    return t


def _pred(t: ElementType) -> ElementType:
    return PRED


def _component(t: ElementType) -> ElementType:
    return t.component


def _complex(t: ElementType) -> ElementType:
    return ElementType.C128 if t is ElementType.F64 else ElementType.C64


@immutable
class Operator:
    """One row. `c`: how to write it, by the kind of its operands. `result`: of the operand type;
    not asked for conversions."""

    name: str
    arity: int
    numpy: ref.Compute
    c: Mapping[Kind, Speller]
    result: Callable[[ElementType], ElementType] = _same


@immutable
class Spelling:
    """A C expression with `{0}`, `{1}`, … for the arguments, and the headers it needs."""

    template: str
    headers: frozenset[str]


def evaluate(operator: str, arrays: Sequence[Array], result: ElementType) -> Array:
    """The operator over arrays of one shape (or scalars), element by element."""
    with np.errstate(all="ignore"):
        return np.asarray(OPERATORS[operator].numpy(result, *arrays))


def check(operator: str, types: Sequence[ElementType], result: ElementType) -> str:
    """What is wrong with an application, as the end of a sentence; empty if nothing is."""
    row = OPERATORS.get(operator)
    if row is None:
        return "there is no such operator"
    if len(types) != row.arity:
        return f"it takes {row.arity} arguments, not {len(types)}"
    if operator in _CONVERSIONS:
        wide, half = (types[0], result) if operator == "narrow" else (result, types[0])
        is_right = operator not in _OF_HALVES or (wide is ElementType.F32 and half in HALVES)
        return "" if is_right else f"it does not give {result.text} of {types[0].text}"
    if any(t is not own for t, own in zip(types, _expected(operator, types), strict=True)):
        return f"it does not take {', '.join(t.text for t in types)}"
    too_narrow = operator == "saturate" and types[0].bits < 32  # has not all integers to be between
    is_no_f16 = computes_in_halves(operator) and types[0] is not ElementType.F16
    if _operand_type(operator, types).kind not in row.c or too_narrow or is_no_f16:
        return f"it is not defined for {_operand_type(operator, types).text}"
    expected = row.result(_operand_type(operator, types))
    return "" if result is expected else f"it gives {expected.text}, not {result.text}"


def rounds(operator: str, types: Sequence[ElementType], result: ElementType) -> bool:
    """Whether C rounds an f32 to the half that is the result."""
    is_moved = operator in (*MOVES, "narrow")
    return result in HALVES and ElementType.F64 not in types and not (
        is_moved or operator in _EXACT or computes_in_halves(operator)
    )


def computes_in_halves(operator: str) -> bool:
    return operator in _HALF_OPERATORS


def spell(operator: str, types: Sequence[ElementType], result: ElementType) -> Spelling:
    """The operator in C. Raises UnsupportedError for types it does not take."""
    text = _text(operator, types, result)
    return Spelling(text, headers(text))


def _operand_type(operator: str, types: Sequence[ElementType]) -> ElementType:
    return types[1] if operator == "select" else types[0]


def _expected(operator: str, types: Sequence[ElementType]) -> tuple[ElementType, ...]:
    """The types the arguments must have, given the first one that is free."""
    if operator == "select":
        return (PRED, types[1], types[1])
    if operator == "reduce-precision":
        return (types[0], ElementType.U32, ElementType.U32)
    return (types[0],) * len(types)


def _text(operator: str, types: Sequence[ElementType], result: ElementType) -> str:
    if operator in _CONVERSIONS:
        return _CONVERSIONS[operator](types[0], result)
    row, own = OPERATORS[operator], _operand_type(operator, types)
    speller = row.c.get(own.kind)
    if speller is None:
        raise UnsupportedError(f"{operator} of {own.text} has no spelling in C")
    if own.is_narrow_float and operator != "select" and not computes_in_halves(operator):
        spelled, wide = speller(ElementType.F32), types.count(own)
        return widened(spelled, own, wide, result is own, operator in _EXACT)
    return speller(own)


def _row(
    name: str,
    arity: int,
    numpy: ref.Compute,
    pred: Speller | None = None,
    integer: Speller | None = None,
    index: Speller | None = None,
    real: Speller | None = None,
    complex_: Speller | None = None,
    result: Callable[[ElementType], ElementType] = _same,
) -> Operator:
    kinds = {
        Kind.PRED: pred,
        Kind.SIGNED: integer,
        Kind.UNSIGNED: integer,
        Kind.INDEX: index,
        Kind.FLOAT: real,
        Kind.COMPLEX: complex_,
    }
    return Operator(name, arity, numpy, {k: s for k, s in kinds.items() if s}, result)


def _math(opcode: str, name: str, arity: int = 1, real_only: bool = False) -> Operator:
    """A function of runtime_c, called `name` there, on floats and maybe complex numbers."""
    call = function(name, arity)
    return _row(opcode, arity, ref.math(name), real=call, complex_=None if real_only else call)


def _rounding(opcode: str, numpy: ref.Compute) -> Operator:
    return _row(opcode, 1, numpy, real=function(opcode.replace("-", "_"), 1))


def _integer(opcode: str, name: str, arity: int, numpy: ref.Compute) -> Operator:
    return _row(opcode, arity, numpy, integer=function(name, arity))


def _bitwise(opcode: str, symbol: str, pred: str, numpy: Any) -> Operator:
    return _row(opcode, 2, ref.plain(numpy), pred=infix(pred), integer=bitwise(symbol))


def _comparison(direction: str, symbol: str, numpy: Any) -> Operator:
    equal = {"eq": function("equal"), "ne": lambda t: f"!{function('equal')(t)}"}
    plain = infix(symbol)
    return _row(
        f"compare-{direction}", 2, ref.compare(numpy),
        plain, plain, plain, plain, equal.get(direction), result=_pred,
    )


def _in_halves(row: Operator) -> Operator:
    """One of ccg_half_arithmetic.h, of f16 alone."""
    call = function(row.name.replace("-", "_"), row.arity)
    return Operator(IN_HALVES[row.name], row.arity, row.numpy, {Kind.FLOAT: call}, row.result)


def _total_comparison(direction: str, symbol: str, numpy: Any) -> Operator:
    return _row(
        f"compare-total-{direction}", 2, ref.compare_total(numpy),
        real=total_order(symbol), result=_pred,
    )


_COMPARISONS = (
    ("eq", "==", np.equal),
    ("ne", "!=", np.not_equal),
    ("lt", "<", np.less),
    ("le", "<=", np.less_equal),
    ("gt", ">", np.greater),
    ("ge", ">=", np.greater_equal),
)
MOVES = ("select", "bitcast-convert")
"""Of bits as they are."""

ROUNDING = frozenset({"ceil", "floor", "round-nearest-afz", "round-nearest-even"})
"""To whole numbers."""

# They give no more digits than they are given.
_EXACT = {"abs", "clamp", "maximum", "minimum", "negate", "remainder", "sign", *ROUNDING}
_CONVERSIONS = {
    "convert": converted,
    "bitcast-convert": bitcast,
    "narrow": lambda _, half: f"{narrowing(half, exact=True)}({{0}})",
    "unrounded": converted,
}
_OF_HALVES = ("narrow", "unrounded")
_CHOICE = template("{0} ? {1} : {2}")

_ROWS = (
    _row(
        "add", 2, ref.logical(np.logical_or, ref.plain(np.add)), infix("|"),
        wrapping("+", "add"), infix("+"), infix("+"), function("add"),
    ),
    _row(
        "subtract", 2, ref.logical(np.logical_xor, ref.plain(np.subtract)), infix("!="),
        wrapping("-", "subtract"), infix("-"), infix("-"), function("subtract"),
    ),
    _row(
        "multiply", 2,
        ref.logical(
            np.logical_and,
            ref.by_kind(ref.plain(np.multiply), ref.plain(np.multiply), ref.math("multiply")),
        ),
        infix("&"), wrapping("*", "multiply"), infix("*"), infix("*"), function("multiply"),
    ),
    _row(
        "divide", 2,
        ref.by_kind(ref.divide_integer, ref.plain(np.true_divide), ref.math("divide")),
        integer=function("divide"), index=infix("/"), real=infix("/"), complex_=function("divide"),
    ),
    _row(
        "quotient", 3, lambda result, a, b, _: ref.plain(np.true_divide)(result, a, b),
        real=function("quotient", 3),
    ),
    _row(
        "divide-by-constant", 4, lambda result, a, b, *_: ref.plain(np.true_divide)(result, a, b),
        real=function("divide_by", 4),
    ),
    _row(
        "remainder", 2, ref.by_kind(ref.remainder_integer, ref.plain(np.fmod)),
        integer=function("remainder"), index=infix("%"), real=function("remainder"),
    ),
    _row(
        "power", 2, ref.by_kind(ref.power_integer, ref.math("pow"), ref.math("power")),
        integer=function("power"), real=function("pow"), complex_=function("power"),
    ),
    _row(
        "maximum", 2, ref.logical(np.logical_or, ref.maximum), infix("|"),
        function("maximum"), function("maximum"), function("maximum"),
    ),
    _row(
        "minimum", 2, ref.logical(np.logical_and, ref.minimum), infix("&"),
        function("minimum"), function("minimum"), function("minimum"),
    ),
    _row(
        "clamp", 3, ref.clamp, template("({0} | {1}) & {2}"),
        integer=function("clamp", 3), real=function("clamp", 3),
    ),
    _row(
        "select", 3, ref.select, _CHOICE, _CHOICE, _CHOICE, _CHOICE, _CHOICE,
    ),
    _row(
        "negate", 1, ref.negate, integer=negated, index=template("-{0}"),
        real=template("-{0}"), complex_=function("negate", 1),
    ),
    _row(
        "abs", 1, ref.by_kind(ref.plain(np.abs), ref.plain(np.abs), ref.math("abs")),
        integer=function("abs", 1), real=function("abs", 1), complex_=function("abs", 1),
        result=_component,
    ),
    _row(
        "sign", 1, ref.by_kind(ref.plain(np.sign), ref.sign_float, ref.math("sign")),
        integer=function("sign", 1), real=function("sign", 1), complex_=function("sign", 1),
    ),
    _row("not", 1, ref.logical(np.logical_not, ref.invert), template("!{0}"), inverted),
    _bitwise("and", "&", "&&", np.bitwise_and),
    _bitwise("or", "|", "||", np.bitwise_or),
    _bitwise("xor", "^", "!=", np.bitwise_xor),
    _integer("shift-left", "shift_left", 2, ref.shift_left),
    _integer("shift-right-logical", "shift_right_logical", 2, ref.shift_right_logical),
    _integer("shift-right-arithmetic", "shift_right_arithmetic", 2, ref.shift_right_arithmetic),
    _integer("count-leading-zeros", "clz", 1, ref.count_leading_zeros),
    _integer("popcnt", "popcnt", 1, ref.popcnt),
    _integer("mulhi", "mulhi", 2, ref.mulhi),
    _rounding("floor", ref.plain(np.floor)),
    _rounding("ceil", ref.plain(np.ceil)),
    _rounding("round-nearest-even", ref.plain(np.rint)),
    _rounding("round-nearest-afz", ref.round_nearest_afz),
    _row(
        "is-finite", 1, lambda result, a: np.asarray(np.isfinite(ref.wide(a))),
        real=function("is_finite", 1), result=_pred,
    ),
    _row("real", 1, ref.component(np.real), complex_=function("real", 1), result=_component),
    _row("imag", 1, ref.component(np.imag), complex_=function("imag", 1), result=_component),
    _row(
        "complex", 2, ref.make_complex,
        real=lambda t: f"ccg_complex_{_complex(t).text}({{0}}, {{1}})", result=_complex,
    ),
    Operator("half-same", 1, ref.plain(np.copy), {Kind.FLOAT: function("same", 1)}),
    _row("fma", 3, ref.plain(lambda a, b, c: a * b + c), real=function("fma", 3)),
    _row("reduce-precision", 3, ref.reduce_precision, real=function("reduce_precision", 3)),
    _row(
        "saturate", 3, ref.saturate, real=function("saturate", 3), result=lambda _: ElementType.S32
    ),
    Operator("convert", 1, ref.convert, {}),
    Operator("bitcast-convert", 1, ref.bitcast, {}),
    Operator("narrow", 1, ref.convert, {}),
    Operator("unrounded", 1, ref.convert, {}),
    _math("acos", "acos"),
    _math("acosh", "acosh"),
    _math("asin", "asin"),
    _math("asinh", "asinh"),
    _math("atan2", "atan2", 2),
    _math("atanh", "atanh"),
    _math("cbrt", "cbrt"),
    _math("cosine", "cos"),
    _math("cosh", "cosh"),
    _math("decay", "decay", real_only=True),
    _math("erf", "erf", real_only=True),
    _math("exponential", "exp"),
    _math("exponential-minus-one", "expm1"),
    _math("log", "log"),
    _math("log-plus-one", "log1p"),
    _math("logistic", "logistic"),
    _math("near-cosine", "near_cos", real_only=True),
    _math("near-sine", "near_sin", real_only=True),
    _math("near-tan", "near_tan", real_only=True),
    _math("rsqrt", "rsqrt"),
    _math("sine", "sin"),
    _math("sinh", "sinh"),
    _math("sqrt", "sqrt"),
    _math("tan", "tan"),
    _math("tanh", "tanh"),
    *(_comparison(*c) for c in _COMPARISONS),
    *(_total_comparison(*c) for c in _COMPARISONS),
)

IN_HALVES: Mapping[str, str] = {
    name: f"{HALF}{name}"
    for name in (
        *("add", "subtract", "multiply", "divide", "sqrt", "negate", "abs"),
        *("maximum", "minimum", "clamp"),
        *(f"compare-{direction}" for direction, _, _ in _COMPARISONS),
    )
}
"""What processors do that compute in f16: each operator, and its name where it is done so."""

_HALF_OPERATORS = frozenset({*IN_HALVES.values(), "half-same"})

OPERATORS: Mapping[str, Operator] = {
    row.name: row for row in (*_ROWS, *(_in_halves(r) for r in _ROWS if r.name in IN_HALVES))
}
