"""Elements of literals: arrays from lists of number texts and back, in bulk.

Floating-point texts are read as f64 and then rounded to the element type, as XLA does; the texts
we write are checked against that, so they read back to the same bits. A NaN's payload is its
mantissa: `nan(0x1)`; plain `nan` is the quiet NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from ccodegen.support.element_type import ElementType, Kind
from ccodegen.support.pattern import pattern

Array: TypeAlias = np.ndarray[Any, Any]

_PRED = {b"true": True, b"false": False}
_INTEGER = pattern(rb"\s*-?[0-9]{1,25}\s*")
_FLOAT = pattern(
    rb"\s*(?:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?inf|-?nan(?::0x[0-9a-fA-F]+)?)\s*"
)
_PLAIN_FLOATS = frozenset(b"0123456789+-.eE \t\r\n")

# Digits to try in turn: those that always survive in decimal, those that always suffice, and those
# that spell the f64 itself, for a text whose two roundings go astray.
_DIGITS = {
    ElementType.F64: (15, 17),
    ElementType.C128: (15, 17),
    ElementType.F32: (6, 9, 17),
    ElementType.C64: (6, 9, 17),
    ElementType.F16: (3, 5, 17),
    ElementType.BF16: (2, 4, 17),
}
_NARROW_DIGITS = (1, 2, 3, 17)
_MAX_TABLE = 1 << 16


class BadNumber(ValueError):
    """A text that is no element of the type: its index, and what is wrong."""

    def __init__(self, index: int, problem: str) -> None:
        super().__init__(problem)
        self.index = index
        self.problem = problem


def from_texts(texts: Sequence[bytes], element_type: ElementType) -> Array:
    """The 1-D array that the texts spell; a complex type takes two texts an element.

    Blanks around a number are fine; `nan(0x1)` must come as `nan:0x1`. Raises BadNumber.
    """
    if element_type.kind is Kind.PRED:
        return _preds(texts)
    if element_type.is_complex:
        return _floats(texts, element_type.component).view(element_type.dtype)
    return _floats(texts, element_type) if element_type.is_float else _integers(texts, element_type)


def _preds(texts: Sequence[bytes]) -> Array:
    values = [_PRED.get(text.strip()) for text in texts]
    if None not in values:
        return np.array(values, dtype=np.bool_)
    for i, (text, value) in enumerate(zip(texts, values, strict=True)):
        if value is None and not _INTEGER.fullmatch(text):
            raise BadNumber(i, "expected true, false, 0 or 1")
    pairs = zip(texts, values, strict=True)
    return np.array([bool(int(t)) if v is None else v for t, v in pairs], dtype=np.bool_)


def _integers(texts: Sequence[bytes], element_type: ElementType) -> Array:
    is_signed = element_type.kind is Kind.SIGNED
    low = -(1 << element_type.bits - 1) if is_signed else 0
    high = (1 << element_type.bits - is_signed) - 1
    try:
        wide = np.array(list(map(int, texts)), dtype=np.int64 if is_signed else np.uint64)
        if not wide.size or (low <= int(wide.min()) and int(wide.max()) <= high):
            return wide.astype(element_type.dtype)
    except (ValueError, OverflowError):
        pass
    for i, text in enumerate(texts):
        if not _INTEGER.fullmatch(text):
            raise BadNumber(i, f"expected an integer of type {element_type.text}")
        if not low <= int(text) <= high:
            raise BadNumber(i, f"out of range for {element_type.text}: {low} to {high}")
    raise AssertionError("some text must have failed")


def _floats(texts: Sequence[bytes], element_type: ElementType) -> Array:
    try:
        wide = np.array(list(map(float, texts)), dtype=np.float64)
        has_names = not np.isfinite(wide).all()
    except ValueError:
        wide, has_names = _checked_floats(texts, element_type), True
    with np.errstate(all="ignore"):
        values = wide.astype(element_type.dtype)
        _check_range(wide, values, element_type)
    if has_names and np.isnan(wide).any():
        _set_nans(texts, values, element_type)
    return values


def _checked_floats(texts: Sequence[bytes], element_type: ElementType) -> Array:
    for i, text in enumerate(texts):
        if not _FLOAT.fullmatch(text):
            raise BadNumber(i, f"expected a number of type {element_type.text}")
    return np.array([float(text.partition(b":")[0]) for text in texts], dtype=np.float64)


def _check_range(wide: Array, values: Array, element_type: ElementType) -> None:
    overflowed = np.isfinite(wide) & ~np.isfinite(values.astype(np.float64))
    if overflowed.any():
        raise BadNumber(int(overflowed.argmax()), f"out of range for {element_type.text}")
    lost = np.isinf(wide) & ~np.isinf(values.astype(np.float64))
    if lost.any():
        raise BadNumber(int(lost.argmax()), f"{element_type.text} has no infinity")


def _set_nans(texts: Sequence[bytes], values: Array, element_type: ElementType) -> None:
    """Gives each NaN the sign and payload of its text."""
    bits = values.view(_bits_dtype(element_type))
    mantissa = (1 << _mantissa_bits(element_type)) - 1
    sign = 1 << element_type.dtype.itemsize * 8 - 1
    if not np.isnan(np.array(np.nan).astype(element_type.dtype).astype(np.float64)):
        index = next(i for i, text in enumerate(texts) if b"nan" in text)
        raise BadNumber(index, f"{element_type.text} has no NaN")
    if not _has_payload(element_type):
        return
    quiet = _quiet_nan(element_type)
    for i, text in enumerate(texts):
        name, _, payload = text.strip().partition(b":")
        if name.endswith(b"nan"):
            value = quiet if not payload else quiet & ~mantissa | int(payload, 16) & mantissa
            bits[i] = value | (sign if name.startswith(b"-") else 0)


def _quiet_nan(element_type: ElementType) -> int:
    """The bits of the positive NaN whose mantissa has its highest bit alone, as IEEE 754 has it."""
    width = _mantissa_bits(element_type)
    infinity = np.array(np.inf).astype(element_type.dtype).view(_bits_dtype(element_type))
    return int(infinity) | 1 << width - 1


def _has_payload(element_type: ElementType) -> bool:
    """Whether NaNs have a sign and a mantissa, as in IEEE 754: so it is where infinities exist."""
    return bool(np.isinf(np.array(np.inf).astype(element_type.dtype).astype(np.float64)))


def _mantissa_bits(element_type: ElementType) -> int:
    return int(ml_dtypes.finfo(element_type.dtype).nmant)  # type: ignore[no-untyped-call]


def _bits_dtype(element_type: ElementType) -> np.dtype[Any]:
    return np.dtype(f"u{element_type.dtype.itemsize}")


def to_texts(array: Array, element_type: ElementType) -> list[str]:
    """The elements' texts in row-major order; a complex element is "(re, im)"."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if element_type.kind is Kind.PRED:
        return ["true" if value else "false" for value in flat.tolist()]
    if element_type.is_integer:
        is_signed = element_type.kind is Kind.SIGNED
        return list(map(str, flat.astype(np.int64 if is_signed else np.uint64).tolist()))
    if element_type.is_complex:
        parts = _float_texts(flat.view(element_type.component.dtype), element_type.component)
        return [f"({re}, {im})" for re, im in zip(parts[::2], parts[1::2], strict=True)]
    return _float_texts(flat, element_type)


