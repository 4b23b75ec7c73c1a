"""How scalar operators are written in C99: templates over `{0}`, `{1}`, …, one argument each.

Whoever fills a template puts each argument in parentheses unless it is a name, a constant, a call
or an array element. A value is held as in memory: pred as uint8_t 0 or 1, integers below a byte
extended to one, floats that C lacks as their bits; complex numbers are structs `ccg_c64`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from ccodegen.support.element_type import ElementType, Kind

Speller: TypeAlias = Callable[[ElementType], str]

F32, F64 = ElementType.F32, ElementType.F64
HALVES = (ElementType.F16, ElementType.BF16)
MATH = (
    "acos acosh asin asinh atan2 atanh cbrt cos cosh decay erf exp expm1 log log1p logistic "
    "near_cos near_sin near_tan pow power quotient rsqrt sin sinh tan tanh"
)
_INTEGERS = "[su](1|2|4|8|16|32|64)"


def c_type(t: ElementType) -> str:
    """The C type of a value."""
    if t.kind is Kind.INDEX:
        return "ptrdiff_t"
    if t in (F32, F64):
        return "float" if t is F32 else "double"
    if t.is_complex:
        return f"ccg_{t.text}"
    return f"{'' if t.kind is Kind.SIGNED else 'u'}int{8 * t.bytes}_t"


def infix(symbol: str) -> Speller:
    return lambda t: f"{{0}} {symbol} {{1}}"


def template(text: str) -> Speller:
    return lambda t: text


def function(name: str, arity: int = 2) -> Speller:
    """A call of the runtime's `ccg_<name>_<type>`."""
    return lambda t: f"ccg_{name}_{t.text}({_arguments(arity)})"


def wrapping(symbol: str, name: str) -> Speller:
    """Arithmetic modulo 2^bits: through unsigned, because signed overflow is undefined."""

    def spell(t: ElementType) -> str:
        if t.bits < 32:
            return function(name)(t)
        if t.kind is Kind.UNSIGNED:
            return infix(symbol)(t)
        return f"({c_type(t)})((u{c_type(t)}){{0}} {symbol} (u{c_type(t)}){{1}})"

    return spell


def negated(t: ElementType) -> str:
    """`-x` of an integer."""
    if t.bits < 32:
        return function("negate", 1)(t)
    if t.kind is Kind.UNSIGNED:
        return "0u - {0}"
    return f"({c_type(t)})(0u - (u{c_type(t)}){{0}})"


def bitwise(symbol: str) -> Speller:
    """`&`, `|`, `^`: C computes in int, from which narrower types are cast back."""
    plain = f"{{0}} {symbol} {{1}}"
    return lambda t: plain if t.bits >= 32 else _cast(t, f"({plain})")


def inverted(t: ElementType) -> str:
    """`~x`; an unsigned type below a byte keeps its upper bits zero."""
    if t.kind is Kind.UNSIGNED and t.bits < 8:
        return _cast(t, f"({{0}} ^ {2**t.bits - 1})")
    return "~{0}" if t.bits >= 32 else _cast(t, "~{0}")


def total_order(symbol: str) -> Speller:
    return lambda t: f"ccg_total_order_{t.text}({{0}}) {symbol} ccg_total_order_{t.text}({{1}})"


def converted(source: ElementType, target: ElementType) -> str:
    """HLO's convert: integers wrap, floats round to nearest even, float to integer saturates."""
    if source is target:
        return "{0}"
    if source.is_complex or target.is_complex:
        return _converted_complex(source, target)
    if target.is_float:
        return _converted_to_float(source, target)
    if source.is_float:
        return _converted_from_float(source, target)
    if target.kind is Kind.PRED:
        return "{0} != 0"
    holds_one = target is not ElementType.S1
    if target.bits >= 8 or (source.kind is Kind.PRED and holds_one):
        return _cast(target, "{0}")
    return f"ccg_wrap_{target.text}((int32_t){{0}})"


def bitcast(source: ElementType, target: ElementType) -> str:
    """The same bits read as another type of the same width."""
    if source is target:
        return "{0}"
    bits = f"ccg_bits_{source.text}({{0}})" if source in (F32, F64) else "{0}"
    if target.is_integer and target.bits < 8:
        return f"ccg_wrap_{target.text}((int32_t){bits})"
    if target.bits < 8:
        return f"(uint8_t)({bits} & {2**target.bits - 1})"
    if _held_as(target) != _held_as(source):
        bits = f"({_held_as(target)}){bits}"
    return f"ccg_{target.text}_bits({bits})" if target in (F32, F64) else bits


