"""C's scalar arithmetic as Python source: types, conversions, operators.

    binary("+", Value("x", float32), Value("n", int32))   →   Value("(x + f32(n))", float32)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from pycparser import c_ast

from ccodegen.support.c_types import LIBRARY, TYPES, common, literal, promoted
from ccodegen.support.errors import InternalError
from ccodegen.support.immutable import frozen

_BOOL = np.dtype(np.bool_)
Type: TypeAlias = Any  # np.dtype, Pointer, the name of a struct type, or None for void


@frozen
class Pointer:
    to: Type


@frozen
class Value:
    """An expression: Python source, and the C type that its value has.

    A bool stands for an int that is 0 or 1. `at`: of a pointer, the place in the array `text`.
    """

    text: str
    type: Type
    at: str = ""


def type_of(node: Any) -> Type:
    """The type that a declarator of pycparser has; an array's is that of a pointer to its first
    element."""
    if isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl):
        return Pointer(type_of(node.type))
    name = " ".join(node.type.names)
    return None if name == "void" else TYPES.get(name, name)


def memory_dtype(kind: Type) -> np.dtype[Any]:
    """The NumPy type of a local array."""
    if not isinstance(kind, Pointer) or not isinstance(kind.to, np.dtype):
        raise InternalError(f"an array of {kind} is not understood")
    return kind.to


def constant(node: Any) -> Value:
    value = literal(node)
    is_float = value.dtype.kind == "f"
    text = f"{_name(value.dtype)}({value.item()!r})" if is_float else str(value)
    return Value(text, value.dtype)


def convert(value: Value, kind: Type) -> Value:
    """The value as another type: C's conversion, as by assignment."""
    if value.type == kind or isinstance(kind, str) or kind is None:
        return value
    if isinstance(kind, Pointer):
        if not isinstance(value.type, Pointer) or value.type.to != kind.to:
            raise InternalError(f"a {value.type} as {kind} is not understood")
        return value
    if kind.kind == "f":
        return Value(f"{_name(kind)}({value.text})", kind)
    text = f"int({value.text})" if value.type.kind in "fb" else value.text
    if value.type.kind == "f" or not _holds(kind, value.type):
        text = _wrapped(text, kind)
    return Value(text, kind)


def _holds(kind: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Whether an integer type has all values of another one."""
    return other == _BOOL or bool(np.can_cast(other, kind))


def _wrapped(text: str, kind: np.dtype[Any]) -> str:
    bits = 8 * kind.itemsize
    masked = f"(({text}) & {2**bits - 1:#x})"
    half = 2 ** (bits - 1)
    return masked if kind.kind == "u" else f"(({masked} ^ {half:#x}) - {half:#x})"


def _name(kind: np.dtype[Any]) -> str:
    return f"f{8 * kind.itemsize}"


def _promoted(value: Value) -> Value:
    return convert(value, promoted(value.type))


def _common(a: Value, b: Value) -> tuple[Value, Value]:
    kind = common(a.type, b.type)
    return convert(a, kind), convert(b, kind)


def condition(value: Value) -> str:
    """True where the value is not 0."""
    if value.type.kind == "b" or value.type.kind in "iu":
        return value.text
    return f"({value.text} != 0)"


def unary(operator: str, value: Value) -> Value:
    if operator == "!":
        return Value(f"(not {condition(value)})", _BOOL)
    value = _promoted(value)
    text = f"({operator}{value.text})"
    return Value(_wrapped(text, value.type) if value.type.kind == "u" else text, value.type)


def binary(operator: str, a: Value, b: Value) -> Value:
    if isinstance(a.type, Pointer):
        return Value(a.text, a.type, f"({a.at} {operator} {b.text})")
    if isinstance(b.type, Pointer):
        return binary(operator, b, a)
    if operator in ("&&", "||"):
        word = "and" if operator == "&&" else "or"
        return Value(f"({condition(a)} {word} {condition(b)})", _BOOL)
    if operator in ("<<", ">>"):
        a = _promoted(a)
        text = f"({a.text} {operator} {b.text})"
        wraps = operator == "<<" and a.type.kind == "u"
        return Value(_wrapped(text, a.type) if wraps else text, a.type)
    a, b = _common(a, b)
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        return Value(f"({a.text} {operator} {b.text})", _BOOL)
    return Value(_arithmetic(operator, a, b), a.type)


def _arithmetic(operator: str, a: Value, b: Value) -> str:
    text = f"({a.text} {operator} {b.text})"
    if a.type.kind == "f":
        return text
    if operator in ("/", "%"):
        return f"{'quotient' if operator == '/' else 'rest'}({a.text}, {b.text})"
    return _wrapped(text, a.type) if a.type.kind == "u" and operator in "+-*" else text


def select(test: Value, then: Value, otherwise: Value) -> Value:
    if isinstance(then.type, np.dtype) and isinstance(otherwise.type, np.dtype):
        then, otherwise = _common(then, otherwise)
    text = f"({then.text} if {condition(test)} else {otherwise.text})"
    if not isinstance(then.type, Pointer):
        return Value(text, then.type)
    return Value(text, then.type, f"({then.at} if {condition(test)} else {otherwise.at})")


def element(pointer: Value) -> Value:
    """The element that a pointer points to, as a place that can be assigned to."""
    return Value(f"{pointer.text}[{pointer.at}]", pointer.type.to)


def loaded(place: Value) -> Value:
    """What stands at a place in memory: NumPy's integers as Python's."""
    text = place.text if place.type.kind == "f" else f"int({place.text})"
    return Value(text, place.type)


def bit_cast(value: Value, kind: Type) -> str:
    """The bits of a float as an unsigned integer of its size, or the reverse."""
    if kind.kind == "f":
        return f"bits_to_f{8 * kind.itemsize}({value.text})"
    return f"f{8 * kind.itemsize}_to_bits({value.text})"


def library_call(name: str, values: Sequence[Value]) -> Value:
    """A function of <math.h>."""
    kind = TYPES["float" if name.endswith("f") else "double"]
    (value,) = (convert(v, kind) for v in values)
    return Value(f"{name}({value.text})", kind)


def _quotient(a: int, b: int) -> int:
    """Truncated toward zero, where Python's is rounded down."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


PRELUDE: dict[str, Any] = {
    **LIBRARY,
    "f32": np.float32,
    "f64": np.float64,
    "zeros": np.zeros,
    "quotient": _quotient,
    "rest": _rest,
    "f32_to_bits": lambda x: int(x.view(np.uint32)),
    "f64_to_bits": lambda x: int(x.view(np.uint64)),
    "bits_to_f32": lambda bits: np.uint32(bits).view(np.float32),
    "bits_to_f64": lambda bits: np.uint64(bits).view(np.float64),
}
"""What translated functions use by name."""
