"""C's scalar types as NumPy's: names, literals, promotions, and the functions of <math.h>."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

C_NAMES = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long long",
    "uint64_t": "unsigned long long",
    "size_t": "unsigned long long",
}
TYPES = {
    **{name: np.dtype(name.removesuffix("_t")) for name in C_NAMES if name != "size_t"},
    "size_t": np.dtype(np.uint64),
    "ptrdiff_t": np.dtype(np.int64),
    "int": np.dtype(np.int32),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
LIMITS = "".join(
    f"#define INT{n}_MAX {2 ** (n - 1) - 1}\n#define UINT{n}_MAX {2**n - 1}u\n" for n in (8, 16, 32)
) + "#define INT64_MAX 0x7fffffffffffffff\n#define UINT64_MAX 0xffffffffffffffffu\n"

_ROOTS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "fabs": np.fabs,
}
LIBRARY = {name + suffix: f for name, f in _ROOTS.items() for suffix in ("", "f")}


def literal(node: Any) -> Any:
    """A Constant of pycparser as a NumPy scalar of C's type for it, which here is never long."""
    text = node.value.lower()
    if node.type in ("float", "double"):
        digits = text.removesuffix("l" if node.type == "double" else "f")
        value = float.fromhex(digits) if text.startswith("0x") else float(digits)
        return np.float32(value) if node.type == "float" else np.float64(value)
    number = int(text.rstrip("ul"), 0)
    signs = "u" if "u" in text else "iu" if text.startswith("0x") else "i"
    sizes = (8,) if "ll" in text else (4, 8)
    order = [np.dtype(f"{sign}{size}") for size in sizes for sign in signs]
    return next(t.type(number) for t in order if number <= np.iinfo(t).max)


def promoted(kind: np.dtype[Any]) -> np.dtype[Any]:
    """C's integer promotion: what is narrower than int becomes int."""
    return TYPES["int"] if kind.kind in "iub" and kind.itemsize < 4 else kind


def common(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type of C's usual arithmetic conversions."""
    types = [promoted(a), promoted(b)]
    floats = [t for t in types if t.kind == "f"]
    return max(floats or types, key=lambda t: (t.itemsize, t.kind == "u"))