def narrowing(t: ElementType, exact: bool = False) -> str:
    """The function that gives a float that C lacks for an f32; `exact`: for one that is such."""
    return f"ccg_{t.text}_from_{'exact_' if exact and t in HALVES else ''}f32"


def widened(
    spelled: str, t: ElementType, arity: int, narrow_result: bool, exact: bool = False
) -> str:
    """An f32 template over floats that C lacks: each argument is widened, the result rounded, if it
    is not `exact`."""
    for i in range(arity):
        spelled = spelled.replace(f"{{{i}}}", f"ccg_f32_from_{t.text}({{{i}}})")
    return f"{narrowing(t, exact)}({spelled})" if narrow_result else spelled


def headers(text: str) -> frozenset[str]:
    """The headers of runtime_c that declare what the template calls."""
    return frozenset(_header(name) for name in re.findall(r"\b(ccg_\w+)\(", text))


def _header(name: str) -> str:
    if re.fullmatch(r"ccg_(bits_f\d+|f\d+_bits|fma_f\d+)", name):
        return "ccg_base.h"
    if name.endswith("_index"):
        return "ccg_index.h"
    if "_from_" in name or name.startswith(("ccg_reduce_precision", "ccg_saturate")):
        return _conversion_header(name)
    stem, _, suffix = name.removeprefix("ccg_").rpartition("_")
    if integer := re.fullmatch(_INTEGERS, suffix):
        return f"ccg_integer_{max(8, int(integer[1]))}.h"
    if stem in MATH.split():
        return f"ccg_math_{suffix}.h"
    if suffix == "f16":
        return "ccg_half_arithmetic.h"
    return "ccg_complex.h" if suffix in ("c64", "c128") else "ccg_float.h"


def _conversion_header(name: str) -> str:
    if re.search(r"_c(64|128)", name):
        return "ccg_complex.h"
    if re.search(r"_(f8|f6e|f4e)", name):
        return "ccg_narrow.h"
    return "ccg_half.h" if "f16" in name else "ccg_convert.h"


def _converted_to_float(source: ElementType, target: ElementType) -> str:
    if not source.is_float:
        plain = f"({c_type(target if target in (F32, F64) else F32)}){{0}}"
        return plain if target in (F32, F64) else f"{narrowing(target)}({plain})"
    wide = source if source in (F32, F64) else F32
    value = "{0}" if source is wide else f"ccg_f32_from_{source.text}({{0}})"
    if target in (F32, F64):
        return value if target is wide else f"({c_type(target)}){value}"
    return f"ccg_{target.text}_from_{wide.text}({value})"


def _converted_from_float(source: ElementType, target: ElementType) -> str:
    wide = source if source in (F32, F64) else F32
    value = "{0}" if source is wide else f"ccg_f32_from_{source.text}({{0}})"
    if target.kind is Kind.INDEX:
        return f"(ptrdiff_t)ccg_s64_from_{wide.text}({value})"
    return f"ccg_{target.text}_from_{wide.text}({value})"


def _converted_complex(source: ElementType, target: ElementType) -> str:
    """To a real type the imaginary part is dropped; pred asks whether the number is not zero."""
    if target.is_complex and source.is_complex:
        return f"ccg_{target.text}_from_{source.text}({{0}})"
    if target.is_complex:
        part = converted(source, target.component)
        return f"ccg_complex_{target.text}({part}, 0)"
    if target.kind is Kind.PRED:
        return f"!ccg_equal_{source.text}({{0}}, ccg_complex_{source.text}(0, 0))"
    part = f"ccg_real_{source.text}({{0}})"
    return converted(source.component, target).replace("{0}", part)


def _cast(t: ElementType, text: str) -> str:
    return f"({c_type(t)}){text}"


def _held_as(t: ElementType) -> str:
    """The C type of the bits of a value."""
    return f"uint{t.bits}_t" if t in (F32, F64) else c_type(t)


def _arguments(arity: int) -> str:
    return ", ".join(f"{{{i}}}" for i in range(arity))
