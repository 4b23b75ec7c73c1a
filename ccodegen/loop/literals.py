"""Constants as text, to the bit."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from ccodegen.support.element_type import ElementType, Kind

_MOST_WRITTEN_OUT = 16


def value_text(element_type: ElementType, value: Any) -> str:
    """`1.5`, `-inf`, `true`, `pair(1.0, 0.0)`; a NaN as `bits(7fc00000)`."""
    match element_type.kind:
        case Kind.PRED:
            return "true" if value else "false"
        case Kind.FLOAT:
            number = float(value)
            return _bits_text(element_type, value) if math.isnan(number) else repr(number)
        case Kind.COMPLEX:
            real, imag = complex(value).real, complex(value).imag
            if math.isnan(real) or math.isnan(imag):
                return _bits_text(element_type, value)
            return f"pair({real!r}, {imag!r})"
    return str(int(value))


def _bits_text(element_type: ElementType, value: Any) -> str:
    data = np.asarray(value, element_type.dtype).tobytes()
    return f"bits({data[::-1].hex()})"


def value_of_bits(element_type: ElementType, digits: str) -> Any:
    """The NumPy scalar with these bits, the most significant first."""
    return np.frombuffer(bytes.fromhex(digits)[::-1], element_type.dtype)[0]


def array_text(array: np.ndarray[Any, Any], element_type: ElementType) -> str:
    """A list of values, or from 17 elements on base64 of the little-endian bytes."""
    if array.size <= _MOST_WRITTEN_OUT:
        return f"[{', '.join(value_text(element_type, v) for v in array.reshape(-1))}]"
    return f'base64 "{base64.b64encode(array.tobytes()).decode()}"'


def array_of_base64(text: str, element_type: ElementType) -> np.ndarray[Any, Any]:
    """A read-only one-dimensional array. Raises ValueError for text that is no such array."""
    return np.frombuffer(base64.b64decode(text, validate=True), element_type.dtype)


def array_of_values(values: list[Any], element_type: ElementType) -> np.ndarray[Any, Any]:
    """A read-only one-dimensional array."""
    array = np.empty(len(values), element_type.dtype)
    for number, value in enumerate(values):
        array[number] = value
    array.flags.writeable = False
    return array
