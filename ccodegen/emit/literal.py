"""Constants as C: exact to the bit, short, and of the type they are meant to have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccodegen.support.element_type import ElementType, Kind

_SUFFIX = {"f32": "f", "f64": ""}
_BITS = {"f32": np.uint32, "f64": np.uint64}
_INFINITY = {"f32": "CCG_INFINITY", "f64": "(double)CCG_INFINITY"}
_NAN = {"f32": "CCG_NAN", "f64": "(double)CCG_NAN"}
_QUIET = {"f32": 0x7FC00000, "f64": 0x7FF8000000000000}


def literal(element: ElementType, value: Any) -> str:
    """One constant as a C expression: a number, a macro, or a call for NaN and complex numbers.

    Numbers below zero start with a minus sign; everything else binds tighter than any operator,
    save the cast of a double's infinity.
    """
    if element.kind in (Kind.PRED, Kind.INDEX):
        return str(int(value))
    if element.is_integer:
        return _integer(element, int(value))
    if element.is_complex:
        part = element.component
        real, imaginary = literal(part, np.real(value)), literal(part, np.imag(value))
        return f"ccg_complex_{element.text}({real}, {imaginary})"
    number = np.asarray(value, element.dtype)
    if element.text not in _SUFFIX:
        return f"0x{number.view(f'u{element.bytes}'):0{2 * element.bytes}x}u"
    return _float(element, number)


def initializers(element: ElementType, array: np.ndarray[Any, Any]) -> list[str]:
    """Each element of a flat array as a C constant expression, complex ones as two.

    A NaN other than the usual one has no such expression: `has_odd_nan` tells.
    """
    if element.is_complex:
        part = element.component
        return initializers(part, np.ascontiguousarray(array).view(part.dtype))
    if element.text in _SUFFIX:
        texts = [text.decode() + _SUFFIX[element.text] for text in array.astype("S32").tolist()]
        for i in np.flatnonzero(~np.isfinite(array)).tolist():
            nan = np.isnan(array[i])
            texts[i] = _NAN[element.text] if nan else literal(element, array[i])
        return texts
    if element.is_float:
        digits = 2 * element.bytes
        return [f"0x{bits:0{digits}x}u" for bits in array.view(f"u{element.bytes}").tolist()]
    if element.bits == 64 or (element.kind is Kind.SIGNED and element.bits == 32):
        return [literal(element, value) for value in array.tolist()]
    return [str(int(value)) for value in array.tolist()]


def has_odd_nan(element: ElementType, array: np.ndarray[Any, Any]) -> bool:
    """Whether an f32, f64 or complex array has a NaN whose bits CCG_NAN does not give."""
    part = element.component
    if part.text not in _BITS:
        return False
    flat = np.ascontiguousarray(array).reshape(-1).view(part.dtype)
    bits = flat[np.isnan(flat)].view(_BITS[part.text])
    return bool((bits != _QUIET[part.text]).any())


def _integer(element: ElementType, value: int) -> str:
    if element.bits == 64:
        if value == -(2**63):
            return "INT64_MIN"
        return f"{'U' if element.kind is Kind.UNSIGNED else ''}INT64_C({value})"
    if value == -(2**31):
        return "INT32_MIN"
    return f"{value}u" if element.kind is Kind.UNSIGNED and element.bits == 32 else str(value)


def _float(element: ElementType, number: np.ndarray[Any, Any]) -> str:
    if np.isnan(number):
        # CCG_NAN may be computed, as 0/0, and then has either sign.
        bits, wide = int(number.view(_BITS[element.text])), element.bits == 64
        return f"ccg_{element.text}_bits({f'UINT64_C({bits:#x})' if wide else f'{bits:#x}u'})"
    if np.isinf(number):
        return ("-" if number < 0 else "") + _INFINITY[element.text]
    return str(number.astype("U32")) + _SUFFIX[element.text]
