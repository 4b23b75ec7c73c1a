"""backend_config: what the front end tells a custom call's implementation, as typed values.

Three spellings are in use: JSON, MLIR attributes (typed-FFI calls), and an opaque string.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import numpy as np

from ccodegen.hlo.ir import Instruction
from ccodegen.hlo.text.cursor import STRING, Cursor
from ccodegen.hlo.text.strings import unescape
from ccodegen.support.element_type import HLO_TYPES, ElementType
from ccodegen.support.errors import InputError
from ccodegen.support.pattern import pattern

Value: TypeAlias = Any
Config: TypeAlias = dict[str, Value]

_KEY = pattern(r"[A-Za-z_][\w.$]*", re.ASCII)
_NUMBER = pattern(r"-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)")
_TYPE = pattern(r"[a-z][\w]*", re.ASCII)
_TENSOR = pattern(r"(?:tensor|vector)<((?:[0-9]+x)*)([a-z]\w*)>", re.ASCII)
_WORD = pattern(r"[@#!]?[A-Za-z_][\w.$-]*(?:<[^<>]*>)?", re.ASCII)
_ESCAPE = pattern(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_SIMPLE = {b"n": b"\n", b"t": b"\t"}


def backend_config_of(instruction: Instruction) -> Config:
    """The dictionary in the backend_config; empty where there is none.

    `{diag = 78 : ui8, x = [1, 2], name = "a"}` → {"diag": np.uint8(78), "x": (1, 2), "name": "a"}

    Numbers with a type are NumPy scalars of it, others Python's int and float; lists are tuples,
    `array<f32: …>` and `dense<…>` are ndarrays; a key alone is True; words, types and symbols are
    strings. Raises InputError for an opaque string and for what is not well formed.
    """
    text = backend_config_text(instruction).strip()
    if not text:
        return {}
    try:
        return parse_config(text)
    except InputError as error:
        place = f" (column {error.location.column} of it)" if error.location else ""
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise InputError(
            f"backend_config of {instruction.op} '{instruction.name}': {error.message}{place}",
            instruction.location,
            hint=f"it is: {shown}",
        ) from None


def backend_config_text(instruction: Instruction) -> str:
    """The backend_config as the front end wrote it, without quotes; "" where there is none."""
    raw = instruction.annotation("backend_config") or ""
    return unescape(raw[1:-1]) if raw.startswith('"') else raw


def parse_config(text: str) -> Config:
    """The dictionary that a text of JSON or MLIR attributes spells. Raises InputError."""
    try:
        value = json.loads(text)
    except ValueError:
        value = _mlir(text)
    if not isinstance(value, dict):
        raise InputError(f"expected a dictionary, found {text[:60]!r}")
    return _with_tuples(value)  # type: ignore[no-any-return]


def _with_tuples(value: Value) -> Value:
    if isinstance(value, dict):
        return {key: _with_tuples(v) for key, v in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, (list, tuple)) else value


def _mlir(text: str) -> Config:
    cursor = Cursor(text, "backend_config")
    if not cursor.text.startswith("{", cursor.position):
        raise InputError(f"expected a dictionary, found {text[:60]!r}")
    found = _dictionary(cursor)
    if not cursor.at_end():
        raise cursor.expected("the end")
    return found


def _dictionary(cursor: Cursor) -> Config:
    found: Config = {}
    cursor.expect("{", "before the keys")
    while not cursor.accept("}"):
        if found:
            cursor.expect(",", "between entries")
        at = cursor.position
        key = _key(cursor)
        if key in found:
            raise cursor.error(f"the key '{key}' appears twice", at)
        has_value = cursor.accept("=") or cursor.accept(":")
        found[key] = _value(cursor) if has_value else True
    return found


def _key(cursor: Cursor) -> str:
    quoted = cursor.take(STRING)
    return _string(quoted[0]) if quoted else cursor.expect_match(_KEY, "a key")[0]


def _value(cursor: Cursor) -> Value:
    with cursor.nested():
        if cursor.match(re.compile(r"\{")):
            return _dictionary(cursor)
        if cursor.accept("["):
            return _list(cursor)
        if cursor.accept("array<"):
            return _array(cursor)
        if cursor.accept("dense<"):
            return _dense(cursor)
        quoted = cursor.take(STRING)
        if quoted:
            return _string(quoted[0])
        return _number(cursor) if cursor.match(_NUMBER) else _word(cursor)


def _list(cursor: Cursor) -> tuple[Value, ...]:
    found: list[Value] = []
    while not cursor.accept("]"):
        if found:
            cursor.expect(",", "between elements")
        found.append(_value(cursor))
    return tuple(found)


def _array(cursor: Cursor) -> Value:
    """What follows `array<`: `f32: 1.0, 2.0>` or `i64>`."""
    element_type = _element_type(cursor)
    numbers: list[Value] = []
    cursor.accept(":")
    while not cursor.accept(">"):
        if numbers:
            cursor.expect(",", "between elements")
        numbers.append(_typed_element(cursor, element_type))
    return np.array(numbers, element_type.dtype)


def _typed_element(cursor: Cursor, element_type: ElementType) -> Value:
    at = cursor.position
    found = cursor.take(_NUMBER)
    return _typed(cursor, found[0], element_type, at) if found else _boolean(cursor)


def _dense(cursor: Cursor) -> Value:
    """What follows `dense<`: `[1, 2]> : tensor<2xi64>`, or one number for all elements."""
    at = cursor.position
    value = _value(cursor)
    cursor.expect(">", "after the elements")
    cursor.expect(":", "before the type")
    found = cursor.expect_match(_TENSOR, "a tensor type")
    sizes = [int(size) for size in found[1].split("x")[:-1]]
    dtype = _named_type(cursor, found[2], at).dtype
    try:
        array = np.array(value).astype(dtype)
        return np.broadcast_to(array, sizes) if array.ndim == 0 else array.reshape(sizes)
    except (ValueError, TypeError):
        raise cursor.error(f"the elements do not fill {found[0]}", at) from None


def _number(cursor: Cursor) -> Value:
    at = cursor.position
    text = cursor.expect_match(_NUMBER, "a number")[0]
    if cursor.accept(":"):
        return _typed(cursor, text, _element_type(cursor), at)
    return int(text, 0) if _is_whole(text) else float(text)


def _typed(cursor: Cursor, text: str, element_type: ElementType, at: int) -> Value:
    """The number as a NumPy scalar; a hexadecimal text of a float type spells its bits."""
    dtype = element_type.dtype
    try:
        if not element_type.is_float:
            return dtype.type(int(text, 0))
        if text.startswith("0x"):
            return np.array(int(text, 16), f"u{dtype.itemsize}").view(dtype)[()]
        return dtype.type(float(text))
    except (ValueError, OverflowError):
        raise cursor.error(f"{text} is out of range for {element_type.text}", at) from None


def _is_whole(text: str) -> bool:
    return "x" in text or not any(c in ".eE" for c in text)


def _element_type(cursor: Cursor) -> ElementType:
    at = cursor.position
    return _named_type(cursor, cursor.expect_match(_TYPE, "a type")[0], at)


def _named_type(cursor: Cursor, name: str, at: int) -> ElementType:
    """`ui8`, `si8`, `i8`, `i1`, `index`, `f32`: MLIR's names; `i8` without a sign counts as s8."""
    hlo_name = re.sub(r"^ui(?=\d)", "u", re.sub(r"^s?i(?=\d)", "s", name))
    known = {"s1": ElementType.PRED, "index": ElementType.S64}
    element_type = known.get(hlo_name) or HLO_TYPES.get(hlo_name)
    if element_type is None:
        raise cursor.error(f"numbers of type '{name}' are not known here", at)
    return element_type


def _word(cursor: Cursor) -> Value:
    if cursor.match(re.compile(r"(?:true|false)\b")):
        return _boolean(cursor)
    word = cursor.expect_match(_WORD, "a value")[0]
    return True if word == "unit" else word


def _boolean(cursor: Cursor) -> bool:
    if cursor.accept("true"):
        return True
    cursor.expect("false", "or a number")
    return False


def _string(quoted: str) -> str:
    """MLIR's escapes: two hexadecimal digits, or a character."""
    data = _ESCAPE.sub(_unescaped, quoted[1:-1].encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 16)]) if len(code) == 2 else _SIMPLE.get(code, code)