def _float_texts(values: Array, element_type: ElementType) -> list[str]:
    bits = values.view(_bits_dtype(element_type))
    if element_type.bits <= 16 and values.size > _MAX_TABLE:
        unique, inverse = np.unique(bits, return_inverse=True)
        table = _float_texts(unique.view(values.dtype), element_type)
        return [table[i] for i in inverse.tolist()]
    with np.errstate(invalid="ignore"):  # a signalling NaN
        wide = values.astype(np.float64)
    texts = _shortest(wide, bits, element_type)
    for i in np.flatnonzero(np.isnan(wide)).tolist():
        texts[i] = _nan_text(int(bits[i]), element_type)
    return texts


def _shortest(wide: Array, bits: Array, element_type: ElementType) -> list[str]:
    """Texts with the fewest digits tried that read back to the same bits (NaNs: any text)."""
    texts: list[str] = []
    pending = np.arange(wide.size)
    for digits in _DIGITS.get(element_type, _NARROW_DIGITS):
        some = wide[pending]
        new = (f"%.{digits}g\n" * some.size % tuple(some.tolist())).split()
        if not texts:
            texts = new
        else:
            for i, text in zip(pending.tolist(), new, strict=True):
                texts[i] = text
        back = np.array(list(map(float, new)), dtype=np.float64).astype(element_type.dtype)
        pending = pending[(back.view(bits.dtype) != bits[pending]) & ~np.isnan(some)]
        if not pending.size:
            break
    return texts


def _nan_text(bits: int, element_type: ElementType) -> str:
    sign = "-" if bits >> element_type.dtype.itemsize * 8 - 1 else ""
    if not _has_payload(element_type):
        return f"{sign}nan"
    width = _mantissa_bits(element_type)
    payload = bits & (1 << width) - 1
    return f"{sign}nan" if payload == 1 << width - 1 else f"{sign}nan({payload:#x})"
